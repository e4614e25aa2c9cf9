package main

import (
	"net/netip"
	"time"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// What all transfers are addressed to: a process of a job, and an index of it.
const (
	job   ses.JobID         = 1
	pid   ses.PIDonFEP      = 1
	index ses.ResourceIndex = 1
)

// controlDSCP is the code point of acknowledgements and control packets, that of expedited
// forwarding; data goes with 0. A traffic class of the endpoint is a code point here.
const controlDSCP = 46

// hostConfig is what both ends of a transfer have to agree about, and how to reach the other.
type hostConfig struct {
	control ccc.Control
	mode    ccc.Mode
	mtu     uint32 // payload bytes of a full packet
	rate    int64  // of the link, bytes a second
	rtt     int64  // of the longest path when it is idle, ns
	cwnd    int64  // first window, bytes; 0: the largest
	paths   int    // UDP source ports, a power of two
	port    uint16 // UDP port of the peers
}

// patience is how much longer than eight round trips an endpoint waits for an answer: what
// delays a packet here is more often a process that waits for its turn than a loss.
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
		ControlTC: controlDSCP,
		Contexts:  64, Messages: 64, PDCs: pdc.TableConfig{General: 64},
	}
}

// A host is one end: an endpoint, its sockets, and the memory that is written from or to.
type host struct {
	*uetcc.Endpoint
	address pdc.Addr
	port    uint16    // of peers
	paths   []*socket // entropy value v leaves from paths[v%len(paths)]; the first one receives
	memory  []byte
	inbox   *inbox

	in, replies, out []uetcc.Datagram
	got              []uetcc.Received

	packets, marked, unsent int64              // received; of these with a mark; refused by the kernel
	placed                  map[pdc.Addr]int64 // payload bytes, by source
	first, last             int64              // when some were placed
	more                    bool               // may go than has gone
}

// newHost opens the sockets of a host; port 0 is one of the kernel's choice.
func newHost(c *hostConfig, local netip.AddrPort, memory []byte, inbox *inbox) (h *host, err error) {
	h = &host{
		address: pdc.AddrFrom(local.Addr()), port: c.port, memory: memory, inbox: inbox,
		in: make([]uetcc.Datagram, batch), replies: make([]uetcc.Datagram, batch), out: make([]uetcc.Datagram, batch),
		got: make([]uetcc.Received, batch), placed: map[pdc.Addr]int64{},
	}
	if h.Endpoint, err = uetcc.NewEndpoint(c.endpoint(local.Addr())); err != nil {
		return nil, err
	}
	for i := range batch {
		h.replies[i].Packet = make([]byte, 0, h.ReplyMax())
		h.out[i].Packet = make([]byte, 0, uetcc.HeaderMax+c.mtu)
	}
	for len(h.paths) < c.paths {
		s, err := openSocket(local)
		if err != nil {
			h.close()
			return nil, err
		}
		h.paths = append(h.paths, s)
		local = netip.AddrPortFrom(local.Addr(), 0)
	}
	return h, nil
}

func (h *host) close() {
	for _, s := range h.paths {
		s.close()
	}
}

// open lets peers write to all of the memory.
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

func (h *host) local() netip.AddrPort { return h.paths[0].local }

func (h *host) sockets() []*socket { return h.paths[:1] }

// deadline is at once as long as there is something to send.
func (h *host) deadline() (int64, bool) {
	if h.more {
		return 0, true
	}
	return h.NextDeadline()
}

// step takes in what has come, does what is due, and sends what may go. It takes one batch,
// since the answer to what it sends must find a later time, and leaves what is due to a later
// step where more may have come: an acknowledgement that has waited for this process must not
// be taken for a missing one.
func (h *host) step(now int64) error {
	n, err := h.paths[0].receive(h.inbox)
	if err == nil && n > 0 {
		err = h.exchange(now, n)
	}
	if err != nil {
		return err
	}
	if n < batch {
		h.Tick(now)
	}
	return h.flush(now)
}

// exchange takes in the n packets of the inbox.
func (h *host) exchange(now int64, n int) error {
	for i := range h.inbox.packets[:n] {
		p := &h.inbox.packets[i]
		_, ecn := pds.SplitTOS(p.tos)
		h.packets++
		if ecn == pds.ECNCE {
			h.marked++
		}
		h.in[i] = uetcc.Datagram{Packet: p.data, Src: pdc.AddrFrom(p.from.Addr()), Dst: h.address, CE: ecn == pds.ECNCE}
	}
	out := h.ExchangeBatch(now, h.in[:n], h.replies[:n], h.got[:n], h.out)
	for i := range h.got[:n] {
		if r := &h.got[i]; r.Action == ses.ActionPlace {
			h.place(now, h.in[i].Src, copy(h.memory[r.Address:], h.in[i].Packet[r.Payload:][:r.Length]))
		}
	}
	if err := h.transmit(h.replies[:n]); err != nil {
		return err
	}
	return h.transmit(h.out[:out])
}

// place counts n payload bytes of a source.
func (h *host) place(now int64, from pdc.Addr, n int) {
	if len(h.placed) == 0 {
		h.first = now
	}
	h.last = now
	h.placed[from] += int64(n)
}

// flush sends what may go, but no more at a time than others can take from their sockets.
func (h *host) flush(now int64) error {
	n := h.TransmitBatch(now, h.out)
	h.more = n == len(h.out)
	return h.transmit(h.out[:n])
}

// transmit sends those of the packets that are not empty, with their data. The cookie of a
// message is where its data lies in memory.
func (h *host) transmit(packets []uetcc.Datagram) error {
	for i := range packets {
		d := &packets[i]
		if len(d.Packet) == 0 {
			continue
		}
		from := d.Payload.Cookie + uint64(d.Payload.Offset)
		b := append(d.Packet, h.memory[from:from+uint64(d.Payload.Length)]...)
		s := h.paths[int(d.Entropy)%len(h.paths)]
		sent, err := s.send(netip.AddrPortFrom(d.Dst.Netip(), h.port), pds.TOS(pds.DSCP(d.TC), pds.ECNECT0), b)
		if err != nil {
			return err
		}
		if !sent {
			h.unsent++
		}
	}
	return nil
}
