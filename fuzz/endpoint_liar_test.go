// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// An endpoint and a peer that knows all that a peer can know: it has heard what was sent to
// it, opens PDCs, acknowledges some of what comes, and lies in any field. Every choice is
// read out of bytes, so that a fuzzer finds what random ones do not.
type liarRun struct {
	t       testing.TB
	e       *uetcc.Endpoint
	process ses.Handle
	in      chooser
	now     int64
	pdcs    []liarPDC
	words   []uint64 // message_ids, tokens and keys that the endpoint has named
	tape    [][]byte // packets that were given before
	kept    []uetcc.Datagram
	owed    []uetcc.Received
	reply   uetcc.Datagram
	outs    [4]uetcc.Datagram
	length  map[uint64]uint32 // of the endpoint's messages, by cookie
	ended   map[uint64]int    // likewise: events
}

// A liarPDC is one that the endpoint has with the liar.
type liarPDC struct {
	mine, its pds.PDCID
	typ       pds.Type
	next      pds.PSN       // what the liar sends next
	sent      pds.PSN       // what the endpoint has sent last,
	id        ses.MessageID // of this message
	at        uint32        // where the liar is in a message of its own
}

// A chooser reads choices out of bytes. When they are used up each is the first.
type chooser struct{ data []byte }

func (c *chooser) n(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func (c *chooser) word() (w uint64) {
	for range 8 {
		w = w<<8 | uint64(c.n(256))
	}
	return w
}

func choose[T any](c *chooser, of ...T) T { return of[c.n(len(of))] }

var liarAddr = netip.MustParseAddr("10.0.0.2")

const (
	liarMemory = 1 << 16
	liarMTU    = 1024
)

func newLiarRun(t testing.TB, data []byte) *liarRun {
	x := &liarRun{t: t, in: chooser{data}, length: map[uint64]uint32{}, ended: map[uint64]int{}}
	c := &x.in
	var err error
	x.e, err = uetcc.NewEndpoint(uetcc.Config{
		Address: netip.MustParseAddr("10.0.0.1"), MTU: liarMTU, Seed: 5, Contexts: choose(c, 4, 1), Messages: 8, Answers: choose(c, 8, 1), RUDI: 4,
		PDCs:   pdc.TableConfig{General: choose(c, 12, 2), Quarantine: 100_000},
		Memory: pdc.MemoryConfig{Chunks: choose(c, 32, 2), Responses: choose(c, 8, 1), LongResponses: 1, Buffers: 8},
		PDS: pdc.Config{
			MaxAckData: 512, BufferROD: c.n(2) == 1, InferLoss: c.n(2) == 1, Start: pdc.StartMethod(c.n(3)), NoAckCC: c.n(4) == 1,
			MaxRTORetx: 3, IdleTime: 20_000_000, LimitPSNRange: c.n(2) == 1,
		},
		CC:     ccc.Config{Control: ccc.Control(c.n(3))},
		Target: ses.TargetConfig{Messages: 8, Pending: choose(c, 8, 0), Regions: 16, AtomicOps: math.MaxUint32, AtomicTypes: math.MaxUint32},
	})
	require.NoError(t, err)
	s := x.e.Target()
	x.process, err = s.AddProcess(ses.Process{Job: 1})
	require.NoError(t, err)
	_, err = s.OpenIndex(0, x.process, 0, ses.Index{})
	require.NoError(t, err)
	_, err = s.OpenIndex(0, x.process, 1, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
	require.NoError(t, err)
	_, err = s.Register(x.process, 0, ses.Region{Length: liarMemory, Key: 1, Job: ses.AnyJob, Rights: ses.RightRead | ses.RightWrite | ses.RightAtomic, Idempotent: true})
	require.NoError(t, err)
	x.reply.Packet = make([]byte, 0, x.e.ReplyMax())
	for i := range x.outs {
		x.outs[i].Packet = make([]byte, 0, uetcc.HeaderMax)
	}
	return x
}

func (x *liarRun) run() {
	for len(x.in.data) > 0 {
		x.step()
		x.hear()
		x.poll()
	}
	for range 10_000 { // the liar has gone
		x.answerAll()
		x.hear()
		x.poll()
		at, ok := x.e.NextDeadline()
		if !ok || x.e.Usage() == (uetcc.Usage{}) {
			break
		}
		x.now = max(x.now, at)
		x.e.Tick(x.now)
	}
	require.Equal(x.t, uetcc.Usage{}, x.e.Usage(), "at %d", x.now)
	for cookie := range x.length {
		require.Equal(x.t, 1, x.ended[cookie], "message %d", cookie)
	}
}

// step does one thing, at either side.
func (x *liarRun) step() {
	c := &x.in
	switch op := c.n(16); op {
	case 0:
		x.start()
	case 1:
		_, _ = x.e.Target().PostReceive(x.process, 1, ses.Receive{Base: uint64(c.n(2)) * 8192, Length: choose(c, uint32(8192), 100, 0), Ignore: choose(c, math.MaxUint64, uint64(0))})
	case 2:
		x.now += choose(c, int64(1000), 20_000, 300_000, 2_000_000, 100_000_000)
		x.e.Tick(x.now)
	case 3:
		x.answerAll()
	case 4:
		x.give((&pds.UUD{Next: pds.NextRequestStd}).AppendTo(nil), x.semantic())
	case 5:
		h := pds.RUDI{Type: choose(c, pds.TypeRUDIReq, pds.TypeRUDIResp), Next: choose(c, pds.NextRequestStd, pds.NextResponse), PktID: uint32(c.n(8))}
		x.give(h.AppendTo(nil), x.semantic())
	case 6:
		if len(x.tape) > 0 {
			x.give(x.tape[c.n(len(x.tape))], nil)
		}
	case 7:
		x.open()
	default:
		if len(x.pdcs) == 0 {
			x.open()
			return
		}
		x.lie(op, &x.pdcs[c.n(len(x.pdcs))])
	}
}

// start has the endpoint begin a message to the liar.
func (x *liarRun) start() {
	c := &x.in
	m := uetcc.Message{
		To: uetcc.Destination{Address: liarAddr, Job: 1, TC: uint8(c.n(2))}, Mode: choose(c, ses.ModeRUD, ses.ModeRUD, ses.ModeROD, ses.ModeRUDI),
		Key: 1, Length: choose(c, uint32(5000), 8, 1024, 0), Cookie: uint64(1 + len(x.length)),
	}
	begin := x.e.Send
	switch c.n(7) {
	case 0:
		begin = x.e.Write
	case 1:
		begin = x.e.Read
	case 2:
		begin, m.Length, m.Fetch, m.Swap.Opcode, m.Swap.Type = x.e.Atomic, 8, c.n(2) == 1, ses.AtomicSum, ses.TypeUint64
	case 3:
		m.Deferrable = true
	case 4:
		m.Rendezvous, m.Eager, m.Source = true, m.Length/2, uetcc.Source{Process: x.process}
	case 5:
		m.Mode, m.Length = ses.ModeUUD, min(m.Length, liarMTU)
	}
	if _, err := begin(x.now, &m); err == nil {
		x.length[m.Cookie] = m.Length
	}
}

// open sends a packet that may open a PDC.
func (x *liarRun) open() {
	c := &x.in
	q := pds.Request{Type: choose(c, pds.TypeRUDReq, pds.TypeRODReq, pds.TypeRUDCCReq), Next: pds.NextRequestStd, Flags: pds.FlagSYN | pds.FlagAR, SPDCID: pds.PDCID(1 + c.n(30)), PSN: choose(c, pds.PSN(5), math.MaxUint32-1), ClearOffset: -1}
	x.pdcs = append(x.pdcs, liarPDC{mine: q.SPDCID, typ: q.Type, next: q.PSN + 1})
	x.give(q.AppendTo(nil), x.semantic())
}

// near is a PSN that may mean something, or nothing.
func (x *liarRun) near(p pds.PSN) pds.PSN {
	if x.in.n(2) == 0 {
		return p
	}
	return p + choose(&x.in, pds.PSN(0), 1, 2, 3, math.MaxUint32, math.MaxUint32-3, 64, 1023, 1024, 1<<31, 1<<31-1, 4096)
}

// lie sends something on a PDC.
func (x *liarRun) lie(op int, p *liarPDC) {
	c := &x.in
	switch {
	case op == 8:
		x.goOn(p)
	case op == 9:
		x.bring(p)
	case op < 12:
		q := pds.Request{
			Type: choose(c, p.typ, p.typ, p.typ, pds.TypeRUDReq, pds.TypeRODReq, pds.TypeRUDCCReq), Next: choose(c, pds.NextRequestStd, pds.NextRequestStd, pds.NextResponseData),
			Flags: choose(c, pds.FlagAR, 0, pds.FlagRetx|pds.FlagAR), SPDCID: p.mine, DPDCID: p.its, PSN: x.near(p.next), ClearOffset: choose(c, int16(-1), -1, 0, -3, math.MinInt16),
			CCCID: uint8(c.n(3)), CreditTarget: choose(c, uint32(0), 1<<23, 1<<24-1),
		}
		p.next = q.PSN + 1
		x.give(q.AppendTo(nil), x.semanticAs(q.Next))
	case op < 14:
		if c.n(2) == 0 {
			x.acknowledge(p)
			return
		}
		a := pds.AckCC{Ack: pds.Ack{Flags: choose(c, 0, pds.FlagM, pds.FlagRetx, pds.FlagP, pds.Flags(c.n(256))), SPDCID: p.mine, DPDCID: p.its, CACK: x.near(p.sent), Offset: int16(c.n(4)) - 1, Next: choose(c, pds.NextResponse, pds.NextNone, pds.NextResponseData, pds.NextResponseDataSmall)}}
		if c.n(3) == 1 {
			a.SACK = pds.SACK{MPR: uint8(c.n(256)), SACKOffset: int16(c.n(256)) - 128, Bitmap: c.word(), CCType: pds.CCType(c.n(3))}
			for i := range a.State {
				a.State[i] = byte(c.n(256))
			}
		}
		var b []byte
		if a.Next != pds.NextNone {
			b = x.semanticAs(a.Next)
		}
		x.give(a.AppendTo(nil), b)
	case op == 14:
		n := pds.Nack{Code: pds.NackCode(c.n(0x1c)), Flags: choose(c, 0, pds.FlagRetx), SPDCID: p.mine, DPDCID: p.its, PSN: x.near(p.sent), Payload: uint32(c.n(256)) << c.n(24)}
		x.give(n.AppendTo(nil), nil)
	default:
		k := pds.Control{Ctl: pds.CtlType(c.n(10)), Flags: choose(c, pds.FlagAR, 0, pds.FlagRetx), SPDCID: p.mine, DPDCID: p.its, PSN: choose(c, p.next, 0, x.near(p.next)), Payload: pds.Payload(x.near(p.next))}
		if k.Ctl.ConsumesPSN() {
			p.next = k.PSN + 1
		}
		x.give(k.AppendTo(nil), nil)
	}
}

// goOn sends the next packet of a message of five, as it should be.
func (x *liarRun) goOn(p *liarPDC) {
	const all = 5*liarMTU - 24
	s := ses.Standard{
		Common:    ses.Common{Opcode: ses.OpcodeWrite, Flags: ses.FlagRel, JobID: 1},
		MessageID: 99, RequestLength: all, Key: 1, MessageOffset: p.at, PayloadLength: uint16(min(all-p.at, liarMTU)),
	}
	if p.at == 0 {
		s.Flags |= ses.FlagSOM
		s.MessageOffset, s.PayloadLength = 0, 0
	}
	if p.at += liarMTU; p.at > all {
		s.Flags |= ses.FlagEOM
		p.at = 0
	}
	x.request(p, pds.NextRequestStd, append(s.AppendTo(nil), make([]byte, liarMTU)...))
}

// bring sends data that the endpoint may have asked for.
func (x *liarRun) bring(p *liarPDC) {
	y := ses.Reply{Form: pds.NextResponseData}
	y.Opcode, y.ReturnCode, y.JobID, y.ReadRequestID = ses.ResponseWithData, ses.RCOK, 1, p.id
	y.MessageOffset = choose(&x.in, uint32(0), 1, 2, 3, 4) * liarMTU
	y.PayloadLength = choose(&x.in, uint16(liarMTU), 5000-4*liarMTU, 8)
	x.request(p, pds.NextResponseData, append(y.AppendTo(nil), make([]byte, liarMTU)...))
}

// request sends a packet of the PDC with its next PSN.
func (x *liarRun) request(p *liarPDC, next pds.NextHdr, rest []byte) {
	q := pds.Request{Type: p.typ, Next: next, Flags: choose(&x.in, pds.FlagAR, 0), SPDCID: p.mine, DPDCID: p.its, PSN: p.next, ClearOffset: -1}
	p.next++
	x.give(q.AppendTo(nil), rest)
}

// acknowledge says of the last packet that it has arrived, and of those before it.
func (x *liarRun) acknowledge(p *liarPDC) {
	a := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: p.mine, DPDCID: p.its, CACK: p.sent}, SACK: pds.SACK{MPR: 8}}
	y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, MessageID: p.id, JobID: 1}
	x.give(a.AppendTo(nil), y.AppendTo(nil))
}

