// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"log"
	"net/netip"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ses"
)

// A host is an endpoint and the memory that packets are made of and go to.
type host struct {
	*uetcc.Endpoint
	memory []byte
}

func newHost(address string, memory []byte) *host {
	e, err := uetcc.NewEndpoint(uetcc.Config{Address: netip.MustParseAddr(address)})
	if err != nil {
		log.Fatal(err)
	}
	return &host{e, memory}
}

// open lets job 1 write to all of the memory, under index 5 of process 2.
func (h *host) open() ses.Generation {
	t := h.Target()
	process, _ := t.AddProcess(ses.Process{Job: 1, PID: 2})
	generation, _ := t.OpenIndex(0, process, 5, ses.Index{Kind: ses.IndexMemory})
	t.Register(process, 5, ses.Region{Length: uint64(len(h.memory)), Job: 1, Rights: ses.RightWrite})
	return generation
}

// transmit takes the packets that may leave now, with their data.
func (h *host) transmit(now int64) (wire []uetcc.Datagram) {
	out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
	for h.Transmit(now, &out) {
		from := out.Payload.Offset
		out.Packet = append(out.Packet, h.memory[from:from+out.Payload.Length]...)
		wire = append(wire, out)
		out = uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
	}
	return wire
}

// receive takes a packet in, places its data, and returns the answer.
func (h *host) receive(now int64, in uetcc.Datagram) (reply uetcc.Datagram) {
	reply.Packet = make([]byte, 0, h.ReplyMax())
	var r uetcc.Received
	h.Receive(now, &in, &reply, &r)
	if r.Action == ses.ActionPlace {
		copy(h.memory[r.Address:], in.Packet[r.Payload:][:r.Length])
	}
	return reply
}

// One host writes 10,000 bytes into the memory of another. What would be two sockets and
// a network is a loop here.
func Example() {
	a, b := newHost("10.0.0.1", make([]byte, 10_000)), newHost("10.0.0.2", make([]byte, 1<<16))
	copy(a.memory[9_990:], "the end")
	generation := b.open()

	_, err := a.Write(0, &uetcc.Message{
		To:     uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2"), Job: 1, PID: 2, Index: 5, Generation: generation},
		Offset: 4096, Length: 10_000, Cookie: 7,
	})
	fmt.Println("asked:", err)
	for _, packet := range a.transmit(0) {
		reply := b.receive(6_000, packet)
		fmt.Println("packet of", len(packet.Packet), "bytes, answer of", len(reply.Packet))
		if len(reply.Packet) > 0 {
			a.receive(12_000, reply)
		}
	}
	for done, ok := a.Poll(); ok; done, ok = a.Poll() {
		fmt.Println("done:", done.Cookie, done.Outcome.Status, done.Outcome.Length)
	}
	fmt.Printf("%s\n", b.memory[4096+9_990:][:7])
	// Output:
	// asked: <nil>
	// packet of 4152 bytes, answer of 44
	// packet of 4152 bytes, answer of 44
	// packet of 1864 bytes, answer of 44
	// done: 7 ok 10000
	// the end
}
