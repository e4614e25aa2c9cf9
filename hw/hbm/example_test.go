// SPDX-License-Identifier: Apache-2.0

package hbm_test

import (
	"fmt"

	"github.com/uetcc/uetcc/hw/hbm"
)

// Seven flows write to a memory that retires only half of what they send: the
// bytes that wait become a penalty, and when they are gone, leave to restore.
func Example() {
	memory, _ := hbm.NewController(hbm.Config{Channels: 1, Banks: 16, Requesters: 7, Depth: 16, Rate: 6.25e9, Interleave: 4096})
	policy, _ := hbm.NewPolicy(hbm.PolicyConfig{Low: 8192, High: 49152, Resume: 4096, Max: 127})
	for flow := range 7 {
		_ = memory.Submit(0, hbm.Request{Requester: flow, Addr: uint64(flow) * 4096, Bytes: 4096})
	}
	fmt.Println(policy.Mark(memory.Occupied()))

	var done [7]hbm.Done
	memory.Retire(10_000, done[:])
	fmt.Println(policy.Mark(memory.Occupied()))
	// Output:
	// 64 false
	// 0 true
}
