// SPDX-License-Identifier: Apache-2.0

package switchq_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"

	"github.com/uetcc/uetcc/hw/switchq"
)

// Six senders put a first window each in front of one 100 Gb/s port (figure
// 6-2): one BDP and a half fits, the rest loses its payload but not its header,
// and what leaves while much waits is marked.
func Example() {
	p, err := switchq.NewParams(switchq.Config{PlaneBDP: 75_000, Trim: true, LastHop: true})
	if err != nil {
		panic(err)
	}
	rnd := rand.NewPCG(1, 2)
	var q switchq.Queue
	for id := range uint32(162) { // 6 x 27 packets = 672,300 bytes
		q.Enqueue(&p, switchq.Packet{ID: id, Size: 4150, DSCP: switchq.DSCPTrimmable}, rnd)
	}
	fmt.Println("waiting", q.Bytes(switchq.ClassLow), "of", p.Config().LowLimit)
	for {
		if _, ok := q.Dequeue(&p, 0, rnd); !ok {
			break
		}
	}
	c := q.Counters()
	fmt.Println("trimmed", c.Trimmed, "dropped", c.Dropped, "marked", c.Marked)
	// Output:
	// waiting 112050 of 112500
	// trimmed 135 dropped 0 marked 17
}

// Two flows of one entropy each meet on one of two uplinks every other time.
func ExampleUplink() {
	const udp = 17
	to := netip.MustParseAddr("10.0.0.9")
	one := switchq.Flow(netip.MustParseAddr("10.0.0.1"), to, udp)
	two := switchq.Flow(netip.MustParseAddr("10.0.0.2"), to, udp)
	same := 0
	for salt := range uint32(1000) {
		if switchq.Uplink(salt, one, 49152, 2) == switchq.Uplink(salt, two, 49152, 2) {
			same++
		}
	}
	fmt.Println("collisions in 1000 switches:", same)
	// Output:
	// collisions in 1000 switches: 493
}

// What a 100 Gb/s port must keep free above xOFF for 100 m of cable and a
// reaction time of 200 ns.
func ExampleHeadroom() {
	fmt.Println(switchq.Headroom(100e9, 500, 200, 9216), "bytes")
	// Output:
	// 33432 bytes
}
