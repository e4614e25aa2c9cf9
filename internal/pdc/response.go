// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/pds"
)

// ResponseMax is the longest response that can always be kept: a response header with data
// and 16 bytes, the default of Max_ACK_Data_Size. Longer responses need a place of
// [MemoryConfig].LongResponses.
const ResponseMax = dataHeaderLen + 16

// dataHeaderLen is the length of the header of a response with data.
const dataHeaderLen = 20

// respState is the next event of a stored response.
type respState uint8

const (
	respNone     respState = iota // slot 0: no response
	respPending                   // the layer above works on the request
	respBuffered                  // held back by an ordered PDC: behind a gap, or in turn now
	respStored                    // CLEAR from the peer
)

// A response is a PSN that CACK must not pass: the answer is still owed.
type response struct {
	psn   pds.PSN
	data  [ResponseMax]byte // while respPending, the time of arrival, ns
	len   uint16            // of data; while respBuffered, the number of the buffer
	long  uint16            // place of a response longer than data, 0: none
	hdr   pds.NextHdr
	state respState
	flags pds.Flags // of the request: FlagRetx, FlagM
}

// responseStore hands out responses. Slot i belongs to the PDC with id i and only takes the
// PDC's lowest missing PSN, so a full store never blocks the packet that everything waits
// for. The rest is shared: a PDC gets one more slot, or one more buffer, only while more
// are free than the PDC has, so a peer clearing nothing, or filling no gap, leaves half to
// others.
type responseStore struct {
	slot  []response // 0 is the end of a list
	links list.Links[uint32]
	free  list.List[uint32]
	spare uint32 // slots in free
	pdcs  uint32
	long  longResponses

	buffers []uint16 // numbers of free buffers
}

func (s *responseStore) init(pdcs, shared, buffers int) {
	s.slot, s.links = slab.Make[response](1+pdcs+shared), list.Make[uint32](pdcs+shared)
	s.pdcs, s.spare = uint32(pdcs), uint32(shared)
	for i := pdcs + 1; i < len(s.slot); i++ {
		s.links.Push(&s.free, uint32(i))
	}
	for s.buffers = slab.Make[uint16](buffers)[:0]; len(s.buffers) < buffers; {
		s.buffers = append(s.buffers, uint16(buffers-len(s.buffers)))
	}
}

// available reports whether the PDC of l can store a response, for the lowest missing PSN
// or for any other.
func (s *responseStore) available(l *respList, lowest bool) bool {
	return uint32(l.shared) < s.spare || lowest && !l.ownUsed
}

// take returns a slot promised by available.
func (s *responseStore) take(pdc uint32, l *respList) uint32 {
	if uint32(l.shared) >= s.spare {
		l.ownUsed = true
		return pdc
	}
	i := s.free.Head
	s.links.Remove(&s.free, i)
	s.spare--
	l.shared++
	return i
}

// respList is the list of a PDC, in order of PSN.
type respList struct {
	list.List[uint32]
	ownUsed  bool   // the PDC's own slot is in use
	heard    bool   // a packet from the peer since last asked to clear
	asked    uint8  // number of questions about Head, each followed by a packet of the peer
	tells    uint8  // control packets allowed to a peer known only by SYN packets
	shared   uint16 // slots from the shared part
	buffered uint16 // slots with a buffer
}

// insert puts slot i into l. Almost always the slot goes to the end.
func (s *responseStore) insert(l *respList, i uint32) {
	at := l.Tail
	for at != 0 && s.slot[at].psn.After(s.slot[i].psn) {
		at = s.links.Prev(at)
	}
	if s.links.Insert(&l.List, at, i); at == 0 {
		l.asked = 0
	}
}

// remove takes slot i out of l and frees the slot.
func (s *responseStore) remove(l *respList, i uint32) {
	s.shorten(i)
	s.unbuffer(l, i)
	if i == l.Head {
		l.asked = 0
	}
	s.links.Remove(&l.List, i)
	if i <= s.pdcs {
		l.ownUsed = false
		return
	}
	s.links.Insert(&s.free, 0, i) // the last used is the next, as the lines may be near
	s.spare++
	l.shared--
}

// find returns the slot of psn, or 0.
func (s *responseStore) find(l *respList, psn pds.PSN) uint32 {
	for i := l.Head; i != 0; i = s.links.Next(i) {
		if s.slot[i].psn == psn {
			return i
		}
	}
	return 0
}

// freeAll empties l.
func (s *responseStore) freeAll(l *respList) {
	for l.Head != 0 {
		s.remove(l, l.Head)
	}
}

// longResponses are the places of responses longer than [ResponseMax]: read data, up to
// Max_ACK_Data_Size. The places are few, since each is large; without a free place the data
// goes in separate packets.
type longResponses struct {
	bytes []byte
	size  int      // of a place
	next  []uint16 // free list, by number; place 0 is never handed out
	free  uint16
}

