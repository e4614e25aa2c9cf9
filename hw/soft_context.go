// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"math/bits"

	"github.com/uetcc/uetcc/hw/pcc"
)

// softContext is a software device's state of a context beside the registers.
type softContext struct {
	enabled    bool
	mode       Mode
	gen        uint8
	ring       uint8 // of its events
	probe      bool  // the next burst carries a probe
	commit     uint32
	rate       uint32
	burst      int64
	tokens     int64  // bytes, scaled by 2^20
	part       uint64 // and a fraction of one, in 1/tokenUnit
	record     uint64
	index      uint16 // packets queued, absolute
	head       uint16 // packets sent, absolute
	cwnd       uint64
	credit     uint64 // furthest total
	creditSeen uint64 // register as last read
	sent       uint64
	acked      uint64
	creditUsed uint64
	serial     uint32
	flags      uint8 // of the next event: FlagLost, where some were lost
	filledAt   int64
}

// blocked names the limit that keeps a context from sending.
type blocked uint32

const (
	blockedWindow blocked = 1 << 1
	blockedCredit blocked = 1 << 2
	blockedRate   blocked = 1 << 3
)

// takeContext takes the engine's stores to context i: a commit, a doorbell
// record, window and credit.
func (d *SoftDevice) takeContext(i int, now int64) {
	c, base := &d.contexts[i], d.at.contexts+uint32(i)*kindContext.stride()
	if v := d.regs.Load32(base + Reg.Commit.Offset); v != c.commit && d.apply(c, base, v) {
		c.commit = v
	}
	if w := d.regs.Load64(base + Reg.Record.Offset); w != c.record {
		c.record = w
		d.takeRecord(c, w)
	}
	c.cwnd = d.regs.Load64(base + Reg.Cwnd.Offset)
	if v := d.regs.Load64(base + Reg.Credit.Offset); v != c.creditSeen {
		c.creditSeen = v
		if int64(v-c.credit) > 0 {
			c.credit = v
		} else {
			d.counters.StaleCredit++
		}
	}
	c.fill(now, d.cfg.LineRate)
}

// apply commits CTL, RATE and BURST. A new generation is a new life of the
// context: packets of the old generation in flight or queued no longer count,
// and the old credit is void. False, without a change, where the engine is
// about to commit again: CTL is stored first and COMMIT last.
func (d *SoftDevice) apply(c *softContext, base, commit uint32) (taken bool) {
	ctl, gen := d.regs.Load32(base+Reg.Ctl.Offset), uint8(commit)
	rate, burst := d.regs.Load32(base+Reg.Rate.Offset), d.regs.Load32(base+Reg.Burst.Offset)
	if uint8(ctl>>24) != uint8(commit>>8) || d.regs.Load32(base+Reg.Ctl.Offset) != ctl {
		return false
	}
	mode := Mode(ctl >> 1 & 7)
	if uint8(ctl>>8) != gen || mode > ModeRate {
		d.fault |= FaultCommit
		d.counters.GenMismatch++
		return true
	}
	if gen != c.gen {
		c.acked, c.credit = c.sent, c.creditUsed
		c.creditSeen = d.regs.Load64(base + Reg.Credit.Offset)
		c.index, c.head, c.record = 0, 0, 0
		c.probe, c.flags = false, 0
	}
	c.enabled, c.mode, c.gen = ctl&1 != 0, mode, gen
	c.rate, c.burst = min(rate, 1<<20), max(int64(burst), d.cfg.MTU)
	c.tokens, c.part = c.burst<<20, 0
	return true
}

// takeRecord takes a doorbell word. An older index, or a word of another life,
// changes nothing but a counter.
func (d *SoftDevice) takeRecord(c *softContext, w uint64) {
	index := uint16(w)
	switch {
	case uint8(w>>24) != c.gen:
		d.counters.GenMismatch++
	case int16(index-c.index) <= 0:
		d.counters.StaleDoorbells++
	default:
		c.index = index
	}
}

// fill fills the token bucket up to now.
func (c *softContext) fill(now, lineRate int64) {
	hi, lo := bits.Mul64(uint64(lineRate)*uint64(c.rate), uint64(now-c.filledAt))
	lo, carry := bits.Add64(lo, c.part, 0)
	hi += carry
	c.filledAt = now
	full := c.burst << 20
	if hi < tokenUnit {
		if n, part := bits.Div64(hi, lo, tokenUnit); n < uint64(full-c.tokens) {
			c.tokens, c.part = c.tokens+int64(n), part
			return
		}
	}
	c.tokens, c.part = full, 0
}

