// SPDX-License-Identifier: Apache-2.0

package baseline_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ccc/baseline"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// An endpoint whose contexts have DCTCP and nothing else: ten packets leave before the first
// acknowledgement, and of a constant window as many as fit.
func Example() {
	peers := map[netip.Addr]ccc.Algorithm{
		netip.MustParseAddr("10.0.0.2"): &baseline.DCTCP{},
		netip.MustParseAddr("10.0.0.3"): &baseline.Constant{Cwnd: 30_000},
	}
	e, err := uetcc.NewEndpoint(uetcc.Config{
		Address:   netip.MustParseAddr("10.0.0.1"),
		CC:        ccc.Config{Control: ccc.ControlNone},
		Algorithm: func(k ccc.Key) ccc.Algorithm { return peers[k.Destination] },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, peer := range []string{"10.0.0.2", "10.0.0.3"} {
		_, _ = e.Write(0, &uetcc.Message{To: uetcc.Destination{Address: netip.MustParseAddr(peer)}, Length: 1 << 20})
		packets := 0
		out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
		for e.Transmit(0, &out) {
			packets++
		}
		fmt.Println(packets, "packets to", peer)
	}
	// Output:
	// 10 packets to 10.0.0.2
	// 7 packets to 10.0.0.3
}

// An endpoint with the receiver credit of EQDS: a bandwidth-delay product leaves before any credit
// is there.
func ExampleEQDS() {
	network := ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 10_000}} // 125,000 bytes
	cc, pull := baseline.EQDS(network, 4200)
	policy, err := rccc.NewPullPolicy(pull)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := uetcc.NewEndpoint(uetcc.Config{
		Address: netip.MustParseAddr("10.0.0.1"), CC: cc, Receiver: rccc.ReceiverConfig{Policy: policy},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = e.Write(0, &uetcc.Message{To: uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2")}, Length: 1 << 20})
	packets := 0
	out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
	for e.Transmit(0, &out) {
		packets++
	}
	fmt.Println(packets, "packets")
	// Output: 30 packets
}
