// SPDX-License-Identifier: Apache-2.0

package ccc

import "github.com/uetcc/uetcc/nscc"

// Ack is the news of one acknowledgement to the context, after the PDC has released
// the covered packets.
type Ack struct {
	nscc.Ack

	// Packets are newly acknowledged, not by an earlier acknowledgement.
	Packets int

	// RtxPackets of the Packets, RtxBytes together, were waiting for
	// retransmission: taken for lost and not sent again.
	RtxPackets int
	RtxBytes   int64

	// Entropy is the value of the packet that caused the acknowledgement, and also
	// the packet meant by ECN, however many packets are covered.
	Entropy uint16
}

// report is the acknowledgement's feedback about the path.
func (a *Ack) report() report { return reportOf(a.Entropy, a.ECN) }

func reportOf(entropy uint16, marked bool) report {
	if marked {
		return report{entropy, feedbackECN}
	}
	return report{entropy, feedbackGood}
}

// Nack is the refusal of a packet that was in flight, or of several by one word of the
// destination, such as a demand to go back.
type Nack struct {
	nscc.Nack

	Entropy uint16 // of the refused packet
	CE      bool   // marked before being trimmed
	NoPDC   bool   // the destination has no PDC for the packet
	Packets int32  // number of packets of Size bytes together (0: one); path choice hears nothing of several
}

// packets returns how many are refused.
func (n *Nack) packets() int32 { return max(n.Packets, 1) }

// report is what the refusal says about its path. A trim at the last hop says
// nothing: every path ends there.
func (n *Nack) report() report {
	switch {
	case n.Reason == nscc.ReasonTrimmed:
		return report{n.Entropy, feedbackNACK}
	case n.CE:
		return report{n.Entropy, feedbackECN}
	default:
		return report{n.Entropy, feedbackGood}
	}
}

// Loss is a packet in flight concluded to be lost.
type Loss struct {
	Size    int64  // nominal, bytes
	Entropy uint16 // that the packet carried
	NoPDC   bool   // the destination may have no PDC: never heard
}

// report is the loss's feedback about the path.
func (l *Loss) report() report { return report{l.Entropy, feedbackTimeout} }

// OnNewData adds delta bytes of unsent data: a bound PDC was given more to send.
// The context keeps the sum over the PDCs, and each PDC a part.
//
//uetcc:hot nobounds
func (c *Context) OnNewData(p *Params, now, delta int64) {
	c.add(delta)
	c.evaluate(p, now)
}

func (c *Context) add(delta int64) {
	mustHold(c.waits+delta >= c.waits, "ccc: new data negative, or beyond 2^63 bytes")
	c.waits += delta
}

// OnWithdraw takes back delta bytes of unsent data added by OnNewData: a message
// failed, and the rest will not be sent.
func (c *Context) OnWithdraw(p *Params, now, delta int64) {
	c.withdraw(delta)
	c.evaluate(p, now)
}

// OnSend counts a packet of size bytes being sent: with rtx marked for
// retransmission before, otherwise new. OnSend does not check the permission: a
// recovery scheme may send against the window.
//
//uetcc:hot nobounds
func (c *Context) OnSend(p *Params, now, size int64, rtx bool) {
	if rtx {
		c.unmark(1, size)
	} else {
		c.withdraw(size)
	}
	c.window.OnSend(size)
	if p.credit {
		c.charge(size)
	}
	c.inflightPkts++
	c.evaluate(p, now)
}

// charge takes size bytes off the credit. Where nothing is enforced, a packet beyond the credit is
// not charged: the debt would outlive the mode.
//
//uetcc:hot inlines nobounds
func (c *Context) charge(size int64) {
	if c.mode == ModeEnforce || c.credit.CanSend() {
		c.credit.OnSend(size)
	}
}

// OnACK takes in an acknowledgement. Tell the path choice first:
// [Entropy.OnACK].
//
//uetcc:hot inlines nobounds
func (c *Context) OnACK(p *Params, now int64, a Ack) { c.onACK(p, now, &a) }

