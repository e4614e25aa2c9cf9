// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"fmt"

	"github.com/uetcc/uetcc/hw/link"
)

// chapterPath is figure 6-7: 9,216-byte frames at 100 Gb/s over 50 m of fibre and
// three cut-through switches.
var chapterPath = link.Path{
	FrameBytes:    9216,
	BitsPerSecond: 100e9,
	FiberMetres:   50,
	Switches:      3,
	SwitchDelay:   400 * link.Nanosecond,
	FECDelay:      link.FECHopDelay,
}

// The base round-trip time of figure 6-7, component by component.
func Example() {
	p := chapterPath
	fmt.Println("serialisation", link.Serialization(p.FrameBytes, p.BitsPerSecond))
	fmt.Println("propagation  ", link.Propagation(p.FiberMetres))
	fmt.Println("switching    ", link.Ps(p.Switches)*p.SwitchDelay)
	fmt.Println("FEC          ", link.Ps(p.Switches+1)*p.FECDelay)
	fmt.Println("one way      ", p.OneWay())
	fmt.Println("round trip   ", p.BaseRTT())
	fmt.Println("configured   ", p.BaseRTT().RoundUp(link.Microsecond))
	// Output:
	// serialisation 737.28 ns
	// propagation   250 ns
	// switching     1200 ns
	// FEC           600 ns
	// one way       2787.28 ns
	// round trip    5574.56 ns
	// configured    6000 ns
}

// The bandwidth-delay product and the largest window of the UET congestion chapters.
func ExampleBDP() {
	const rtt = 6 * link.Microsecond
	bdp := link.BDP(100e9, 400e9, rtt)
	fmt.Println(bdp, link.MaxWindow(bdp))
	fmt.Println(link.BDP(400e9, 400e9, rtt))
	fmt.Println(link.BDP(100e9, 100e9, 12*link.Microsecond)) // Base_BDP
	// Output:
	// 75000 112500
	// 300000
	// 150000
}

// RS(544,514): the accumulation of one codeword is far less than the 150 ns a
// hop that the UET congestion chapters have.
func ExampleCodeword() {
	c := link.RS544
	fmt.Println(c.DataBits, c.Bits-c.DataBits, c.Bits)
	fmt.Println(c.Accumulation(400e9), link.FECHopDelay)
	// Output:
	// 5140 300 5440
	// 13.6 ns 150 ns
}
