// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"math"

	"github.com/uetcc/uetcc/internal/deadline"
)

// Source is the sending half of one congestion control context: the balance of
// credit and the destination's newest cumulative credit.
//
// A Source is a small value without pointers, to be embedded in the context's;
// [Source.Init] makes a Source ready, the zero Source may not send. Single writer. Use a
// Source only with the Params of Init.
//
// Invariants: credit <= W, or what Reach makes of it; credit > -MTU when no packet is larger than MTU;
// cum never falls.
type Source struct {
	credit  int64  // balance, bytes; signed: the last packet may overdraw
	cum     int64  // newest cumulative credit seen, bytes
	due     int64  // when to ask for credit, ns; meaningful while armed
	since   uint32 // when the timer started, ns modulo 2^32
	usual   uint16 // how long credit has taken to come lately, units of 1,024 ns
	backoff uint8  // requests since the last newer credit
	is      sourceFlags
}

// sourceFlags are the states of a source, and above them the reach. Bits keep a source within 32 bytes.
type sourceFlags uint8

const (
	startup   sourceFlags = 1 << iota // the balance is self-granted
	armed                             // the request timer runs
	granted                           // newer credit came since Settle
	reachUnit                         // the bits from here on are how often the path has room for twice the credit
)

// reach is how often W and the demand are doubled, see [Source.Reach].
func (f sourceFlags) reach() uint8 { return uint8(f / reachUnit) }

func (f sourceFlags) has(bit sourceFlags) bool { return f&bit != 0 }

func (f *sourceFlags) set(bit sourceFlags, on bool) {
	if *f &^= bit; on {
		*f |= bit
	}
}

// Demand is the data that a context would like to send when asking for credit. Bytes are
// at most 2^61, a value that may stand for no end.
type Demand struct {
	Backlog  int64 // unsent new data, bytes, nominal
	Rtx      int64 // data marked for retransmission, bytes, nominal
	Cwnd     int64 // congestion window in bytes; 0 when no window applies
	Contexts int64 // contexts competing for the NIC port now; 0 and 1 mean alone
}

// Init starts a context: the initial credit is available, nothing was granted.
func (s *Source) Init(p *Params) {
	*s = Source{credit: p.initialCredit}
	if p.countInitial {
		s.cum = p.initialCredit
	} else {
		s.is = startup
	}
}

// Reach takes the round trip measured without queues, ns: a source whose path is longer than Config.RTT may hold and ask
// for as many times the credit, in powers of two, up to 2^29 bytes. A destination follows as the credit is used. For
// a path whose round trip is a guess: a peer can answer late.
func (s *Source) Reach(p *Params, rtt int64) {
	for n := s.is.reach(); n < p.mostReach && (rtt-1)>>n >= p.rtt; n++ { // rtt > p.rtt<<n
		s.is += reachUnit
	}
}

// CanSend reports whether a packet may leave, of any size.
//
//uetcc:hot inlines nobounds
func (s *Source) CanSend() bool { return s.credit > 0 }

// Credit returns the balance in bytes. After an overdraft by the last packet the balance
// is negative by less than a packet.
func (s *Source) Credit() int64 { return s.credit }

// Cum returns the newest cumulative credit seen, in bytes: the reference for
// [Quanta.Extend].
func (s *Source) Cum() int64 { return s.cum }

// Startup reports whether the context still spends credit nobody granted.
func (s *Source) Startup() bool { return s.is.has(startup) }

// OnSend charges a packet of size nominal bytes, new or retransmitted.
//
//uetcc:hot inlines nobounds
func (s *Source) OnSend(size int64) { s.credit -= size }

// OnACK takes an acknowledgement as the sign that the destination knows the context: the
// startup ends.
//
//uetcc:hot inlines nobounds
func (s *Source) OnACK() { s.endStartup() }

// OnLoss is called after a packet was marked for retransmission, because the
// destination refused it or the source concluded a loss: the startup ends.
//
//uetcc:hot nobounds
func (s *Source) OnLoss() { s.endStartup() }

// OnNoPDC is OnLoss for a packet of size bytes for which the destination had no
// delivery context. The destination has no credit state then either and would not grant,
// so the startup goes on and the packet's charge is given back. After the startup only
// the packet's debt is given back: a source whose new delivery context is refused again
// and again must not sink.
//
//uetcc:hot nobounds
func (s *Source) OnNoPDC(p *Params, size int64) {
	if s.Startup() {
		s.credit = min(s.credit+size, p.initialCredit)
	} else {
		s.credit = max(s.credit, min(s.credit+size, 0))
	}
}

// endStartup voids the rest of the self-granted credit; an overdraft stays as a debt.
func (s *Source) endStartup() {
	if s.Startup() {
		s.is.set(startup, false)
		s.credit = min(s.credit, 0)
	}
}