//uetcc:hot nobounds
func (c *Context) onACK(p *Params, now int64, a *Ack) {
	if a.RtxPackets != 0 {
		c.unmark(int32(a.RtxPackets), a.RtxBytes)
		c.window.OnUnmark(a.RtxBytes)
	}
	if c.steers(p) {
		c.window.OnACK(&p.nscc, now, a.Ack)
		c.reach(p, c.window.BaseRTT())
	} else {
		c.pass(p, a.Bytes, a.RTT)
	}
	if p.credit {
		c.credit.OnACK()
	}
	c.inflightPkts -= int32(a.Packets - a.RtxPackets)
	c.evaluate(p, now)
}

// OnNACK takes in the refusal of packets that are in flight and marks them for
// retransmission. A refusal of any other packet must not come here. Tell the path
// choice first: [Entropy.OnNACK].
//
//uetcc:hot nobounds
func (c *Context) OnNACK(p *Params, now int64, n Nack) {
	if c.steers(p) {
		c.window.OnNACK(&p.nscc, now, n.Nack)
	} else {
		c.window.OnSend(-n.Size)
	}
	c.lose(p, now, n.Size, n.packets(), n.NoPDC)
}

// OnInferredLoss takes in a concluded loss of a packet in flight and marks the
// packet for retransmission. Tell the path choice too:
// [Entropy.OnInferredLoss].
//
//uetcc:hot nobounds
func (c *Context) OnInferredLoss(p *Params, now int64, l Loss) {
	if c.steers(p) {
		c.window.OnInferredLoss(&p.nscc, l.Size)
	} else {
		c.window.OnSend(-l.Size)
	}
	c.lose(p, now, l.Size, 1, l.NoPDC)
}

// lose marks packets that were in flight for retransmission, once the window knows.
//
//uetcc:hot nobounds
func (c *Context) lose(p *Params, now, size int64, packets int32, noPDC bool) {
	mustHold(size > 0, "ccc: a packet without a size")
	c.waitingRtx += packets
	c.rtxBacklog += size
	c.waits += size
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
// [rccc.Quanta.Extend]) and returns the increment in bytes, 0 for old news. Without
// RCCC the total is only noted, for an interested [Algorithm].
//
//uetcc:hot nobounds
func (c *Context) OnCreditUpdate(p *Params, now, total int64) int64 {
	if !p.credit {
		c.credit.Note(total)
		return 0
	}
	step := c.credit.OnCreditUpdate(&p.rccc, total)
	c.evaluate(p, now)
	return step
}

// steers reports whether signals reach the window. Where not, only the window's
// count of bytes in flight goes on.
func (c *Context) steers(p *Params) bool { return p.window && c.mode != ModeOff }

// pass takes n bytes that have arrived off the window where nothing steers it: of the round trip, 0 for none, a
// guessed base is the worst there is.
//
//uetcc:hot nobounds
func (c *Context) pass(p *Params, n, rtt int64) {
	c.window.OnSend(-n)
	if p.reaches && rtt > 0 {
		c.window.SampleBase(&p.nscc, rtt)
		c.reach(p, rtt)
	}
}

// reach tells the credit of a round trip, where the configured one is a guess.
//
//uetcc:hot inlines nobounds
func (c *Context) reach(p *Params, rtt int64) {
	if p.reaches {
		c.credit.Reach(&p.rccc, rtt)
	}
}

// probeSize is the nominal size of a probe: UDP and a control packet, 24 bytes, and 40.
const probeSize = 64

// OnProbe takes the round trip of a probe, ns without the time at the destination: a sample
// of the base round trip and of nothing else. The sample counts in every mode and under every
// [Control], being about the path: the window is unchanged, and later limits are right from
// the first event on.
//
// The base round trip is for a full packet (config_base_rtt, UE Specification 1.0.x table
// 3-80). A probe is small, so the extra time of a full packet on the sender's link is added;
// otherwise a path of few packets would get too small a window. (In htsim small packets do
// not lower the base round trip at all.)
func (c *Context) OnProbe(p *Params, now, rtt int64) {
	if rtt > 0 {
		c.window.SampleBase(&p.nscc, rtt+p.probeLacks)
		c.reach(p, rtt+p.probeLacks)
	}
	c.evaluate(p, now)
}

// OnProbe takes the round trip of a probe a PDC has sent, ns.
func (m *Manager) OnProbe(pdc Handle, now, rtt int64) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	c := &m.seatOf(b).context
	c.OnProbe(m.p, now, rtt)
	m.settle(c, now)
}
