// SPDX-License-Identifier: Apache-2.0

package cbfc_test

import (
	"fmt"

	"github.com/uetcc/uetcc/hw/cbfc"
)

// A transmitter may send what its partner has room for, and no more. The credit
// is absolute: the second announcement replaces the first, lost or not.
func Example() {
	a, _ := cbfc.NewPort([]int64{8}, 4) // one lane, 8 blocks of 64 bytes
	b, _ := cbfc.NewPort([]int64{8}, 4)
	a.OnFlowControl(b.FlowControl(0, 0), 0)

	fmt.Println(a.Send(0, cbfc.Blocks(500)), a.Send(0, cbfc.Blocks(64)))
	b.Receive(0, 8)
	b.Lane(0).Release(8)
	a.OnFlowControl(b.FlowControl(0, 1), 1)
	fmt.Println(a.Send(0, cbfc.Blocks(64)))
	// Output:
	// true false
	// true
}

// Ultra Ethernet counts credits that were consumed and freed, both as totals.
func ExampleSender() {
	s, _ := cbfc.NewSender([]int64{40}, 0)
	cost := cbfc.Cost{CreditSize: 128}
	s.OnSend(0, cost.Credits(4200))
	fmt.Println(s.CanSend(0, cost.Credits(1500)))

	var r cbfc.Receiver
	r.OnFrame(33)
	r.OnDrain(33)
	s.OnCFUpdate(0, r.Freed)
	fmt.Println(s.CanSend(0, cost.Credits(1500)))
	// Output:
	// false
	// true
}