// named is a number that the endpoint has named to the liar, or a small one.
func (x *liarRun) named() uint64 {
	i := x.in.n(len(x.words) + 4)
	if i < 4 {
		return uint64(i)
	}
	return x.words[i-4]
}

func (x *liarRun) size() uint32 {
	return choose(&x.in, uint32(16), liarMTU, 8, 0, 1, 17, liarMTU+1, 5000, 1<<31, math.MaxUint32)
}

func (x *liarRun) place() uint64 {
	return choose(&x.in, uint64(0), 0, 8, 1, liarMemory-8, liarMemory, 1<<32, math.MaxUint64, x.named())
}

// semanticAs is a header of a form, and what follows it.
func (x *liarRun) semanticAs(f pds.NextHdr) []byte {
	if f.IsRequest() {
		return x.semantic()
	}
	c := &x.in
	y := ses.Reply{Form: f}
	y.Opcode, y.ReturnCode, y.List, y.JobID = ses.ResponseOpcode(c.n(4)), choose(c, ses.RCOK, ses.RCOK, ses.ReturnCode(c.n(64))), ses.List(c.n(3)), 1
	y.MessageID, y.ReadRequestID, y.Generation = ses.MessageID(x.named()), ses.MessageID(x.named()), ses.Generation(c.n(2))
	y.ModifiedLength, y.PayloadLength, y.MessageOffset = x.size(), uint16(x.size()&0x3fff), choose(c, uint32(0), liarMTU, x.size())
	return append(y.AppendTo(nil), make([]byte, choose(c, 0, 16, liarMTU))...)
}

