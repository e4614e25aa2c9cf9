// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"math"

	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// Context is one congestion control context at its source. A Context is a value of 240
// bytes without pointers, to lie in a slab. Single writer. A Context is
// usable only after [Context.Init]; all calls must then bring the
// same Params.
//
// Invariants, where B and R are the unsent and the marked bytes (backlog and rtx_backlog)
// of the bound PDCs: [Context.Backlog] = sum of B; [Context.RtxBacklog] = sum of R, 0 if
// and only if no packet is marked; [Context.State] follows from these, the packets in
// flight, and [Context.Decide] as the last event left them.
//
// A call that takes away more than was added (a size other than counted, a packet unmarked
// twice) panics: with a wrong backlog a context would never send or never stop.
type Context struct {
	// The first cache line is for events that are not plain.
	credit     rccc.Source
	allow      int64 // the allowance of the user's algorithm, bytes
	notBefore  int64 // and from when on
	rtxBacklog int64 // marked for retransmission, bytes; 0 where waitingRtx is

	// The next three lines are for every event: all of the window but the first eight bytes, and 16
	// bytes left for the Entropy that follows in a seat.
	window nscc.Window
	waits  int64 // to send, new and marked for retransmission, bytes

	// inflight_pkts: packets now in flight. Signed, since a NACK and an acknowledgement of the same
	// packet may cross.
	inflightPkts int32
	waitingRtx   int32 // marked for retransmission, packets

	waiters Waiters // kept by the manager's user
	state   State
	why     Reason // the reason that data waits, as of the last event
	how     how    // kept by the manager
	holds   Reason // kept by the manager: what data has waited for since the last event; ReasonBacklog: nothing
	rec     record // kept by the manager
	handle  Handle // kept by the manager
	pdcs    uint16 // bound PDCs
	mode    Mode
	bounded bool // the user's algorithm has a say: allow and notBefore count
}

// Waiters is the list of PDCs waiting for a context, by index; 0 ends the list. The owner
// of the PDCs keeps the list and the links. Waiters lies with the context's counters
// because each sending looks there.
type Waiters struct{ Head, Tail uint16 }

// Init configures c: the window at its initial size, nothing counted, not bound. baseRTT is the
// base round trip (ns) found by an earlier context to the same destination, see
// [Context.BaseRTT], which saves the probe; 0 is none.
func (c *Context) Init(p *Params, now, baseRTT int64) {
	*c = Context{mode: p.mode}
	c.allowAll()
	c.window.Init(&p.nscc, now, baseRTT)
	if p.credit {
		c.credit.Init(&p.rccc)
	}
}

// State returns the run state as of the last event.
func (c *Context) State() State { return c.state }

// Reason returns the cause that kept all data from being sent after the last event, or
// would have in ModeEnforce; ReasonBacklog for none.
func (c *Context) Reason() Reason { return c.why }

// SetMode changes the mode at any time. Counters go on in every mode, so a context turned
// on enforces a true count of bytes in flight at once.
func (c *Context) SetMode(p *Params, now int64, m Mode) {
	c.mode = m
	c.evaluate(p, now)
}

// PDCs returns how many PDCs are bound.
func (c *Context) PDCs() int { return int(c.pdcs) }

// Backlog returns the unsent new data of all bound PDCs, bytes.
func (c *Context) Backlog() int64 {
	if c.waitingRtx == 0 {
		return c.waits
	}
	return c.waits - c.rtxBacklog
}

// RtxBacklog returns rtx_backlog, the bytes marked for retransmission.
func (c *Context) RtxBacklog() int64 { return c.rtxBacklog }

// WaitingRtx returns waiting_rtx, the packets marked for retransmission.
func (c *Context) WaitingRtx() int { return int(c.waitingRtx) }

// InflightPackets returns the packets now in flight.
func (c *Context) InflightPackets() int { return int(c.inflightPkts) }

// Inflight returns the bytes now in flight. The count may be slightly negative, see
// [nscc.Window].
func (c *Context) Inflight() int64 { return c.window.Inflight() }

// Cwnd returns the congestion window, bytes.
func (c *Context) Cwnd() int64 { return c.window.Cwnd() }

// Credit returns the balance of receiver credit, bytes, maybe negative.
func (c *Context) Credit() int64 { return c.credit.Credit() }

// CreditTotal returns the cumulative credit received, bytes: the reference to extend the
// wire's credit field with (see [rccc.Quanta.Extend], and [Standing] where RCCC takes no
// part).
func (c *Context) CreditTotal() int64 { return c.credit.Cum() }

// BaseRTT returns the smallest round trip seen, ns: the argument for Init.
func (c *Context) BaseRTT() int64 { return c.window.BaseRTT() }

// Window returns the whole state of the window.
func (c *Context) Window() nscc.Snapshot { return c.window.Snapshot() }

// Bind adds a PDC to the PDCs of c.
func (c *Context) Bind(p *Params, now int64) {
	mustHold(c.Cwnd() > 0 && c.pdcs < math.MaxUint16,
		"ccc: Bind to a context without Init, or to one of 65,535 PDCs")
	c.pdcs++
	c.evaluate(p, now)
}

// Left is the rest of a PDC when unbound: unsent bytes, packets marked for retransmission,
// and packets in flight without further news.
type Left struct {
	Backlog         int64
	RtxBacklog      int64
	Inflight        int64 // bytes; negative if more was acknowledged than sent
	WaitingRtx      int32
	InflightPackets int32
}

