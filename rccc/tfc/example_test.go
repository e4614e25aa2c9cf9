// SPDX-License-Identifier: Apache-2.0

package tfc_test

import (
	"fmt"

	"github.com/uetcc/uetcc/rccc/tfc"
)

// A destination dedicates 40 cells of 256 bytes to a source; two full packets
// fill 34 of them, a third one waits until the first has left the buffer.
func Example() {
	p, err := tfc.NewParams(tfc.Config{CellSize: 256, PktOverhead: 32, Limit: 40, MTU: 4150, RTT: 9348})
	if err != nil {
		panic(err)
	}
	var src tfc.Source
	var dst tfc.Destination
	src.Init(&p)
	dst.Init(&p, 0)
	for src.CanSend(&p, 4150) {
		src.OnSend(&p, 4150)
		fmt.Println("accepted", dst.Accept(&p, 0, 4150), "occupied", dst.Occupancy())
	}
	dst.Release(&p, 0, 4150)
	wire := tfc.CellsOf(dst.Credit(&p, 0)) // rides on an ACK_CC
	fmt.Println("credit", wire, "grew by", src.OnCreditUpdate(&p, wire.Extend(src.Credit())))
	fmt.Println("third packet may leave:", src.CanSend(&p, 4150))
	// Output:
	// accepted true occupied 17
	// accepted true occupied 34
	// credit 57 grew by 17
	// third packet may leave: true
}