// semantic is a request, in half of all cases one without a fault.
func (x *liarRun) semantic() []byte {
	c := &x.in
	if c.n(2) == 0 {
		q := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{
			Common: ses.Common{Opcode: ses.Opcode(c.n(15)), Flags: ses.FlagRel | ses.FlagSOM | ses.FlagEOM, JobID: 1},
			Key:    1, MessageID: ses.MessageID(c.n(4)), RequestLength: choose(c, uint32(liarMTU), 8),
		}}
		if q.Opcode >= ses.OpcodeSend {
			q.Index = 1
		}
		q.Rendezvous = ses.Rendezvous{EagerLength: q.RequestLength / 2, Key: 1}
		q.Token = ses.RestartToken{Initiator: 4, Target: uint32(x.named())}
		if q.Opcode == ses.OpcodeDeferrableRTR {
			q.Token.Initiator = uint32(x.named())
		}
		q.Swap.Opcode, q.Swap.Type = ses.AtomicSum, ses.TypeUint64
		return append(q.AppendTo(nil), make([]byte, q.RequestLength)...)
	}
	q := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{
		Common:    ses.Common{Opcode: ses.Opcode(c.n(17)), Flags: choose(c, ses.FlagRel|ses.FlagSOM|ses.FlagEOM, ses.FlagRel|ses.FlagSOM, ses.FlagRel, ses.FlagRel|ses.FlagEOM, ses.Flags(c.n(64))), JobID: 1, Index: ses.ResourceIndex(c.n(3)), Generation: ses.Generation(c.n(2))},
		MessageID: ses.MessageID(x.named()), PayloadLength: uint16(x.size() & 0x3fff), MessageOffset: choose(c, uint32(liarMTU), 0, x.size()), RequestLength: x.size(),
		BufferOffset: x.place(), Key: choose(c, 1, 1, x.named()), HeaderData: 7,
	}}
	q.Rendezvous = ses.Rendezvous{EagerLength: x.size(), BufferOffset: x.place(), Key: x.named()}
	q.Token = ses.RestartToken{Initiator: uint32(x.named()), Target: uint32(x.named())}
	q.Swap.Opcode, q.Swap.Type = choose(c, ses.AtomicSum, ses.AtomicOpcode(c.n(256))), choose(c, ses.TypeUint64, ses.AtomicType(c.n(32)))
	return append(q.AppendTo(nil), make([]byte, choose(c, 16, liarMTU, 0, 8, 5000))...)
}

