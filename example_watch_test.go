// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
)

// Why is it slow? A snapshot of the context says what holds data back, and for how long
// it has done so.
func ExampleEndpoint_CC() {
	config := uetcc.Config{Address: netip.MustParseAddr("10.0.0.1")}
	config.CC.NSCC.InitialCwnd = 10_000
	e, _ := uetcc.NewEndpoint(config)
	message := uetcc.Message{To: uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2")}, Length: 1 << 20}
	connection, _ := e.Connect(0, &message)
	_, _ = e.Write(0, &message)
	out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
	for e.Transmit(1_000, &out) {
	}
	e.Tick(51_000)

	pdc, _ := e.PDS().PDC(connection)
	var view ccc.View
	e.CC().Refresh(pdc.Context, &view)
	s := view.Snapshot()
	fmt.Println(s.State, "for want of", s.Reason, "of", s.Cwnd, "in flight", s.Inflight, "waiting", s.Waiting)

	e.CC().SetMode(pdc.Context, 51_000, ccc.ModeObserve) // go on, but tell what would have been
	e.Transmit(51_000, &out)
	e.CC().Refresh(pdc.Context, &view)
	s = view.Snapshot()
	fmt.Println(s.Reason, "held it for", s.Held[ccc.ReasonWindow], "ns, now in flight", s.Inflight)
	// Output:
	// ACTIVE for want of window of 10000 in flight 8400 waiting 1066800
	// window held it for 50000 ns, now in flight 12600
}
