// SPDX-License-Identifier: Apache-2.0

package ccc

import "github.com/uetcc/uetcc/rccc"

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
