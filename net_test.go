// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/agenda"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

const (
	netMTU    = 1024
	netMemory = 1 << 20 // bytes of each end: a region at address 0 with key 1
	netQueue  = 1       // resource index of the receive queue
)

// netFaults is what a network does to packets.
type netFaults struct {
	loss, dup, trim, mark float64
	reorder               int64 // up to so much more delay, ns
	delay                 int64 // of each packet, ns; 0: 5 us
	queue                 int64 // more of it for what is not in the class of control packets
}

// netEnd is an endpoint, its memory, and what happened there.
type netEnd struct {
	e      *uetcc.Endpoint
	addr   netip.Addr
	mem    []byte
	local  map[uint64][]byte // by cookie: what a message sends, or where data goes
	events []uetcc.Event
	whole  []uint64 // header data of messages that came whole, in order
	copied map[uint64]int
	owed   []owedAnswer

	buffers []uetcc.Datagram // packets that wait for their turn

	fails func(*uetcc.Received) ses.ReturnCode // what the host makes of a request, unless nil
	rank  uint32                               // of the initiator of the request in hand

	mute bool // sends nothing but answers at once
}

type owedAnswer struct {
	id   uetcc.AnswerID
	data []byte
}

type netPacket struct {
	wirePacket
	ce   bool
	trim bool
}

// network is two or more endpoints in virtual time, whose links have no rate: a star has.
type network struct {
	t      testing.TB
	seed   uint64
	f      netFaults
	r      *rand.Rand
	now    int64
	q      agenda.Agenda[netPacket]
	ends   []*netEnd
	byAddr map[pdc.Addr]*netEnd
	cut    map[pdc.Addr]bool // nothing arrives there

	refuses bool // the hosts have no data to give
}

func newNetwork(t testing.TB, seed uint64, f netFaults, ends int, edit func(*uetcc.Config)) *network {
	n := &network{t: t, seed: seed, f: f, r: rand.New(rand.NewPCG(seed, 11)), byAddr: map[pdc.Addr]*netEnd{}, cut: map[pdc.Addr]bool{}}
	for i := range ends {
		c := uetcc.Config{
			Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), MTU: netMTU, ControlTC: tcHigh, Seed: cmp.Or(seed*16+uint64(i), 1<<63),
			PDS:      pdc.Config{RTOInit: 200_000, NackRetxTime: 60_000, ClearTime: 60_000, MaxRTORetx: 15, MaxNackRetx: 31},
			PDCs:     pdc.TableConfig{General: 8, Quarantine: 3_000_000},
			CC:       ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 20_000}},
			Contexts: 8, Messages: 32, Answers: 64, MessageTimeout: 2000 * ms, Memory: pdc.MemoryConfig{Chunks: 64},
			Target: ses.TargetConfig{Receives: 64, AtomicOps: 1 << ses.AtomicSum, AtomicTypes: 1 << ses.TypeUint64},
		}
		if edit != nil {
			edit(&c)
		}
		end := &netEnd{e: newEnd(t, c), addr: c.Address, mem: make([]byte, netMemory), local: map[uint64][]byte{}, copied: map[uint64]int{}}
		n.open(end)
		n.ends = append(n.ends, end)
		n.byAddr[pdc.AddrFrom(c.Address)] = end
	}
	return n
}

// knownSources is a network in which nobody sends in the name of another, so that the first
// packets get their answers at once.
func knownSources(c *uetcc.Config) { c.PDS.KnownSources = true }