// give passes a packet in, looks at what the endpoint says of it, and learns from the answer.
func (x *liarRun) give(head, rest []byte) {
	p := append(head[:len(head):len(head)], rest...)
	if x.tape = append(x.tape, p); len(x.tape) > 32 {
		x.tape = x.tape[1:]
	}
	in := uetcc.Datagram{Packet: p, Src: pdc.AddrFrom(liarAddr), Dst: pdc.AddrFrom(netip.AddrFrom4([4]byte{10, 0, 0, 1})), CE: x.in.n(4) == 1}
	if x.in.n(16) == 1 {
		in.Trimmed = pds.NackTrimmed
	}
	var r uetcc.Received
	if x.in.n(4) == 1 {
		for i := range x.e.Exchange(x.now, &in, &x.reply, &r, x.outs[:]) {
			x.sent(&x.outs[i])
		}
	} else {
		x.e.Receive(x.now, &in, &x.reply, &r)
	}
	if r.Buffer != 0 {
		for len(x.kept) <= int(r.Buffer) {
			x.kept = append(x.kept, uetcc.Datagram{})
		}
		x.kept[r.Buffer] = in
	}
	x.obey(&in, &r)
	x.learn(x.reply.Packet)
	for {
		k := x.e.Replay(x.now, x.kept, &x.reply, &r)
		if k == 0 {
			return
		}
		x.obey(&x.kept[k], &r)
	}
}