func (s *longResponses) init(n, size int) {
	if n == 0 {
		return
	}
	s.bytes, s.size, s.next = make([]byte, n*size), size, make([]uint16, n+1)
	for i := n; i > 0; i-- {
		s.next[i], s.free = s.free, uint16(i)
	}
}

// fits reports whether the store has a place for a response to a request of p. A peer known
// only by SYN packets gets no long response: repeated forged packets could flood a victim.
func (s *responseStore) fits(p *PDC, a *Response) bool {
	return max(len(a.Bytes), int(a.Room)) <= ResponseMax || s.long.free != 0 && !p.is(flagUnproven)
}

// reserve gives slot i a place for n bytes, if needed and missing.
func (s *responseStore) reserve(i uint32, n int) bool {
	r := &s.slot[i]
	if n <= ResponseMax || r.long != 0 {
		return true
	}
	if r.long = s.long.free; r.long == 0 {
		return false
	}
	s.long.free = s.long.next[r.long]
	return true
}

// shorten takes back the place of slot i, if any.
func (s *responseStore) shorten(i uint32) {
	if r := &s.slot[i]; r.long != 0 {
		s.long.next[r.long], s.long.free = s.long.free, r.long
		r.long = 0
	}
}

// put stores the bytes of a response in slot i; checked before by fits or reserve.
func (s *responseStore) put(i uint32, b []byte) {
	if s.reserve(i, len(b)); len(b) <= ResponseMax {
		s.shorten(i)
	}
	s.slot[i].len = uint16(len(b))
	copy(s.stored(i), b)
}

// stored returns the response in slot i.
func (s *responseStore) stored(i uint32) []byte {
	r := &s.slot[i]
	if r.long != 0 {
		return s.long.bytes[int(r.long-1)*s.long.size:][:r.len]
	}
	return r.data[:r.len]
}

// With Config.BufferROD requests of an ordered PDC that come ahead of a gap are kept by
// the caller, in buffers numbered and counted by the manager. Only marks lie here: owed
// responses that hold CACK back, as for a request that the layer above works on.

// buffer gives slot i, just taken for l, a buffer. A buffer must be free.
func (s *responseStore) buffer(l *respList, i uint32) uint16 {
	last := len(s.buffers) - 1
	n := s.buffers[last]
	s.buffers = s.buffers[:last]
	s.slot[i].len = n
	l.buffered++
	return n
}

// unbuffer takes back the buffer of slot i, if any: the layer above has the request.
func (s *responseStore) unbuffer(l *respList, i uint32) {
	if e := &s.slot[i]; e.state == respBuffered {
		s.buffers = append(s.buffers, e.len) // within the capacity
		l.buffered--
		e.state, e.len = respPending, 0
	}
}

// Buffered returns how many requests are buffered.
func (m *Manager) Buffered() int {
	return cap(m.mem.responses.buffers) - len(m.mem.responses.buffers)
}

// buffer takes a request of an ordered PDC ahead of its turn.
func (t *target) buffer(p *PDC, b *inbound, out []byte, r *Result) error {
	s := &t.mem.responses
	if int(p.resp.buffered) >= len(s.buffers) {
		t.reply.nackPDC(p, b, out, r, pds.NackNoPktBuffer)
		return ErrNoBuffer
	}
	r.Verdict, r.Buffer = VerdictBuffered, s.buffer(&p.resp, t.mem.hold(p, b, respBuffered))
	t.accept(p, b.psn, b.size, b.payload)
	if t.reply.ackAsked(b.flags, b.ce) || t.reply.ackDue(p) {
		r.Reply = t.reply.ackUnanswered(p, b, out)
	}
	return nil
}

// turnDue returns the slot of the lowest buffered request of p, if no gap is left before,
// otherwise 0.
func (m *memory) turnDue(p *PDC) uint32 {
	s := &m.responses
	for i := p.resp.Head; i != 0 && p.rx.Missing().After(s.slot[i].psn); i = s.links.Next(i) {
		if s.slot[i].state == respBuffered {
			return i
		}
	}
	return 0
}

// turn is called when a gap may have closed: p is put on the list of Replay.
func (t *target) turn(p *PDC) {
	if !p.is(flagTurn) && t.mem.turnDue(p) != 0 {
		p.flags |= flagTurn
		t.turns.push(p)
	}
}

// Replay names a buffered request ([VerdictBuffered]) whose turn has come: id is for
// Respond, buffer the place. Once answered the buffer is free. After [RespondRefuse] the
// request stays there and comes again, after requests of other PDCs. The buffer 0 means
// no request.
//
// Until the answer, packets behind the request on the same PDC are buffered too.
func (m *Manager) Replay() (id RxID, buffer uint16) {
	for m.target.turns.len() != 0 {
		p := &m.pdc[m.target.turns.next()]
		if live(p.state) {
			if i := m.mem.turnDue(p); i != 0 {
				e := &m.mem.responses.slot[i]
				return RxID{p.handle, e.psn}, e.len
			}
		}
		m.target.turns.head++
		p.flags &^= flagTurn
	}
	return RxID{}, 0
}

