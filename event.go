// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"net/netip"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// An Event is the end of a message started by the endpoint: exactly one for each.
//
// With Unpaused the Event says only that messages may be started again after
// [pdc.ErrPaused].
//
// With Received the Event is the end of a peer's message without further [Received]. Cookie
// is the receive buffer's or region's. Either the rest of a rendezvous send has been read,
// and Outcome.Length is the bytes in the buffer; or the PDC ended before the message was
// whole, and Outcome.Status is ses.StatusPDS.
//
// Of a failed read Outcome.Length is the number of bytes arrived and placed.
type Event struct {
	Message Handle // 0 with Received
	Cookie  uint64
	Peer    netip.Addr // the peer; none with Unpaused
	Outcome ses.Outcome

	// Cause is the reason, with ses.StatusPDS; with Received CauseNone, if the peer closed
	// the PDC. Outcome.Cause has only the low eight bits, too few to tell the causes apart.
	Cause pdc.Cause

	// Nack is the peer's code, with CauseNack or a Cause that is such a code; 0: none.
	Nack pds.NackCode

	Unpaused   bool
	Received   bool
	HasData    bool // with Received: HeaderData is for the local completion
	HeaderData uint64
}

// Poll takes the oldest completion, or false. The end of a pause comes last, after all other
// completions.
func (e *Endpoint) Poll() (ev Event, ok bool) {
	s := &e.source
	if c := s.events.first(); c != nil {
		c.tell(&ev)
		s.events.drop()
		return ev, true
	}
	if s.pause != pauseOver {
		return ev, false
	}
	s.pause, ev.Unpaused = pauseNone, true
	return ev, true
}

// pause says whether messages are kept from beginning because too many wait for a PDC:
// pds_pause of specification table 3-27.
type pause uint8

const (
	pauseNone pause = iota
	pauseOn         // a message was refused
	pauseOver       // and would not be now: Poll has to say so
)

// unpause notes that one message fewer waits for a PDC.
func (s *source) unpause() {
	if s.pause == pauseOn {
		s.pause = pauseOver
	}
}

// A completion is an [Event] without a pointer.
type completion struct {
	message    Handle
	cookie     uint64
	headerData uint64
	peer       pdc.Addr
	outcome    ses.Outcome
	cause      pdc.Cause
	nack       pds.NackCode
	received   bool
	hasData    bool
}

// completions is a ring with room for the end of each message that can be in progress on both
// sides, and for half as many at least that have ended: a message begins only while no more wait.
type completions struct {
	ring       []completion
	head, tail uint32 // both 0 when nothing waits, so that few completions share few cache lines
	most       int    // that may wait when a message begins
}

func (r *completions) init(messages int) {
	size := 1
	for size < messages+messages/2 {
		size *= 2
	}
	r.ring, r.most = make([]completion, size), size-messages
}

func (r *completions) len() int   { return int(r.tail - r.head) }
func (r *completions) room() bool { return r.len() < r.most }

// push returns the place of another completion, which holds an old one.
func (r *completions) push() *completion {
	c := &r.ring[r.tail&uint32(len(r.ring)-1)]
	r.tail++
	return c
}

// first returns the oldest completion, nil if there is none.
//
//uetcc:hot inlines
func (r *completions) first() *completion {
	if r.head == r.tail {
		return nil
	}
	return &r.ring[r.head&uint32(len(r.ring)-1)]
}

// drop forgets the oldest completion.
//
//uetcc:hot inlines nobounds
func (r *completions) drop() {
	if r.head++; r.head == r.tail {
		r.head, r.tail = 0, 0
	}
}

// tell fills in ev, which is zero.
//
//uetcc:hot
func (c *completion) tell(ev *Event) {
	ev.Message, ev.Cookie, ev.Outcome, ev.Cause, ev.Nack = c.message, c.cookie, c.outcome, c.cause, c.nack
	ev.Received, ev.HasData, ev.HeaderData = c.received, c.hasData, c.headerData
	if c.peer != (pdc.Addr{}) {
		ev.Peer = c.peer.Netip()
	}
}
