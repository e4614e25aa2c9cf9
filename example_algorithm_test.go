// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
)

// fixedWindow is a congestion control that learns nothing: so many bytes in flight.
type fixedWindow int64

func (fixedWindow) OnSend(now, size int64, rtx bool)     {}
func (fixedWindow) OnACK(now int64, a ccc.Ack)           {}
func (fixedWindow) OnNACK(now int64, n ccc.Nack)         {}
func (fixedWindow) OnInferredLoss(now int64, l ccc.Loss) {}
func (w fixedWindow) Allow(now int64, s ccc.Standing) (bytes, notBefore int64) {
	return int64(w) - s.Inflight, 0
}

// One peer is behind a slow link: what goes there has a window of its own, all other
// peers have NSCC's.
func ExampleConfig() {
	slow, fast := netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")
	e, err := uetcc.NewEndpoint(uetcc.Config{
		Address: netip.MustParseAddr("10.0.0.1"),
		Algorithm: func(k ccc.Key) ccc.Algorithm {
			if k.Destination == slow {
				return fixedWindow(3 * 4200)
			}
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, peer := range []netip.Addr{slow, fast} {
		_, _ = e.Write(0, &uetcc.Message{To: uetcc.Destination{Address: peer}, Length: 1 << 20})
		packets := 0
		out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
		for e.Transmit(0, &out) {
			packets++
		}
		fmt.Println(packets, "packets to", peer)
	}
	// Output:
	// 3 packets to 10.0.0.2
	// 3 packets to 10.0.0.3
}