// respondBuffered takes the answer to a buffered request. done means nothing is left to
// do; otherwise the request now counts as handed up.
func (t *target) respondBuffered(now int64, p *PDC, i uint32, a *Response, out []byte) (n int, done bool, err error) {
	s := &t.mem.responses
	switch {
	case !p.rx.Missing().After(s.slot[i].psn):
		return 0, true, ErrStale
	case a.Kind == RespondRefuse:
		if p.is(flagTurn) && t.turns.next() == p.handle.ID() {
			t.turns.head++
			t.turns.push(p)
		}
		return 0, true, nil
	case !s.fits(p, a):
		return 0, true, ErrNoStore
	}
	s.unbuffer(&p.resp, i)
	if a.Kind != RespondLater {
		return 0, false, nil
	}
	t.postpone(now, i, a)
	if t.reply.moreDue(p) {
		return 0, true, nil
	}
	return t.reply.ackUnanswered(p, &inbound{state: a.State}, out), true, nil
}

// moreDue reports whether an acknowledgement may wait for the answer to another buffered
// request: one acknowledgement for all packets behind a gap is enough.
func (w *answers) moreDue(p *PDC) bool { return w.mem.turnDue(p) != 0 && !w.ackDue(p) }

// clearReqWait is the number of PDS_Clear_Times a target waits for a CLEAR before asking.
// The initiator sends a CLEAR unasked after a PDS_Clear_Time, in a CLEAR_CMD without
// acknowledgement: if lost on a quiet PDC, the response would stay in the store shared by
// all PDCs.
const clearReqWait = 4

// clearAsks is the number of questions in vain, each followed by another packet of the
// peer, before the PDC is closed. An honest peer fails when question or answer is lost:
// with every third packet lost, so many times in a row once in 10^10.
const clearAsks = 32

// clearMissing asks the initiator to clear the uncleared responses, less and less often
// during silence, and not when the timer has expired for a CLEAR_CMD of the target. An initiator that
// never clears is asked to close, ending the PDC with or without obedience.
func (rec *recovery) clearMissing(now int64, p *PDC) {
	at := &rec.mem.askAt[p.slot()]
	if p.is(flagInitiator) || rec.mem.responses.slot[p.resp.Head].state != respStored {
		*at = never
		return
	}
	if *at > now {
		rec.timer.aux(p, now, *at)
		return
	}
	if p.state == StateEstablished && rec.target.hoards(now, p) {
		rec.stats.Hoarded++
		rec.life.askClose(now, p)
	}
	if p.rx.Missing().After(rec.mem.responses.slot[p.resp.Head].psn) { // else the initiator cannot clear the response
		rec.sched.control(p, ctlClearReq)
	}
	wait := min(max(clearReqWait*rec.p.c.ClearTime, now-p.activeAt), rtoMax)
	*at = deadline.After(now, deadline.Backoff(wait, 3*p.refusals, rtoMax))
	rec.timer.aux(p, now, *at)
}

// hoards reports whether the peer of p, asked before, has left the same response uncleared
// for as long as the wait for a silent peer, and often enough.
//
// The count goes on only while nothing but the same response holds CACK: every answer about
// the response enables the peer to clear, and a peer without an answer asks. Silence does
// not count: a silent peer may hear nothing. p.lapse is the start of the count.
//
// The specification has no such rule. Against a peer taking responses without clearing the
// specification has a bounded store, the CLEAR_REQ, and the refusal of new requests
// (NO_GTD_DEL_AVAIL); hoards is for a peer that goes on all the same.
func (t *target) hoards(now int64, p *PDC) bool {
	l, unit := &p.resp, uint32(now/lapseUnit)
	if !p.rx.Missing().After(t.mem.responses.slot[l.Head].psn) {
		l.asked = 0
		return false
	}
	if l.asked == 0 {
		l.asked, l.heard, p.lapse = 1, false, unit
		return false
	}
	if !l.heard {
		return false
	}
	l.asked, l.heard = min(l.asked+1, clearAsks), false
	return l.asked == clearAsks && int64(unit-p.lapse)*lapseUnit > 2*t.p.c.IdleTime
}

// remind repeats the response that the peer of p was asked to clear, if the peer reports
// less cleared: then the response was not seen. The peer would ask in the end, but perhaps
// only after the longest timeout, or when congestion control allows.
func (w *answers) remind(p *PDC, b *inbound, out []byte) int {
	i := p.resp.Head
	if p.resp.asked == 0 || i == 0 || !p.rx.Missing().After(w.mem.responses.slot[i].psn) {
		return 0
	}
	// Not like the copy accepted, so the time is no round trip.
	return w.ackStored(p, i, w.mem.responses.slot[i].flags^pds.FlagRetx, &b.state, out)
}