// obey checks that what the endpoint asks for is open to the liar.
func (x *liarRun) obey(in *uetcc.Datagram, r *uetcc.Received) {
	switch r.Action {
	case ses.ActionPlace:
		require.LessOrEqual(x.t, r.Payload+int(r.Length), len(in.Packet))
		if r.Message != 0 {
			require.LessOrEqual(x.t, uint64(r.Offset)+uint64(r.Length), uint64(x.length[r.Cookie]))
			return
		}
		fallthrough
	case ses.ActionAtomic, ses.ActionRead:
		require.LessOrEqual(x.t, r.Address, uint64(liarMemory))
		require.LessOrEqual(x.t, r.Address+uint64(r.Length), uint64(liarMemory))
	}
	if r.Answer != 0 {
		x.owed = append(x.owed, *r)
	}
}

// answerAll brings what the host owes, also to those that have gone.
func (x *liarRun) answerAll() {
	for _, r := range x.owed {
		_ = x.e.Answer(x.now, r.Answer, make([]byte, r.Length), &x.reply)
	}
	x.owed = x.owed[:0]
}

// hear takes what the endpoint sends to the liar.
func (x *liarRun) hear() {
	for n := 0; ; n++ {
		require.Less(x.t, n, 1000, "more than it has")
		k := x.e.TransmitBatch(x.now, x.outs[:])
		if k == 0 {
			return
		}
		for i := range k {
			x.sent(&x.outs[i])
		}
	}
}

// sent looks at a packet of the endpoint.
func (x *liarRun) sent(d *uetcc.Datagram) {
	if p := &d.Payload; p.Length > 0 && p.Message == 0 && p.Cookie == 0 {
		require.LessOrEqual(x.t, p.Address+uint64(p.Length), uint64(liarMemory), "read data")
	}
	x.learn(d.Packet)
}

// learn keeps what a packet of the endpoint tells.
func (x *liarRun) learn(b []byte) {
	var a pds.AckCC
	var q pds.Request
	var s ses.Request
	if _, err := a.Decode(b); err == nil {
		for i := range x.pdcs {
			if p := &x.pdcs[i]; p.mine == a.DPDCID {
				p.its = a.SPDCID
			}
		}
	}
	if _, err := q.Decode(b); err != nil {
		return
	}
	i := 0
	for i < len(x.pdcs) && x.pdcs[i].its != q.SPDCID {
		i++
	}
	if i == len(x.pdcs) {
		x.pdcs = append(x.pdcs, liarPDC{mine: 7, its: q.SPDCID, typ: q.Type, next: q.StartPSN()})
	}
	p := &x.pdcs[i]
	p.sent = q.PSN
	if _, err := s.Decode(q.Next, b[q.Len():]); err == nil {
		p.id = s.MessageID
		x.words = append(x.words, uint64(s.MessageID), uint64(s.Token.Initiator), uint64(s.Token.Target), s.Rendezvous.Key)
		x.words = x.words[max(0, len(x.words)-24):]
	}
}

func (x *liarRun) poll() {
	for ev, ok := x.e.Poll(); ok; ev, ok = x.e.Poll() {
		if !ev.Received && !ev.Unpaused {
			x.ended[ev.Cookie]++
		}
	}
}

// Whatever a peer says that knows all a peer can know, nothing panics, no memory is touched
// that is not open, each message ends once, and nothing is left when all is over.
func FuzzEndpointLiar(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(randomBytes(rand.New(rand.NewPCG(seed, 3)), 300<<(seed%4)))
	}
	f.Fuzz(func(t *testing.T, data []byte) { newLiarRun(t, data[:min(len(data), 4096)]).run() })
}

func TestEndpointLiar(t *testing.T) {
	for seed := range uint64(300) {
		newLiarRun(t, randomBytes(rand.New(rand.NewPCG(seed, 7)), 2500)).run()
	}
}
