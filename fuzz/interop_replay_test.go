// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// An interop replays a recording: an [uetcc.Endpoint] in the place of the recorded one starts
// what that started and gets the frames of the other side, on a virtual clock. PDCIDs, PSNs
// and message_ids of ours are others now, and so are those that speak of them in the frames;
// one that speaks of a packet waits for it.
type interop struct {
	t    *testing.T
	e    *uetcc.Endpoint
	now  int64
	mem  []byte
	dst  netip.Addr // of the other side
	name string

	pdcs    []*interopPDC           // that we opened, as recorded, in order
	opened  int                     // of these, by this endpoint
	theirs  map[pds.PDCID]pds.PDCID // PDCIDs of the other side's PDCs -> ours, of now
	pairs   map[pds.PDCID]pds.PDCID // ours as recorded -> those of the other side
	rudi    [2][]interopRUDI        // ours, recorded and now
	ids     [2][]ses.MessageID      // message_ids of ours, recorded and now
	started int

	begun    map[ses.MessageID]ses.Request // ours, as recorded
	repeated []ses.MessageID               // of these, those that are to be begun again
	cookies  map[ses.MessageID]uint64
	refused  map[uint64]ses.ReturnCode // cookies of messages that the other side refuses for good

	events []uetcc.Event

	asked   map[pds.PSN]ses.Request // what the other side has asked, by PSN; the latest
	written map[uint64]byte         // what it has written
	unsaid  int                     // frames about what this endpoint has never sent
	gaps    map[pds.PSN]int         // ROD_OOO sent for each PSN
}

// An interopPDC is one that our side opened: as recorded, and what became of it.
type interopPDC struct {
	id, now      pds.PDCID
	start, began pds.PSN // Start_PSN
	sent         pds.PSN // the highest PSN so far
	known        bool
}

func (p *interopPDC) delta() pds.PSN { return p.began - p.start }

const interopMemory = 1 << 20

// newInterop makes the endpoint that a recording wants, and what it opens to others.
func newInterop(t *testing.T, name string, all []frame.Frame, ours []bool) *interop {
	w := &interop{t: t, name: name, mem: make([]byte, interopMemory), theirs: map[pds.PDCID]pds.PDCID{},
		pairs: map[pds.PDCID]pds.PDCID{}, asked: map[pds.PSN]ses.Request{}, written: map[uint64]byte{}, gaps: map[pds.PSN]int{},
		begun: map[ses.MessageID]ses.Request{}, refused: map[uint64]ses.ReturnCode{}, cookies: map[ses.MessageID]uint64{}}
	var local netip.Addr
	mtu := uint32(1024)
	for i := range all {
		f := &all[i]
		if !ours[i] {
			local, w.dst = f.DstAddr(), f.SrcAddr()
			continue
		}
		if f.Form.IsRequest() && f.Request.Flags&(ses.FlagSOM|ses.FlagEOM) == ses.FlagSOM && f.Request.Opcode != ses.OpcodeRead {
			mtu = uint32(f.End - f.Payload)
		}
	}
	infer, cc := strings.Contains(name, "infer"), ccc.Config{NSCC: nscc.Config{LinkRate: 1e9, BaseRTT: 1_000_000, Trimming: true}}
	if infer { // a window of 14 packets, so that something can overtake it; it holds nothing back
		cc.NSCC.LinkRate, cc.Mode = 11e6, ccc.ModeObserve
	}
	e, err := uetcc.NewEndpoint(uetcc.Config{
		Address: local, MTU: mtu, ControlTC: 1, Seed: 21, Backoff: 1_000_000,
		PDS:    pdc.Config{InferLoss: infer, NackMissing: true, RTOInit: 1_000_000_000, MaxRTORetx: 15, IdleTime: 3600e9},
		CC:     cc,
		Target: ses.TargetConfig{AtomicOps: math.MaxUint32, AtomicTypes: math.MaxUint32, Receives: 64},
	})
	require.NoError(t, err)
	w.e = e
	openInterop(t, e)
	return w
}

// openInterop opens to others what the reference provider's tests use: one index for memory and
// for a queue, of job 1, with one key.
func openInterop(t *testing.T, e *uetcc.Endpoint) {
	tg := e.Target()
	process, err := tg.AddProcess(ses.Process{Job: 1})
	require.NoError(t, err)
	_, err = tg.OpenIndex(0, process, 15, ses.Index{Kind: ses.IndexBoth, Job: ses.AnyJob})
	require.NoError(t, err)
	_, err = tg.Register(process, 15, ses.Region{Length: interopMemory / 2, Key: 0x77, Job: ses.AnyJob, Idempotent: true,
		Rights: ses.RightRead | ses.RightWrite | ses.RightAtomic})
	require.NoError(t, err)
	for i := range uint64(4) {
		_, err = tg.PostReceive(process, 15, ses.Receive{Base: interopMemory/2 + i<<16, Length: 1 << 16, Ignore: math.MaxUint64})
		require.NoError(t, err)
	}
}

