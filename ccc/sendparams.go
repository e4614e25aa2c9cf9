package ccc

import "github.com/uetcc/uetcc/rccc"

// SendParams is what a packet's header carries for congestion control.
type SendParams struct {
	// CreditTarget is the cumulative credit that the source would like to reach,
	// bytes; 0 where RCCC takes no part. With TFC it is the cells charged, times 256, which tells the
	// destination when the context is another one of the same name.
	CreditTarget int64

	// AckRequest asks for an immediate acknowledgement. The PDS has reasons of its
	// own to ask for one: the flag is the OR of all.
	AckRequest bool

	// Held is what keeps another packet from following, ReasonBacklog if nothing does.
	Held Reason

	// Entropy is the value that chooses the path. [Manager.Send] fills it in; a
	// context alone knows nothing of paths.
	Entropy uint16
}

// SendParams returns what the packet last counted by [Context.OnSend] carries.
// contexts is how many compete for its NIC port; 0 and 1 mean alone.
func (c *Context) SendParams(p *Params, contexts int64) SendParams {
	s := SendParams{AckRequest: c.wantsAnswer(p), Held: c.held()}
	if p.credit {
		s.CreditTarget = c.CreditTarget(p, contexts)
		// The next packet may be a round of all the destination's senders away, which
		// can be longer than a retransmission timeout.
		s.AckRequest = s.AckRequest || !c.credit.CanSend()
	}
	return s
}

// wantsAnswer reports whether there may be no room for another packet until an answer comes,
// also as an algorithm of the user's has it.
func (c *Context) wantsAnswer(p *Params) bool {
	return c.bounded && c.allow < p.mtu || p.window && c.window.AckRequest(&p.nscc)
}

// CreditTarget is the target of [SendParams], also for a Credit Request.
func (c *Context) CreditTarget(p *Params, contexts int64) int64 {
	d := rccc.Demand{Backlog: c.Backlog(), Rtx: c.rtxBacklog, Contexts: contexts}
	if p.window {
		d.Cwnd = c.window.Cwnd()
	}
	return c.credit.Target(&p.rccc, d)
}

// CreditDeadline returns when to call [Context.CreditRequestDue], ns, and false
// when data does not wait for credit.
func (c *Context) CreditDeadline() (int64, bool) { return c.credit.Deadline() }

// CreditInVain reports whether the requests for credit have brought nothing for so long that no
// more will, see [rccc.Source.InVain].
func (c *Context) CreditInVain() bool { return c.credit.InVain() }

// CreditRequestDue reports whether to send a Credit Request now: data has waited
// for credit for so long that the message that brought it must have been lost.
// An early call changes nothing.
func (c *Context) CreditRequestDue(p *Params, now int64) bool {
	return c.credit.RequestDue(&p.rccc, now)
}