// Unbind takes a PDC away and the PDC's rest out of the counters; the window does not move
// for packets in flight that leave without a verdict. The result reports whether c can be
// freed: the last PDC has gone and the context is idle.
func (c *Context) Unbind(p *Params, now int64, l Left) (last bool) {
	mustHold(c.pdcs > 0, "ccc: Unbind of a context without PDCs")
	c.pdcs--
	c.withdraw(l.Backlog)
	c.unmark(l.WaitingRtx, l.RtxBacklog)
	c.window.OnSend(-l.Inflight)
	c.inflightPkts -= l.InflightPackets
	c.evaluate(p, now)
	return c.pdcs == 0 && c.state == StateIdle
}

// evaluate brings the state up to date, and the reason why data waits: the part of
// [Context.Decide] needed in every event. Every event ends with evaluate.
//
//uetcc:hot nobounds
func (c *Context) evaluate(p *Params, now int64) {
	if p.credit {
		c.credit.Settle(&p.rccc, now, c.waits)
	}
	why := c.refusal(p)
	if why == ReasonBacklog && c.bounded && c.waits != 0 {
		why = c.objection(now)
	}
	c.conclude(why)
}

// conclude is the state that follows from the reason why data waits.
//
//uetcc:hot inlines nobounds
func (c *Context) conclude(why Reason) {
	admitted := why == ReasonBacklog || c.mode != ModeEnforce && c.pdcs != 0
	c.why, c.state = why, nextState(c.waits > 0, c.inflightPkts > 0, admitted)
}

// refusal is the reason against sending, except a user's algorithm; ReasonBacklog for
// none.
//
//uetcc:hot
func (c *Context) refusal(p *Params) Reason {
	switch {
	case c.waits == 0:
		return ReasonBacklog
	case c.pdcs == 0:
		return ReasonUnbound
	case c.mode == ModeOff:
		return ReasonOff
	case p.window && !c.window.CanSend(&p.nscc, min(c.waits, p.mtu)):
		return ReasonWindow
	case p.credit && !c.credit.CanSend():
		return ReasonCredit
	default:
		return ReasonBacklog
	}
}

// withdraw takes size bytes away from the unsent new data.
func (c *Context) withdraw(size int64) {
	less(c.Backlog(), size)
	c.waits -= size
}

// unmark takes n packets of size bytes together out of the packets waiting for
// retransmission. Both counters reach 0 together, or a size was wrong.
//
//uetcc:hot nobounds
func (c *Context) unmark(n int32, size int64) {
	if n == 0 && size == 0 {
		return
	}
	c.waitingRtx = less(c.waitingRtx, n)
	c.rtxBacklog = less(c.rtxBacklog, size)
	c.waits -= size
	mustHold((c.waitingRtx == 0) == (c.rtxBacklog == 0), "ccc: sizes of marked packets do not add up")
}

// held is the reason that data waits, ReasonBacklog for none.
func (c *Context) held() Reason {
	if c.state == StateActive {
		return c.why
	}
	return ReasonBacklog
}

// less is counter - n, where n is part of the count.
func less[T int32 | int64](counter, n T) T {
	mustHold(n >= 0 && n <= counter, "ccc: more taken from a counter than it holds")
	return counter - n
}

// mustHold panics unless ok: the caller has broken a rule of [Context].
func mustHold(ok bool, what string) {
	if !ok {
		panic(what)
	}
}

// State is the run state of a context. A State has no memory, following from the present
// alone. Source: UE Specification 1.0.x section 3.6.12.
type State uint8

const (
	StateIdle    State = iota // nothing to send, nothing in flight
	StatePending              // nothing to send, acknowledgements outstanding
	StateActive               // something to send, not allowed now
	StateReady                // something to send and allowed: on the ready list

	states = iota
)

var stateNames = [states]string{"IDLE", "PENDING", "ACTIVE", "READY"}

// String returns the specification's name.
func (s State) String() string { return enum.Name(stateNames[:], s) }

// nextState is the run state machine of UE Specification 1.0.x section 3.6.12.
func nextState(toSend, outstanding, admitted bool) State {
	switch {
	case !toSend && !outstanding:
		return StateIdle
	case !toSend:
		return StatePending
	case !admitted:
		return StateActive
	default:
		return StateReady
	}
}

// Mode says how much a context has to say.
type Mode uint8

const (
	ModeEnforce Mode = iota // decides
	ModeObserve             // computes all decisions, and refuses nothing
	ModeOff                 // counts, takes probes, but leaves the window alone, and refuses nothing

	modes = iota
)

var modeNames = [modes]string{"enforce", "observe", "off"}

// String returns the mode's name in lower case.
func (m Mode) String() string { return enum.Name(modeNames[:], m) }

// Control is the set of specified algorithms of a context. Each must consent to a packet.
type Control uint8

const (
	ControlNSCC Control = iota // the window
	ControlRCCC                // the receiver's credit
	ControlBoth                // both
	ControlNone                // neither: the user's [Algorithm] alone

	controls = iota
)

var controlNames = [controls]string{"nscc", "rccc", "nscc+rccc", "none"}

// String returns the algorithms' names in lower case.
func (c Control) String() string { return enum.Name(controlNames[:], c) }

func (c Control) nscc() bool { return c == ControlNSCC || c == ControlBoth }
func (c Control) rccc() bool { return c == ControlRCCC || c == ControlBoth }
