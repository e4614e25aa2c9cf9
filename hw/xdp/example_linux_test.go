// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"context"
	"log"
	"net/netip"

	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/xdp"
)

// A node on the rings of the device that has an address; its peers may be on rings or on sockets.
func Example() {
	p, err := xdp.Open(xdp.Config{Local: netip.MustParseAddrPort("192.0.2.1:4793")})
	if err != nil {
		log.Fatal(err)
	}
	n, err := node.Listen(p.Local().String(), node.Options{Port: p})
	if err != nil {
		log.Fatal(err)
	}
	defer n.Close()
	peer, _ := n.Peer("192.0.2.2")
	if err := n.Write(context.Background(), peer, node.At{}, []byte("hello")); err != nil {
		log.Fatal(err)
	}
}