// recordOurs takes note of a recorded packet of ours, and starts the message that it begins.
func (w *interop) recordOurs(f *frame.Frame) {
	switch {
	case f.Type == pds.TypeRUDIReq:
		w.rudi[0] = append(w.rudi[0], interopRUDI{f.RUDI.PktID, f.Request.MessageID, f.Request.MessageOffset})
	case f.Type.IsRequest() && f.Req.Flags&pds.FlagSYN != 0:
		if !slices.ContainsFunc(w.pdcs, func(p *interopPDC) bool { return p.id == f.Req.SPDCID && p.start == f.Req.StartPSN() }) {
			w.pdcs = append(w.pdcs, &interopPDC{id: f.Req.SPDCID, start: f.Req.StartPSN()})
		}
	case f.Type == pds.TypeACK:
		w.pairs[f.Ack.SPDCID] = f.Ack.DPDCID
	case f.Type == pds.TypeACKCC:
		w.pairs[f.Ack.SPDCID] = f.Ack.DPDCID
	case f.Type == pds.TypeCP:
		w.pairs[f.Control.SPDCID] = f.Control.DPDCID
	}
	if f.Type == pds.TypeCP && (f.Control.Ctl == pds.CtlCloseCmd || f.Control.Ctl == pds.CtlCloseReq) {
		w.close(f)
	}
	q := &f.Request
	if !f.Form.IsRequest() || q.Flags&ses.FlagSOM == 0 || slices.Contains(w.ids[0], q.MessageID) {
		return
	}
	w.ids[0] = append(w.ids[0], q.MessageID)
	if again := slices.IndexFunc(w.repeated, func(id ses.MessageID) bool { return w.like(id, q) }); again >= 0 {
		w.cookies[q.MessageID] = w.cookies[w.repeated[again]]
		w.repeated = slices.Delete(w.repeated, again, again+1) // this endpoint begins it again by itself
	} else {
		w.start(f)
	}
	w.begun[q.MessageID] = *q
}

// like reports whether the message that was recorded under id is the one of q.
func (w *interop) like(id ses.MessageID, q *ses.Request) bool {
	o := w.begun[id]
	return o.Opcode == q.Opcode && o.Key == q.Key && o.BufferOffset == q.BufferOffset && o.RequestLength == q.RequestLength
}

// close closes the PDC that the recorded endpoint has closed, or has asked its peer to close.
func (w *interop) close(f *frame.Frame) {
	id := w.theirs[f.Control.DPDCID]
	if p := w.pdcOf(f.Control.SPDCID); p != nil {
		id = p.now
	}
	for h := range w.e.PDS().All() {
		if h.ID() == id {
			require.NoError(w.t, w.e.PDS().Close(w.now, h))
		}
	}
	w.transmit()
}

// pdcOf is the PDC that the recorded endpoint has opened with a PDCID last, nil if it has not.
func (w *interop) pdcOf(id pds.PDCID) *interopPDC {
	for _, p := range slices.Backward(w.pdcs) {
		if p.id == id && id != 0 {
			return p
		}
	}
	return nil
}

// start begins the message whose first packet f is, as the recorded endpoint has begun it.
func (w *interop) start(f *frame.Frame) {
	q := &f.Request
	m := uetcc.Message{
		To:  uetcc.Destination{Address: w.dst, Job: q.JobID, PID: q.PIDonFEP, Index: q.Index, Generation: q.Generation},
		Key: q.Key, Offset: q.BufferOffset, Length: q.RequestLength, Cookie: uint64(w.started), Tagged: q.Opcode == ses.OpcodeTaggedSend,
		HasData: q.Flags&ses.FlagHD != 0, HeaderData: q.HeaderData, Initiator: q.Initiator, Swap: q.Swap, Fetch: q.Opcode.IsFetch(),
	}
	switch {
	case f.Type == pds.TypeRODReq:
		m.Mode = ses.ModeROD
	case f.Type == pds.TypeRUDIReq:
		m.Mode = ses.ModeRUDI
	}
	begin := w.e.Write
	switch {
	case q.Opcode == ses.OpcodeRead:
		begin = w.e.Read
	case q.Opcode == ses.OpcodeSend, q.Opcode == ses.OpcodeTaggedSend:
		begin = w.e.Send
	case q.Opcode.IsAtomic():
		begin = w.e.Atomic
	}
	_, err := begin(w.now, &m)
	require.NoError(w.t, err)
	w.cookies[q.MessageID] = m.Cookie
	w.started++
	w.transmit()
}