// OnCreditUpdate takes a cumulative credit of total bytes brought by an ACK_CC or a
// Credit control packet (see [Quanta.Extend]) and returns the increment in bytes: total
// minus the known total. 0 means no news: a duplicate, an overtaken message, or a jump
// impossible for an honest destination with the same W. A destination with a larger W may jump when
// grants are lost: such a total is the answer where requests have been in vain before. The
// balance grows by the increment up to W.
//
//uetcc:hot nobounds
func (s *Source) OnCreditUpdate(p *Params, total int64) int64 {
	s.endStartup()
	step := total - s.cum
	if step <= 0 || step > p.maxStep<<s.is.reach() && s.backoff < doubtful {
		return 0
	}
	s.credit = min(s.credit+step, p.maxCredit<<s.is.reach())
	s.cum = total
	s.is |= granted
	s.backoff = 0
	return step
}

// doubtful is the number of requests in vain after which a jump is believed.
const doubtful = 2

// Note takes a cumulative total of bytes in the same field that is not receiver credit,
// as in transport flow control. Only [Source.Cum] follows, backwards too; the meaning is
// the user's.
func (s *Source) Note(total int64) { s.cum = total }

// Target returns the cumulative credit that the source would like to reach, in bytes, a
// whole number of quanta. Call Target after the packet carrying the target was charged
// and left the backlog. A target below Cum means no demand.
//
//uetcc:hot nobounds
func (s *Source) Target(p *Params, d Demand) int64 {
	want := d.Backlog + d.Rtx
	if d.Cwnd > 0 {
		want = min(want, d.Cwnd+p.mtu)
	}
	need := min(want, p.maxDemand<<s.is.reach()) - s.credit
	if s.Startup() && d.Backlog > 0 {
		need = max(need, p.mtu)
	}
	if d.Contexts > 1 {
		need /= d.Contexts
	}
	return roundUp(s.cum + need)
}

// A source whose credit is spent depends on a message nothing
// retransmits. The request timer closes the gap: the timer runs while data waits and no credit
// is left, and on firing the source repeats the target in a Credit Request.

// Settle brings the request timer in line with the present state: call Settle at the end of
// every event, with the waiting bytes (new and for retransmission). The timer starts when data
// waits without credit, runs for an RTT, or twice the latest wait for credit if longer, and
// stops when nothing waits any more or credit has come. A running timer is left alone. One that starts after
// requests in vain has a few left.
func (s *Source) Settle(p *Params, now, waiting int64) {
	starved := waiting > 0 && s.credit <= 0
	running := s.is.has(armed)
	if starved == running && !s.is.has(granted) {
		return
	}
	if !starved && !running {
		s.is.set(granted, false)
		return
	}
	if running && s.is.has(granted) {
		took := max(int32(uint32(now)-s.since), 0) / usualUnit
		s.usual = uint16(min(max(int32(s.usual)*7/8, took), math.MaxUint16))
	}
	s.is.set(granted, false)
	s.is.set(armed, starved)
	if starved && s.InVain() { // the data that waited has been given up, and the path may be back since
		s.backoff = hopeful
	}
	s.since = uint32(now)
	s.due = deadline.After(now, s.requestDelay(p))
}

// Deadline returns when [Source.RequestDue] is to be called, in nanoseconds, and
// false when no timer runs.
func (s *Source) Deadline() (int64, bool) { return s.due, s.is.has(armed) }

// RequestDue reports whether a Credit Request is to be sent now, with a freshly
// computed target, and restarts the timer with twice the delay. An early call
// changes nothing.
func (s *Source) RequestDue(p *Params, now int64) bool {
	now = min(now, deadline.End)
	if !s.is.has(armed) || now < s.due {
		return false
	}
	count := int64(1)
	if waited := s.requestDelay(p); waited >= p.requestCeiling {
		count += min(waited/longWait, maxBackoff/2-1)
	}
	s.backoff = uint8(min(int64(s.backoff)+count, maxBackoff))
	s.due = deadline.After(now, s.requestDelay(p))
	return true
}

// InVain reports whether so many requests in a row have brought nothing that more are in vain:
// the destination may not schedule credit at all. Requests go on all the same, at the lowest
// rate.
func (s *Source) InVain() bool { return s.backoff == maxBackoff }

// usualUnit is the unit of Source.usual, ns: 67 ms fit.
const usualUnit = 1024

// After hopeful requests without an answer the ceiling doubles with each further request: no
// destination takes so long to come back to a sender, and a destination with a different
// congestion control never will.
//
// Where requests cannot be more frequent, after all doublings, each counts once more for every longWait
// of its delay, two at least: 254 of them took 8 minutes at a round trip of 30 ms, now 8 take 6 seconds, and
// half a second where the round trip is 60 us to 1 ms.
const (
	hopeful    = maxBackoff - 5
	maxBackoff = math.MaxUint8 - 1
	longWait   = 1 << 21 // ns
)

// requestDelay doubles with each unanswered request. A destination comes back to a sender
// after a round of all senders: an earlier repetition would only add to the destination's
// load.
func (s *Source) requestDelay(p *Params) int64 {
	ceiling := deadline.Backoff(p.requestCeiling, max(s.backoff, hopeful)-hopeful, math.MaxInt64)
	return deadline.Backoff(max(p.rtt, 2*usualUnit*int64(s.usual)), min(s.backoff, 62), ceiling)
}
