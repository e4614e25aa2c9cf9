// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/pds"
)

// EventKind is the kind of an [Event]. The zero value is no event.
type EventKind uint8

const (
	EventNone     EventKind = iota
	EventResponse           // acknowledged by a separate ACK, without a response behind
	EventImplicit           // acknowledged by CACK: the default response, success
	EventError              // will not be delivered, or unknown; with Cause
	EventUp                 // the PDC knows the peer: ESTABLISHED
	EventClosing            // the PDC takes no new messages
	EventClosed             // the PDC has gone; Cause is 0 for a close in order
	EventMessage            // a waiting message has a PDC: Submit the message's packets

	EventRoom        // a control packet has left a window, maybe full before
	EventNegotiation // the peer has sent a NEGOTIATION; Handle is the pds.Features
)

var eventNames = [...]string{"none", "response", "implicit", "error", "up", "closing", "closed", "message", "room",
	"negotiation"}

// String returns the kind in a word.
func (k EventKind) String() string { return enum.Name(eventNames[:], k) }

// Event is a piece of news for the layer above.
type Event struct {
	Handle uint64 // of the packet or message, as submitted; payload of a NEGOTIATION
	PDC    Handle
	PSN    pds.PSN
	Cause  Cause
	Kind   EventKind
	Nack   pds.NackCode // the peer's last code, with CauseNack or a Cause that is such a code
	More   uint16       // EventImplicit: so many packets more, with handles and PSNs counting up
}

// eventRing is a queue of fixed length.
type eventRing struct {
	ring       []Event
	head, tail uint32 // tail - head waits; both 0 when nothing does, so that few events share few cache lines
}

func (r *eventRing) init(n int) { r.ring = make([]Event, ringSize(n)) }

func (r *eventRing) free() int { return len(r.ring) - int(r.tail-r.head) }

func (r *eventRing) push(e Event) {
	if r.free() == 0 {
		panic("pdc: event ring full") // what fills it asks for room first
	}
	r.ring[r.tail&uint32(len(r.ring)-1)] = e
	r.tail++
}

// pop copies field by field, as the fields were written a moment ago: a wider load
// would wait until the narrow stores have left the store buffer.
func (r *eventRing) pop(ev *Event) bool {
	if r.head == r.tail {
		return false
	}
	e := &r.ring[r.head&uint32(len(r.ring)-1)]
	ev.Handle, ev.PDC, ev.PSN, ev.Cause, ev.Kind, ev.Nack, ev.More = e.Handle, e.PDC, e.PSN, e.Cause, e.Kind, e.Nack, e.More
	if r.head++; r.head == r.tail {
		r.head, r.tail = 0, 0
	}
	return true
}

// event tells the layer above about the PDC.
func (m *memory) event(p *PDC, k EventKind, c Cause) {
	m.events.push(Event{Kind: k, PDC: p.handle, Cause: c, Nack: m.said(p, c)})
}

// said is the NACK behind a cause of the failure of p, or 0.
func (m *memory) said(p *PDC, c Cause) pds.NackCode {
	switch {
	case c == CauseNack:
		return m.shortage[p.slot()].nack
	case c < CauseRTO:
		return pds.NackCode(c)
	}
	return 0
}
