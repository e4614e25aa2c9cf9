package ccc

import "github.com/uetcc/uetcc/nscc"

// Ack is what one acknowledgement says to its context, after the PDC has
// released the packets that it covers.
type Ack struct {
	nscc.Ack

	// Packets were newly acknowledged: none of them by an earlier acknowledgement.
	Packets int

	// Of these, RtxPackets of RtxBytes together were waiting for retransmission, so
	// taken for lost and not sent again.
	RtxPackets int
	RtxBytes   int64

	// Entropy is the value of the packet that caused the acknowledgement, which is
	// also the one that ECN speaks of, however many packets are covered.
	Entropy uint16
}

// Report is what the acknowledgement says about its path.
func (a *Ack) Report() Report { return reportOf(a.Entropy, a.ECN) }

func reportOf(entropy uint16, marked bool) Report {
	if marked {
		return Report{entropy, FeedbackECN}
	}
	return Report{entropy, FeedbackGood}
}

// Nack is the refusal of a packet that was in flight, or of several by one word of the
// destination, such as a demand to go back.
type Nack struct {
	nscc.Nack

	Entropy uint16 // of the refused packet
	CE      bool   // it was marked before it was trimmed
	NoPDC   bool   // the destination has no PDC for it
	Packets int32  // that Size is of together (0: one); of several the path choice hears nothing
}

// packets returns how many are refused.
func (n *Nack) packets() int32 { return max(n.Packets, 1) }

// Report is what the refusal says about its path. A trim at the last hop says
// nothing: every path ends there.
func (n *Nack) Report() Report {
	switch {
	case n.Reason == nscc.ReasonTrimmed:
		return Report{n.Entropy, FeedbackNACK}
	case n.CE:
		return Report{n.Entropy, FeedbackECN}
	default:
		return Report{n.Entropy, FeedbackGood}
	}
}

// Loss is one packet in flight that is concluded to be lost.
type Loss struct {
	Size    int64  // nominal, bytes
	Entropy uint16 // that the packet carried
	NoPDC   bool   // the destination may have no PDC: nothing was heard from it
}

// Report is what the loss says about its path.
func (l *Loss) Report() Report { return Report{l.Entropy, FeedbackTimeout} }

// OnNewData adds delta bytes of unsent data: a bound PDC was given more to send.
// The context keeps the sum over its PDCs, and each PDC its own part.
func (c *Context) OnNewData(p *Params, now, delta int64) {
	c.add(delta)
	c.evaluate(p, now)
}

func (c *Context) add(delta int64) {
	mustHold(c.waits+delta >= c.waits, "ccc: new data negative, or beyond 2^63 bytes")
	c.waits += delta
}

// OnWithdraw takes back delta bytes of unsent data that OnNewData had added: a
// message failed, and its rest is not going to be sent.
func (c *Context) OnWithdraw(p *Params, now, delta int64) {
	c.withdraw(delta)
	c.evaluate(p, now)
}

// OnSend counts a packet of size bytes that is being sent: rtx says that it had
// been marked for retransmission, otherwise it is new. Whether it was allowed is
// not asked here: a recovery scheme may send against the window.
func (c *Context) OnSend(p *Params, now, size int64, rtx bool) {
	if rtx {
		c.unmark(1, size)
	} else {
		c.withdraw(size)
	}
	c.window.OnSend(size)
	// Where nothing is enforced, a packet that credit would have refused is not
	// charged: the debt would outlive the mode.
	if p.credit && (c.mode == ModeEnforce || c.credit.CanSend()) {
		c.credit.OnSend(size)
	}
	c.inflightPkts++
	c.evaluate(p, now)
}

// OnACK takes in an acknowledgement. Tell the path choice first:
// [Entropy.Feedback] with [Ack.Report].
func (c *Context) OnACK(p *Params, now int64, a Ack) { c.onACK(p, now, &a) }

func (c *Context) onACK(p *Params, now int64, a *Ack) {
	if a.RtxPackets != 0 {
		c.unmark(int32(a.RtxPackets), a.RtxBytes)
		c.window.OnUnmark(a.RtxBytes)
	}
	if c.steers(p) {
		c.window.OnACK(&p.nscc, now, a.Ack)
	} else {
		c.window.OnSend(-a.Bytes)
	}
	if p.credit {
		c.credit.OnACK()
	}
	c.inflightPkts -= int32(a.Packets - a.RtxPackets)
	c.evaluate(p, now)
}

// OnNACK takes in the refusal of packets that are in flight and marks them for
// retransmission. A refusal of any other packet must not come here. Tell the path
// choice first: [Entropy.Feedback] with [Nack.Report].
func (c *Context) OnNACK(p *Params, now int64, n Nack) {
	if c.steers(p) {
		c.window.OnNACK(&p.nscc, now, n.Nack)
	} else {
		c.window.OnSend(-n.Size)
	}
	c.lose(p, now, n.Size, n.packets(), n.NoPDC)
}

// OnInferredLoss takes in that a packet in flight is concluded to be lost and
// marks it for retransmission. Tell the path choice too: [Entropy.Feedback] with
// [Loss.Report].
func (c *Context) OnInferredLoss(p *Params, now int64, l Loss) {
	if c.steers(p) {
		c.window.OnInferredLoss(&p.nscc, l.Size)
	} else {
		c.window.OnSend(-l.Size)
	}
	c.lose(p, now, l.Size, 1, l.NoPDC)
}

// lose marks packets that were in flight for retransmission, once the window knows.
func (c *Context) lose(p *Params, now, size int64, packets int32, noPDC bool) {
	c.mark(size, packets)
	switch {
	case p.credit && noPDC:
		c.credit.OnNoPDC(&p.rccc, size)
	case p.credit:
		c.credit.OnLoss()
	}
	c.inflightPkts -= packets
	c.evaluate(p, now)
}

// OnCreditUpdate takes in a cumulative credit of total bytes (see
// [rccc.Quanta.Extend]) and returns the increment in bytes, 0 for old news. Without RCCC
// it is only noted, for an [Algorithm] that has a use for it.
func (c *Context) OnCreditUpdate(p *Params, now, total int64) int64 {
	if !p.credit {
		c.credit.Note(total)
		return 0
	}
	step := c.credit.OnCreditUpdate(&p.rccc, total)
	c.evaluate(p, now)
	return step
}

// steers reports whether signals reach the window. Where they do not, only its
// count of bytes in flight goes on.
func (c *Context) steers(p *Params) bool { return p.window && c.mode != ModeOff }
