// SPDX-License-Identifier: Apache-2.0

package rccc_test

import (
	"fmt"

	"github.com/uetcc/uetcc/rccc"
)

// firstCome serves one sender until it has all that it asked for, then the next, and
// leaves spare time unused.
type firstCome struct{}

func (firstCome) Start(now int64) int64 { return now }

func (firstCome) Update(t *rccc.Senders, i rccc.Slot, owed bool) {
	if t.List(i) != rccc.ListActive && (owed || t.Demand(i) > 0) {
		t.Move(i, rccc.ListActive)
	}
}

func (firstCome) Next(t *rccc.Senders, p *rccc.Pace) (rccc.Grant, bool) {
	i, ok := t.Head(rccc.ListActive)
	if !ok {
		return rccc.Grant{}, false // nothing to do until the next Update
	}
	need := max(t.Demand(i), 0)
	n := min(need, rccc.DefaultGrant)
	if n == need {
		t.Move(i, rccc.ListNone)
	}
	return t.Grant(i, n, p.TimeFor(n)), true
}

// How credit is shared is the embedder's choice.
func ExampleGrantPolicy() {
	r, err := rccc.NewReceiver(rccc.ReceiverConfig{Senders: 2, Rate: 100e9 / 8, MaxCredit: 175_284, Policy: firstCome{}})
	check(err)
	names := map[rccc.Handle]string{}
	for _, name := range []string{"first", "second"} {
		h, err := r.Add(0, 1, 0)
		check(err)
		names[h] = name
		r.OnArrival(h, 0, rccc.ArrivalData, 20_480)
	}
	for due, awake := r.Deadline(); awake; due, awake = r.Deadline() {
		if g, ok := r.Poll(due); ok {
			fmt.Printf("at %d ns: %s, %d bytes\n", due, names[g.Sender], g.Bytes)
		}
	}
	// Output:
	// at 0 ns: first, 16384 bytes
	// at 1324 ns: first, 4096 bytes
	// at 1655 ns: second, 16384 bytes
	// at 2979 ns: second, 4096 bytes
}
