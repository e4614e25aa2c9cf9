// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/rccc"
)

// Reason is the bound of a [Decision].
type Reason uint8

const (
	ReasonBacklog   Reason = iota // nothing: all waiting data may go, if any
	ReasonWindow                  // the congestion window (NSCC)
	ReasonCredit                  // the receiver's credit (RCCC)
	ReasonAlgorithm               // the user's [Algorithm]
	ReasonPacing                  // the time: not before NotBefore
	ReasonUnbound                 // no PDC is bound yet
	ReasonOff                     // nothing was asked: ModeOff

	reasons = iota
)

var reasonNames = [reasons]string{"backlog", "window", "credit", "algorithm", "pacing", "unbound", "off"}

// String returns the reason's name in lower case.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// Decision is the permission of a context to send now.
type Decision struct {
	// Bytes may go now, nominal, new and marked together; 0 is none. Packets go
	// while the sum of sizes stays within Bytes. Bytes is never more than the
	// waiting bytes.
	Bytes int64

	// NotBefore is the time (ns) at which to ask again where Reason is ReasonPacing.
	// Otherwise only an event changes the answer.
	NotBefore int64

	// Reason is the cause that keeps Bytes from being more. In ModeObserve Bytes is
	// all waiting bytes, and Reason the bound in ModeEnforce.
	Reason Reason
}

// Decide returns the bytes that may go at now, and the reason for not more, without
// changing c.
//
//uetcc:hot nobounds
func (c *Context) Decide(p *Params, now int64) Decision {
	switch {
	case c.pdcs == 0:
		return Decision{Reason: ReasonUnbound}
	case c.mode == ModeOff:
		return Decision{Bytes: c.waits, Reason: ReasonOff}
	case c.mode == ModeObserve:
		return Decision{Bytes: c.waits, Reason: c.bound(p, now).Reason}
	default:
		return c.bound(p, now)
	}
}

// Admits reports whether a packet of any size may go at once, by the last event, in
// agreement with [Context.Decide]. Admits is quicker, and false under a user's
// [Algorithm].
//
//uetcc:hot inlines nobounds
func (c *Context) Admits() bool { return c.state == StateReady && !c.bounded }

// bound is the common consent of all specified algorithms.
//
//uetcc:hot nobounds
func (c *Context) bound(p *Params, now int64) Decision {
	room, why := c.waits, ReasonBacklog
	if p.window {
		if w := c.windowRoom(p, room); w < room {
			room, why = w, ReasonWindow
		}
	}
	if p.credit {
		if w := c.creditRoom(p); w < room {
			room, why = w, ReasonCredit
		}
	}
	if c.bounded {
		return c.consent(now, room, why)
	}
	return Decision{Bytes: max(room, 0), Reason: why}
}

// consent limits room to the allowance of the user's algorithm.
//
//uetcc:hot inlines nobounds
func (c *Context) consent(now, room int64, why Reason) Decision {
	if c.notBefore > now && room > 0 {
		return Decision{NotBefore: c.notBefore, Reason: ReasonPacing}
	}
	if c.allow < room {
		room, why = c.allow, ReasonAlgorithm
	}
	return Decision{Bytes: max(room, 0), Reason: why}
}

// objection is the user's algorithm's objection to sending now. A future time goes
// first: the algorithm is to be asked again then, at any allowance now.
//
//uetcc:hot inlines nobounds
func (c *Context) objection(now int64) Reason {
	switch {
	case c.notBefore > now:
		return ReasonPacing
	case c.allow <= 0:
		return ReasonAlgorithm
	default:
		return ReasonBacklog
	}
}

// windowRoom is the room left by NSCC, bytes: none below a whole MTU, so small
// packets of one PDC do not starve the large packets of a second.
//
//uetcc:hot inlines nobounds
func (c *Context) windowRoom(p *Params, waiting int64) int64 {
	if !c.window.CanSend(&p.nscc, min(waiting, p.mtu)) {
		return 0
	}
	return c.window.Cwnd() - c.window.Inflight()
}

// creditRoom is the room left by RCCC, bytes. Any positive balance admits a packet
// of any size, so the last packet may overdraw the balance by up to the size minus
// 1.
//
//uetcc:hot inlines nobounds
func (c *Context) creditRoom(p *Params) int64 {
	if !c.credit.CanSend() {
		return 0
	}
	return c.credit.Credit() + p.mtu - 1
}

// SendParams is the part of a packet's header for congestion control (GetSendParams).
type SendParams struct {
	// CreditTarget is the cumulative credit that the source would like to reach,
	// bytes; 0 where RCCC takes no part. With TFC it is the cells charged, times 256, which tells the
	// destination when the context is another one of the same name.
	CreditTarget int64

	// AckRequest asks for an immediate acknowledgement. The PDS may ask, too: the flag is
	// the OR of all reasons.
	AckRequest bool

	// Held is the cause that keeps a next packet from following, ReasonBacklog for none.
	Held Reason

	// Entropy is the path's value, and names the NIC port: [EntropyParams.Port]. [Manager.Send]
	// fills Entropy in; a context alone knows nothing of paths.
	Entropy uint16
}

// SendParams returns the header fields for the packet last counted by [Context.OnSend].
// contexts is the number of contexts competing for the NIC port; 0 and 1 mean alone.
func (c *Context) SendParams(p *Params, contexts int64) SendParams {
	s := SendParams{AckRequest: c.wantsAnswer(p), Held: c.held()}
	if p.credit {
		s.CreditTarget = c.CreditTarget(p, contexts)
	}
	return s
}

// wantsAnswer reports whether no next packet may fit before an answer comes, by a user's
// algorithm, too. Without credit the next packet may be a round of all the destination's senders
// away, maybe longer than a retransmission timeout.
func (c *Context) wantsAnswer(p *Params) bool {
	return c.bounded && c.allow < p.mtu || p.window && c.window.AckRequest(&p.nscc) || p.credit && !c.credit.CanSend()
}

// CreditTarget is the target of [SendParams], also for a Credit Request.
func (c *Context) CreditTarget(p *Params, contexts int64) int64 {
	return c.credit.Target(&p.rccc, c.demand(p, contexts))
}

func (c *Context) demand(p *Params, contexts int64) rccc.Demand {
	d := rccc.Demand{Backlog: c.Backlog(), Rtx: c.rtxBacklog, Contexts: contexts}
	if p.window {
		d.Cwnd = c.window.Cwnd()
	}
	return d
}

// CreditDeadline returns when to call [Context.CreditRequestDue], ns, and false
// when data does not wait for credit.
func (c *Context) CreditDeadline() (int64, bool) { return c.credit.Deadline() }

// CreditInVain reports whether requests for credit have been in vain for so long that more
// would be, too, see [rccc.Source.InVain].
func (c *Context) CreditInVain() bool { return c.credit.InVain() }

// CreditRequestDue reports whether to send a Credit Request now: data has waited so long
// that the message with the credit must have been lost. An early call changes nothing.
func (c *Context) CreditRequestDue(p *Params, now int64) bool {
	return c.credit.RequestDue(&p.rccc, now)
}
