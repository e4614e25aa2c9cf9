// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc"
)

// A deferrable send waits for a receive buffer of its peer, but no longer than MessageTimeout of
// the [uetcc.Config], and at most half as long again: 60 s by default.
func ExampleEvent() {
	a, b := newPeer("10.0.0.1"), newPeer("10.0.0.2")
	_, err := a.Send(0, &uetcc.Message{
		To:     uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2"), Job: 1, Index: 1},
		Length: 10_000, Deferrable: true,
	})
	must(err)
	for now := int64(0); ; now, _ = a.NextDeadline() {
		a.Tick(now)
		b.Tick(now)
		for from, to := a, b; ; from, to = to, from {
			packets := sendAll(now, from)
			for _, p := range packets {
				if _, back := receive(now, to, p); len(back) > 0 {
					receive(now, from, back[0])
				}
			}
			if len(packets) == 0 && from == b {
				break
			}
		}
		if ev, ok := a.Poll(); ok {
			fmt.Println(ev.Outcome.Status, ev.Cause, now > 60e9 && now < 90e9)
			return
		}
	}
	// Output: pds-error no progress in MessageTimeout true
}