// open makes the memory of an end addressable: index 0 a region, index 1 a queue.
func (n *network) open(end *netEnd) {
	t := end.e.Target()
	process, err := t.AddProcess(ses.Process{Job: 1})
	require.NoError(n.t, err)
	_, err = t.OpenIndex(0, process, 0, ses.Index{})
	require.NoError(n.t, err)
	_, err = t.OpenIndex(0, process, netQueue, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
	require.NoError(n.t, err)
	_, err = t.Register(process, 0, ses.Region{Length: netMemory, Key: 1, Job: ses.AnyJob, Rights: ses.RightRead | ses.RightWrite | ses.RightAtomic, Idempotent: true})
	require.NoError(n.t, err)
}

// post gives an end a receive buffer.
func (n *network) post(end *netEnd, base uint64, length uint32) {
	_, err := end.e.Target().PostReceive(1<<16, netQueue, ses.Receive{Base: base, Length: length, Ignore: ^uint64(0)})
	require.NoError(n.t, err)
}

// begin starts a message of end 0 about the memory of end 1, and returns its cookie: data is
// what is written, or where what is read goes.
func (n *network) begin(start func(int64, *uetcc.Message) (ses.Handle, error), mode ses.Mode, data []byte) uint64 {
	a := n.ends[0]
	cookie := uint64(len(a.local) + 1)
	a.local[cookie] = data
	_, err := start(n.now, &uetcc.Message{
		To: uetcc.Destination{Address: n.ends[1].addr, Job: 1}, Mode: mode, Key: 1, Length: uint32(len(data)), Cookie: cookie,
	})
	require.NoError(n.t, err)
	return cookie
}

// write begins a write of some bytes.
func (n *network) write(mode ses.Mode, length int) uint64 {
	return n.begin(n.ends[0].e.Write, mode, fill(length, byte(len(n.ends[0].local)+1)))
}

// read begins a read.
func (n *network) read(mode ses.Mode, length int) uint64 {
	return n.begin(n.ends[0].e.Read, mode, make([]byte, length))
}

// reads are the packets of a read of end 0 from end 1.
func (n *network) reads(length int) []wirePacket {
	n.read(ses.ModeRUD, length)
	return sendAll(n.now, n.ends[0].e)
}

// carry puts what came out of an end on its way.
func (n *network) carry(from *netEnd, d *uetcc.Datagram) {
	if n.refuses && d.Payload.Length > 0 && d.Payload.Message == 0 && d.Payload.Answer != 0 {
		require.NoError(n.t, from.e.Refuse(n.now, d.Payload.Answer, ses.RCHostPoisoned, d))
	}
	p := onWire(d)
	if d.Payload.Length > 0 {
		src := from.mem[d.Payload.Address:]
		if d.Payload.Message != 0 {
			src = from.local[d.Payload.Cookie][d.Payload.Offset:]
		}
		copy(p.data[len(d.Packet):], src)
	}
	n.legal(p.data)
	copies := 1
	if n.r.Float64() < n.f.loss {
		copies = 0
	}
	if n.r.Float64() < n.f.dup {
		copies++
	}
	for range copies {
		f, at := netPacket{wirePacket: p, ce: n.r.Float64() < n.f.mark}, n.now+cmp.Or(n.f.delay, 5000)
		if p.tc != tcHigh {
			at += n.f.queue
		}
		if n.f.reorder > 0 {
			at += n.r.Int64N(n.f.reorder)
		}
		if d.Payload.Length > 0 && n.r.Float64() < n.f.trim {
			f.trim, f.data = true, p.data[:pds.Type(p.data[0]>>3).HeaderLen()]
		}
		n.q.Push(at, f)
	}
}

// legal demands of a packet what others will ask of it.
func (n *network) legal(packet []byte) {
	var h frame.Packet
	require.NoError(n.t, (&frame.Parser{}).UDP(packet, &h))
	require.NoError(n.t, h.Validate(), &h)
}

func (n *network) transmit() {
	out := newDatagram()
	for _, end := range n.ends {
		for !end.mute && end.e.Transmit(n.now, &out) {
			n.carry(end, &out)
		}
		n.poll(end)
	}
}

func (n *network) poll(end *netEnd) {
	for {
		ev, ok := end.e.Poll()
		if !ok {
			return
		}
		end.events = append(end.events, ev)
	}
}

// arrive gives a packet to its end and does what the end says.
func (n *network) arrive(p netPacket) {
	end := n.byAddr[p.dst]
	if end == nil || n.cut[p.dst] {
		return
	}
	in, reply := uetcc.Datagram{Packet: p.data, Src: p.src, Dst: p.dst, TC: p.tc, CE: p.ce}, newReply(end.e)
	if p.trim {
		in.Trimmed = pds.NackTrimmed
	}
	var r uetcc.Received
	end.e.Receive(n.now, &in, &reply, &r)
	if r.Buffer != 0 {
		end.keep(&in, int(r.Buffer))
	}
	n.obey(end, &in, &reply, &r)
	for reply = newReply(end.e); ; reply = newReply(end.e) {
		k := end.e.Replay(n.now, end.buffers, &reply, &r)
		if k == 0 {
			break
		}
		n.obey(end, &end.buffers[k], &reply, &r)
	}
}

// keep buffers a packet.
func (e *netEnd) keep(in *uetcc.Datagram, k int) {
	for len(e.buffers) <= k {
		e.buffers = append(e.buffers, uetcc.Datagram{})
	}
	p := e.buffers[k].Packet[:0]
	e.buffers[k] = *in
	e.buffers[k].Packet = append(p, in.Packet...)
}

// obey does what an end says of a packet.
func (n *network) obey(end *netEnd, in, reply *uetcc.Datagram, r *uetcc.Received) {
	data := in.Packet[min(r.Payload, len(in.Packet)):]
	if end.fails != nil && r.Form != pds.NextNone && (r.Action == ses.ActionPlace || r.Action == ses.ActionAtomic && r.Answer == 0) {
		n.fail(end, in, reply, r)
	}
	switch {
	case r.Action == ses.ActionPlace && r.Message != 0:
		copy(end.local[r.Cookie][r.Offset:], data[:r.Length])
	case r.Action == ses.ActionPlace:
		copy(end.mem[r.Address:], data[:r.Length])
	case r.Action == ses.ActionAtomic:
		at := end.mem[r.Address:]
		before := binary.BigEndian.Uint64(at)
		binary.BigEndian.PutUint64(at, before+binary.BigEndian.Uint64(data))
		if r.Answer != 0 {
			end.owed = append(end.owed, owedAnswer{r.Answer, binary.BigEndian.AppendUint64(nil, before)})
		}
	case r.Action == ses.ActionRead:
		require.NotZero(n.t, r.Answer)
		end.owed = append(end.owed, owedAnswer{r.Answer, end.mem[r.Address:][:r.Length]})
	}
	if r.Complete && r.HasData {
		end.whole = append(end.whole, r.HeaderData)
	}
	if len(reply.Packet) > 0 {
		n.carry(end, reply)
	}
	n.answer(end)
	n.poll(end)
}

// fail asks the host whether it takes a request.
func (n *network) fail(end *netEnd, in, reply *uetcc.Datagram, r *uetcc.Received) {
	var q ses.Request
	_, err := q.Decode(r.Form, in.Packet[r.Header:])
	require.NoError(n.t, err)
	end.rank = q.Initiator
	if code := end.fails(r); code != ses.RCOK {
		r.Code = code
		require.NoError(n.t, end.e.Fail(n.now, in, reply, r))
	}
}

// answer brings what the end owes.
func (n *network) answer(end *netEnd) {
	for _, o := range end.owed {
		reply := newReply(end.e)
		if n.refuses {
			require.NoError(n.t, end.e.Refuse(n.now, o.id, ses.RCHostPoisoned, &reply))
			n.carry(end, &reply)
			continue
		}
		if end.e.Answer(n.now, o.id, o.data, &reply) == nil && len(reply.Packet) > 0 {
			n.carry(end, &reply)
		}
	}
	end.owed = end.owed[:0]
}

// step moves time to the next thing that happens.
func (n *network) step() bool {
	n.transmit()
	next, any := n.q.Next()
	for _, end := range n.ends {
		if at, ok := end.e.NextDeadline(); ok && (!any || at < next) {
			next, any = at, true
		}
	}
	if !any {
		return false
	}
	n.now = max(n.now, next)
	for at, ok := n.q.Next(); ok && at <= n.now; at, ok = n.q.Next() {
		_, p := n.q.Pop()
		n.arrive(p)
	}
	for _, end := range n.ends {
		end.e.Tick(n.now)
		n.poll(end)
	}
	return true
}

// wait lets time pass.
func (n *network) wait(ns int64) {
	until := n.now + ns
	n.q.Push(until, netPacket{}) // to nobody
	n.run(func() bool { return n.now >= until })
}

// endWell goes on until so many messages of an end have ended, all of them well.
func (n *network) endWell(end *netEnd, messages int) {
	n.t.Helper()
	n.run(func() bool { return len(end.events) == messages })
	for _, ev := range end.events {
		require.Equal(n.t, ses.StatusOK, ev.Outcome.Status, "seed %d: %+v", n.seed, ev)
	}
}

// run goes on until done says so.
func (n *network) run(done func() bool) {
	for i := 0; !done(); i++ {
		require.Less(n.t, i, 200_000, "stuck at %d: %+v %+v", n.now, n.ends[0].e.PDS().Stats(), n.ends[1].e.PDS().Stats())
		require.True(n.t, n.step(), "nothing can happen any more at %d", n.now)
	}
}