// transmit takes what the endpoint sends and holds it to what a strict peer asks.
func (w *interop) transmit() {
	out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
	for w.e.Transmit(w.now, &out) {
		w.sent(&out)
	}
	for ev, ok := w.e.Poll(); ok; ev, ok = w.e.Poll() {
		w.events = append(w.events, ev)
	}
}

// sent takes note of a packet of this endpoint.
func (w *interop) sent(d *uetcc.Datagram) {
	var p frame.Packet
	b := append(slices.Clone(d.Packet), make([]byte, d.Payload.Length)...)
	require.NoError(w.t, new(frame.Parser).UDP(b, &p))
	require.NoError(w.t, p.Validate(), "%v", &p)
	switch {
	case p.Type.IsRequest():
		w.sentRequest(&p)
	case p.Type == pds.TypeRUDIReq:
		w.rudi[1] = append(w.rudi[1], interopRUDI{p.RUDI.PktID, p.Request.MessageID, p.Request.MessageOffset})
	case p.Type == pds.TypeCP:
		w.theirs[p.Control.DPDCID] = p.Control.SPDCID
		w.reaches(p.Control.SPDCID, p.Control.PSN)
	case p.Type == pds.TypeACK, p.Type == pds.TypeACKCC:
		w.theirs[p.Ack.DPDCID] = p.Ack.SPDCID
		w.sentACK(&p)
	case p.Type == pds.TypeNACK && p.Nack.Code == pds.NackRODOOO:
		gap := pds.PSN(p.Nack.Payload)
		w.gaps[gap]++
		require.LessOrEqual(w.t, w.gaps[gap], 1, "a gap is told of once")
	}
	if q := &p.Request; p.Form.IsRequest() && q.Flags&ses.FlagSOM != 0 && !slices.Contains(w.ids[1], q.MessageID) {
		w.ids[1] = append(w.ids[1], q.MessageID)
	}
}

// sentRequest takes note of a request of this endpoint, or of its data on the way back.
func (w *interop) sentRequest(p *frame.Packet) {
	q := &p.Req
	if q.Flags&pds.FlagSYN == 0 {
		w.theirs[q.DPDCID] = q.SPDCID
	} else if !slices.ContainsFunc(w.pdcs, func(p *interopPDC) bool { return p.known && p.now == q.SPDCID && p.began == q.StartPSN() }) {
		for ; w.opened >= len(w.pdcs); w.pdcs = append(w.pdcs, &interopPDC{}) {
		}
		x := w.pdcs[w.opened]
		x.now, x.began, x.known, x.sent = q.SPDCID, q.StartPSN(), true, q.StartPSN()
		w.opened++
	}
	w.reaches(q.SPDCID, q.PSN)
	if p.Form == pds.NextResponseData || p.Form == pds.NextResponseDataSmall {
		require.Equal(w.t, pds.NextResponseData, p.Form, "as the request, which was a standard one")
		require.Equal(w.t, p.Reply.ReadRequestID, p.Reply.MessageID)
	}
}

// reaches notes that a PDC of ours has got to psn.
func (w *interop) reaches(id pds.PDCID, psn pds.PSN) {
	for _, p := range w.pdcs {
		if p.known && p.now == id && psn.After(p.sent) && psn.Diff(p.began) >= 0 {
			p.sent = psn
		}
	}
}

// sentACK holds an acknowledgement to what the reference provider demands: whatever it names
// has a response, which is to that.
func (w *interop) sentACK(p *frame.Packet) {
	q, ok := w.asked[p.Ack.AckPSN()]
	if !ok || p.Ack.Flags&pds.FlagP != 0 {
		return
	}
	require.NotEqual(w.t, pds.NextNone, p.Form, "%v", p)
	if p.Form == pds.NextResponse {
		require.Contains(w.t, []ses.MessageID{0, q.MessageID}, p.Reply.MessageID)
		require.Contains(w.t, []ses.JobID{0, q.JobID}, p.Reply.JobID)
		return
	}
	require.Equal(w.t, pds.NextResponseData, p.Form, "as the request, which was a standard one")
	require.Equal(w.t, []ses.MessageID{q.MessageID, q.MessageID}, []ses.MessageID{p.Reply.MessageID, p.Reply.ReadRequestID})
}