// tokenUnit is a byte a second in bits a nanosecond.
const tokenUnit = 8_000_000_000

// blockedBy returns the limits that forbid a packet of n bytes to leave.
func (c *softContext) blockedBy(n int64) (b blocked) {
	needs := c.mode.Needs()
	if inflight := c.sent - c.acked; needs&FeatureWindow != 0 && inflight != 0 && inflight+uint64(n) > c.cwnd {
		b |= blockedWindow
	}
	if used := c.creditUsed + uint64(quanta(n)); needs&FeatureCredit != 0 && int64(c.credit-used) < 0 {
		b |= blockedCredit
	}
	if c.rate != 0 && c.tokens < n<<20 {
		b |= blockedRate
	}
	return b
}

// quanta returns n bytes in units of 256, rounded up.
func quanta(n int64) int64 { return (n + 255) >> 8 }

// transmit sends packets, one per context in turn, until the port is busy
// beyond now or nothing may leave.
func (d *SoftDevice) transmit(now int64) {
	if d.portFree < d.now {
		d.portFree, d.portPart = d.now, 0
	}
	idle := 0 // contexts in a row that had nothing to send
	for idle < len(d.contexts) && d.portFree <= now {
		i := d.turn
		d.turn = (d.turn + 1) % len(d.contexts)
		c := &d.contexts[i]
		if !c.enabled || c.head == c.index || c.blockedBy(d.cfg.MTU) != 0 {
			idle++
			continue
		}
		idle = 0
		d.send(i)
	}
}

// send sends a packet of context i.
func (d *SoftDevice) send(i int) {
	c, n := &d.contexts[i], d.cfg.MTU
	c.head++
	c.sent += uint64(n)
	if c.mode.Needs()&FeatureCredit != 0 {
		c.creditUsed += uint64(quanta(n))
	}
	if c.rate != 0 {
		c.tokens -= n << 20
	}
	lasts := n*8*1_000_000_000 + d.portPart
	d.portFree += lasts / d.cfg.LineRate
	d.portPart = lasts % d.cfg.LineRate
	d.counters.TXPackets++
	d.counters.TXBytes += uint64(n)
	d.regs.Store32(d.at.contexts+uint32(i)*kindContext.stride()+Reg.LastTX.Offset,
		uint32(nsToTicks(d.portFree, d.cfg.TickPs)))
	flags := uint8(0)
	if c.probe {
		flags, c.probe = pcc.ProbeSent, false
	}
	d.Post(Event{Type: pcc.EventTX, Flags: flags, Context: uint32(i), Words: [3]uint32{uint32(n / 32), 1}})
}

// publish stores the progress of context i, and adds up the blocked time.
func (d *SoftDevice) publish(i int, now int64) {
	c, base := &d.contexts[i], d.at.contexts+uint32(i)*kindContext.stride()
	state := uint32(c.gen) << 8
	if c.enabled && c.head != c.index {
		b := c.blockedBy(d.cfg.MTU)
		state |= uint32(b)
		d.countBlocked(b, uint64(now-d.now))
	}
	if c.enabled && c.blockedBy(d.cfg.MTU) == 0 {
		state |= 1
	}
	d.regs.Store64(base+Reg.Sent.Offset, c.sent)
	d.regs.Store64(base+Reg.Acked.Offset, c.acked)
	d.regs.Store64(base+Reg.CreditUsed.Offset, c.creditUsed)
	d.regs.Store32(base+Reg.State.Offset, state)
}

func (d *SoftDevice) countBlocked(b blocked, ns uint64) {
	if b&blockedWindow != 0 {
		d.counters.WindowBlockedNs += ns
	}
	if b&blockedCredit != 0 {
		d.counters.CreditBlockedNs += ns
	}
	if b&blockedRate != 0 {
		d.counters.RateBlockedNs += ns
	}
}

// Ack tells the device of acknowledged bytes of context i, at most the bytes in
// flight.
func (d *SoftDevice) Ack(i int, bytes int64) {
	c := &d.contexts[i]
	c.acked += min(uint64(max(bytes, 0)), c.sent-c.acked)
}
