// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// newPeer is an endpoint with one process, whose index 0 is memory and 1 a queue.
func newPeer(address string) *uetcc.Endpoint {
	e, err := uetcc.NewEndpoint(uetcc.Config{Address: netip.MustParseAddr(address), PDCs: pdc.TableConfig{General: 8}})
	must(err)
	process, err := e.Target().AddProcess(ses.Process{Job: 1})
	must(err)
	_, err = e.Target().OpenIndex(0, process, 0, ses.Index{})
	must(err)
	_, err = e.Target().OpenIndex(0, process, 1, ses.Index{Kind: ses.IndexQueue, Job: 1})
	must(err)
	return e
}

// process is the handle of the only one.
const process ses.Handle = 1 << 16

// exchange carries packets between two endpoints until there are none, and counts
// the bytes that are to be placed at the second one.
func exchange(a, b *uetcc.Endpoint) (placed int) {
	for moved := true; moved; {
		moved = false
		for _, p := range append(sendAll(0, a), sendAll(0, b)...) {
			for back := []wirePacket{p}; len(back) > 0; moved = true {
				to := a
				if back[0].dst == pdc.AddrFrom(netip.MustParseAddr("10.0.0.2")) {
					to = b
				}
				var r uetcc.Received
				if r, back = receive(0, to, back[0]); to == b && r.Action == ses.ActionPlace {
					placed += int(r.Length)
				}
			}
		}
	}
	return placed
}

// A rendezvous send: a first part goes with it, and the receiver reads the rest when
// it has a buffer.
func ExampleMessage_rendezvous() {
	a, b := newPeer("10.0.0.1"), newPeer("10.0.0.2")
	_, err := b.Target().PostReceive(process, 1, ses.Receive{Base: 0x1000, Length: 100_000, Ignore: ^uint64(0), Cookie: 7})
	must(err)
	_, err = a.Send(0, &uetcc.Message{
		To:         uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2"), Job: 1, Index: 1},
		Length:     100_000,
		Rendezvous: true, Eager: 4096, Source: uetcc.Source{Process: process, Base: 0x80000},
	})
	must(err)
	fmt.Println("placed", exchange(a, b))
	received, _ := b.Poll()
	fmt.Println("received", received.Received, received.Cookie, received.Outcome.Status, received.Outcome.Length)
	sent, _ := a.Poll()
	fmt.Println("sent", sent.Outcome.Status, sent.Outcome.Length)
	// Output:
	// placed 100000
	// received true 7 ok 100000
	// sent ok 100000
}

// A deferrable send to a peer without a buffer waits there until one is posted.
func ExampleMessage_deferrable() {
	a, b := newPeer("10.0.0.1"), newPeer("10.0.0.2")
	_, err := a.Send(0, &uetcc.Message{
		To:     uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2"), Job: 1, Index: 1},
		Length: 10_000, Deferrable: true,
	})
	must(err)
	fmt.Println("placed", exchange(a, b), "waiting", b.Usage().Pending)
	_, err = b.Target().PostReceive(process, 1, ses.Receive{Base: 0x1000, Length: 10_000, Ignore: ^uint64(0)})
	must(err)
	fmt.Println("placed", exchange(a, b), "waiting", b.Usage().Pending)
	sent, _ := a.Poll()
	fmt.Println("sent", sent.Outcome.Status, sent.Outcome.Length)
	// Output:
	// placed 0 waiting 1
	// placed 10000 waiting 0
	// sent ok 10000
}