// until runs the clock to at, and on until ready, for 60 s at most.
func (w *interop) until(at int64, ready func() bool) {
	for end := max(at, w.now) + 60e9; ; {
		w.transmit()
		next, ok := w.e.NextDeadline()
		switch {
		case ok && next <= max(at, w.now):
			w.now = max(w.now, next)
		case w.now < at:
			w.now = at
			continue
		case ready() || !ok || next > end:
			return
		default:
			w.now = next
		}
		w.e.Tick(w.now)
	}
}

// interopFields are where a frame of the other side speaks of PDCs and PSNs of ours.
type interopFields struct {
	spdcid, dpdcid *pds.PDCID
	psn            *pds.PSN
	last           pds.PSN // the highest PSN that it answers, 0: none
}

// fieldsOf returns the fields of f, nil if it has none.
func fieldsOf(f *frame.Frame) *interopFields {
	ack := func(a *pds.Ack) *interopFields {
		last := a.CACK
		if p := a.AckPSN(); p.After(last) {
			last = p
		}
		return &interopFields{&a.SPDCID, &a.DPDCID, &a.CACK, last}
	}
	switch {
	case f.Type.IsRequest() && f.Req.Flags&pds.FlagSYN == 0:
		return &interopFields{&f.Req.SPDCID, &f.Req.DPDCID, &f.Req.PSN, 0}
	case f.Type == pds.TypeACK, f.Type == pds.TypeACKCC:
		return ack(&f.Ack.Ack)
	case f.Type == pds.TypeACKCCX:
		return ack(&f.AckCCX.Ack)
	case f.Type == pds.TypeNACK && f.Nack.Flags&pds.FlagNT == 0:
		n, unused := &f.Nack.Nack, new(pds.PSN)
		if n.Code == pds.NackUnexpEvent && n.PSN == 0 { // of a control packet that has none
			return &interopFields{&n.SPDCID, &n.DPDCID, unused, 0}
		}
		return &interopFields{&n.SPDCID, &n.DPDCID, &n.PSN, n.PSN}
	case f.Type == pds.TypeCP:
		c := &f.Control
		if c.PSN == 0 {
			return &interopFields{&c.SPDCID, &c.DPDCID, new(pds.PSN), 0}
		}
		return &interopFields{&c.SPDCID, &c.DPDCID, &c.PSN, 0}
	}
	return nil
}

// ready reports whether what a frame speaks of has been sent.
func (w *interop) ready(f *frame.Frame) bool {
	if f.Type == pds.TypeRUDIResp {
		_, ok := w.rudiNow(f.RUDI.PktID)
		return ok
	}
	x := fieldsOf(f)
	if x == nil {
		return true
	}
	p := w.pdcOf(*x.dpdcid)
	return p == nil || p.known && (x.last == 0 || !(x.last+p.delta()).After(p.sent))
}

// An interopRUDI is a RUDI packet, and the part of a message that it brings.
type interopRUDI struct {
	id      uint32
	message ses.MessageID
	offset  uint32
}

// rudiNow returns the pkt_id under which the part of a message that a recorded packet of ours brought goes now: RUDI packets
// are in no order.
func (w *interop) rudiNow(recorded uint32) (id uint32, ok bool) {
	for _, r := range w.rudi[0] {
		for _, n := range w.rudi[1] {
			if r.id == recorded && n.message == r.message && n.offset == r.offset {
				return n.id, true
			}
		}
	}
	return 0, false
}

// translate has a frame speak of what is there now.
func (w *interop) translate(f *frame.Frame) {
	if f.Type == pds.TypeRUDIResp {
		f.RUDI.PktID, _ = w.rudiNow(f.RUDI.PktID)
	}
	if x := fieldsOf(f); x != nil {
		if p := w.pdcOf(*x.dpdcid); p != nil {
			*x.dpdcid = p.now
			*x.psn += p.delta()
		} else if peer := cmp.Or(*x.spdcid, w.pairs[*x.dpdcid]); w.theirs[peer] != 0 {
			*x.dpdcid = w.theirs[peer]
		}
	}
	if f.Form.IsResponse() {
		w.answered(f)
		f.Reply.MessageID, f.Reply.ReadRequestID = w.idOf(f.Reply.MessageID), w.idOf(f.Reply.ReadRequestID)
	}
}

// idOf is the message_id that a message of ours has now.
func (w *interop) idOf(id ses.MessageID) ses.MessageID {
	if i := slices.Index(w.ids[0], id); i >= 0 && i < len(w.ids[1]) {
		return w.ids[1][i]
	}
	return id
}

