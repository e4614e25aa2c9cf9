// SPDX-License-Identifier: Apache-2.0

package table_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc/internal/table"
)

// Two cores receive a SYN packet of the same context: both claim an id, one wins.
func Example() {
	ids, _ := table.NewPool(table.PoolConfig{First: 1, Count: 1000, Hold: 2e9})
	tuples := table.NewMap(1001, 0)
	src, dst := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::2")
	var k table.Key
	k.Set(src, dst, 0x4001)

	open := func() {
		h, _ := ids.Claim()
		ids.Publish(h, 0)
		if got, _ := tuples.Insert(&k, h); got != h {
			ids.Return(h)
			fmt.Printf("id %d is back, id %d was first\n", h.Index(), got.Index())
			return
		}
		fmt.Printf("id %d opened\n", h.Index())
	}
	open()
	open()
	fmt.Printf("%+v\n", ids.Stats())
	// Output:
	// id 1 opened
	// id 2 is back, id 1 was first
	// {Capacity:1000 Free:999 Live:1 Resting:0}
}
