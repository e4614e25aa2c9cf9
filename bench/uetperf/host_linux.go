// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/netip"
	"time"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// The address of all transfers: a process of a job, and an index of the process.
const (
	job   ses.JobID         = 1
	pid   ses.PIDonFEP      = 1
	index ses.ResourceIndex = 1
)

// controlDSCP is the code point of acknowledgements and control packets: expedited
// forwarding; data goes with 0. A traffic class of the endpoint is a code point here.
const controlDSCP = 46

// hostConfig is the agreement of both ends of a transfer, and the way to reach the peer.
type hostConfig struct {
	control ccc.Control
	mode    ccc.Mode
	mtu     uint32 // payload bytes of a full packet
	rate    int64  // of the link, bytes a second
	rtt     int64  // of the longest path when it is idle, ns
	cwnd    int64  // first window, bytes; 0: the largest
	paths   int    // UDP source ports, a power of two
	port    uint16 // UDP port of the peers
	tap     func(now int64, sent bool, d uetcc.Datagram)
}

// patience is the wait for an answer beyond eight round trips: a late packet is more often
// due to a process waiting for the CPU than to a loss.
const patience = int64(100 * time.Millisecond)

// endpoint is the configuration of an endpoint at address.
func (c *hostConfig) endpoint(address netip.Addr) uetcc.Config {
	return uetcc.Config{
		Address: address,
		MTU:     c.mtu,
		PDS:     pdc.Config{InferLoss: true, AckPerPacket: true, RTOInit: min(patience+8*c.rtt, int64(8*time.Second))},
		CC: ccc.Config{
			NSCC: nscc.Config{
				LinkRate: c.rate, BaseRTT: c.rtt, InitialCwnd: c.cwnd,
				Profile: nscc.ProfileSpec,                                                   // with its growth spread over the round trip
				Tuning:  nscc.Tuning{Alpha: 4 * float64(c.mtu) * float64(c.rate) / 150_000}, // 4 x MTU x scaling_a / BaseRTT
			},
			Entropy: ccc.EntropyConfig{Values: c.paths},
			Control: c.control, Mode: c.mode,
		},
		ControlTC: controlDSCP, Tap: c.tap,
		Contexts: 64, Messages: 64, PDCs: pdc.TableConfig{General: 64},
	}
}

// A host is one end: an endpoint, a port, and the memory written from or to.
type host struct {
	*uetcc.Endpoint
	*opening
	address pdc.Addr
	peers   uint16 // UDP port of
	memory  []byte

	in, replies, out []uetcc.Datagram
	got              []uetcc.Received

	packets, marked int64              // received; of these with a mark
	placed          map[pdc.Addr]int64 // payload bytes, by source
	first, last     int64              // when some were placed
	atFirst         int64              // payload bytes that were placed then
	more            bool               // may go than has gone
}

// newHost opens the port of a host; UDP port 0 is chosen by the kernel.
func newHost(c *hostConfig, local netip.AddrPort, memory []byte) (h *host, err error) {
	h = &host{
		address: pdc.AddrFrom(local.Addr()), peers: c.port, memory: memory,
		in: make([]uetcc.Datagram, batch), replies: make([]uetcc.Datagram, batch), out: make([]uetcc.Datagram, batch),
		got: make([]uetcc.Received, batch), placed: map[pdc.Addr]int64{},
	}
	if h.Endpoint, err = uetcc.NewEndpoint(c.endpoint(local.Addr())); err != nil {
		return nil, err
	}
	for i := range batch {
		h.replies[i].Packet = make([]byte, 0, h.ReplyMax())
		h.out[i].Packet = make([]byte, 0, uetcc.HeaderMax)
	}
	h.opening, err = openPort(local, c.paths)
	return h, err
}

// open lets peers write to the whole memory.
func (h *host) open() error {
	t := h.Target()
	process, err := t.AddProcess(ses.Process{Job: job, PID: pid})
	if err == nil {
		_, err = t.OpenIndex(0, process, index, ses.Index{Kind: ses.IndexMemory})
	}
	if err == nil {
		_, err = t.Register(process, index, ses.Region{Length: uint64(len(h.memory)), Job: job, Rights: ses.RightWrite})
	}
	return err
}

func (h *host) openings() []*opening { return []*opening{h.opening} }

// deadline is at once as long as there is something to send.
func (h *host) deadline() (int64, bool) {
	if h.more {
		return 0, true
	}
	return h.NextDeadline()
}

// step receives, does due work, and sends. Only a single batch is received, since the answer
// to a sent packet must find a later time. Due work is left to a later step where more
// packets may have come: an acknowledgement waiting for the process must not count as
// missing.
func (h *host) step(now int64) error {
	packets, err := h.receive()
	if err == nil && len(packets) > 0 {
		err = h.exchange(now, packets)
	}
	if err != nil {
		return err
	}
	if !h.More() {
		h.Tick(now)
	}
	return h.flush(now)
}

// exchange takes packets in.
func (h *host) exchange(now int64, packets []port.Packet) error {
	n := len(packets)
	for i := range packets {
		p := &packets[i]
		_, ecn := pds.SplitTOS(p.TOS)
		h.packets++
		if ecn == pds.ECNCE {
			h.marked++
		}
		h.in[i] = uetcc.Datagram{Packet: p.Data, Src: pdc.AddrFrom(p.Peer.Addr()), Dst: h.address, CE: ecn == pds.ECNCE}
	}
	out := h.ExchangeBatch(now, h.in[:n], h.replies[:n], h.got[:n], h.out)
	for i := range h.got[:n] {
		if r := &h.got[i]; r.Action == ses.ActionPlace {
			h.place(now, h.in[i].Src, copy(h.memory[r.Address:], h.in[i].Packet[r.Payload:][:r.Length]))
		}
	}
	h.build(h.replies[:n])
	h.build(h.out[:out])
	return h.send()
}

// place counts n payload bytes of a source.
func (h *host) place(now int64, from pdc.Addr, n int) {
	if len(h.placed) == 0 {
		h.first = now
	}
	if h.last = now; now == h.first {
		h.atFirst += int64(n)
	}
	h.placed[from] += int64(n)
}

// flush sends all that may go, but no more at a time than peers can take from a socket.
func (h *host) flush(now int64) error {
	n := h.TransmitBatch(now, h.out)
	h.more = n == len(h.out)
	h.build(h.out[:n])
	return h.send()
}

// build adds the packets that are not empty, with data. The cookie of a message is the place
// of the message's data in memory.
func (h *host) build(packets []uetcc.Datagram) {
	for i := range packets {
		d := &packets[i]
		if len(d.Packet) == 0 {
			continue
		}
		from := d.Payload.Cookie + uint64(d.Payload.Offset)
		h.add(port.Packet{
			Peer: netip.AddrPortFrom(d.Dst.Netip(), h.peers), TOS: pds.TOS(pds.DSCP(d.TC), pds.ECNECT0), Path: d.Entropy,
			Data: d.Packet, Tail: h.memory[from:][:d.Payload.Length],
		})
	}
}