// answered takes note of what a recorded response says about a message.
func (w *interop) answered(f *frame.Frame) {
	id, code := f.Reply.MessageID, f.Reply.ReturnCode
	cookie, ours := w.cookies[id]
	switch {
	case !ours || code == ses.RCOK || code == ses.RCNull:
	case code == ses.RCNoMatch || code == ses.RCBadGeneration:
		if !slices.Contains(w.repeated, id) {
			w.repeated = append(w.repeated, id)
		}
	case w.refused[cookie] == 0:
		w.refused[cookie] = code
	}
}

// deliver gives the endpoint a frame of the other side, in the terms of now.
func (w *interop) deliver(at int64, f *frame.Frame, payload []byte) {
	w.until(at, func() bool { return w.ready(f) })
	if !w.ready(f) {
		w.unsaid++
		return
	}
	w.translate(f)
	b := append(f.Packet.AppendTo(nil), payload...)
	in := uetcc.Datagram{
		Packet: b, Src: pdc.AddrFrom(f.SrcAddr()), Dst: pdc.AddrFrom(f.DstAddr()), Size: pds.NominalSize(f.TransportLen), CE: f.TOS&3 == 3,
	}
	if f.Form.IsRequest() && f.Type.IsRequest() {
		w.asked[f.Req.PSN] = f.Request
	}
	reply, r := uetcc.Datagram{Packet: make([]byte, 0, w.e.ReplyMax())}, uetcc.Received{}
	w.e.Receive(w.now, &in, &reply, &r)
	if r.Action == ses.ActionPlace && r.Message == 0 {
		copy(w.mem[r.Address:][:r.Length], b[r.Payload:])
	}
	w.expect(f, payload, &r)
	if len(reply.Packet) > 0 {
		w.sent(&reply)
	}
	if r.Answer != 0 {
		require.NoError(w.t, w.e.Answer(w.now, r.Answer, w.mem[r.Address:][:r.Length], &reply))
		w.sent(&reply)
	}
	w.transmit()
}

// expect notes what a write of the other side leaves in memory.
func (w *interop) expect(f *frame.Frame, payload []byte, r *uetcc.Received) {
	if q := &f.Request; f.Form.IsRequest() && q.Opcode == ses.OpcodeWrite && r.Err == nil && r.Code == ses.RCOK {
		for i, b := range payload {
			w.written[q.BufferOffset+uint64(q.MessageOffset)+uint64(i)] = b
		}
	}
}

// finish waits for what is still under way, and compares what came of all with the recording.
func (w *interop) finish() {
	w.until(w.now+1e9, func() bool { return len(w.events) >= w.started })
	done := map[uint64]ses.Outcome{}
	for _, ev := range w.events {
		if !ev.Received {
			done[ev.Cookie] = ev.Outcome
		}
	}
	for cookie := range uint64(w.started) {
		o, ok := done[cookie]
		require.True(w.t, ok, "message %d of %d has not ended", cookie, w.started)
		want := ses.StatusOK
		if w.refused[cookie] != 0 {
			want = ses.StatusFailed
		}
		require.Equal(w.t, want, o.Status, "message %d: %+v", cookie, o)
		require.Equal(w.t, w.refused[cookie], o.Code)
	}
	for at, b := range w.written {
		require.Equal(w.t, b, w.mem[at], "byte %d", at)
	}
	s := w.e.PDS().Stats()
	require.Zero(w.t, s.Malformed)
	require.Zero(w.t, s.Failed)
	require.Zero(w.t, w.unsaid, "frames about what this endpoint has not sent")
	if strings.HasSuffix(w.name, "middle-infer") || strings.HasSuffix(w.name, "burst-infer") {
		require.Positive(w.t, s.Inferred, "losses that the other side's acknowledgements show")
		require.LessOrEqual(w.t, s.Controls, uint64(2), "who does not know the PROBE is not asked again, nor about its window")
	}
}

// replayInterop replays the frames of a recording.
func replayInterop(t *testing.T, name string, all []*recorded) {
	frames, payloads, ours := make([]frame.Frame, len(all)), make([][]byte, len(all)), make([]bool, len(all))
	for i, r := range all {
		wire := unhex(t, r.Frame)
		require.NoError(t, (&frame.Parser{CRC: true}).Ethernet(wire, &frames[i]))
		payloads[i], ours[i] = wire[frames[i].Payload:frames[i].End], r.Dir == "uetcc>ref"
	}
	w := newInterop(t, name, frames, ours)
	for i := range frames {
		switch at := 1e9 + all[i].Us*1000; {
		case ours[i]:
			w.until(at, func() bool { return true })
			w.recordOurs(&frames[i])
		case !all[i].Dropped:
			w.deliver(at, &frames[i], payloads[i])
		}
	}
	w.finish()
}
