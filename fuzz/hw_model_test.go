// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"math/big"
	"reflect"

	"github.com/uetcc/uetcc/hw"
	"github.com/uetcc/uetcc/hw/pcc"
)

// A modelDevice is a second software device, made of what the register tables say: one
// context and one packet after the other, tokens as exact fractions, nothing kept that
// can be looked up. It reads what the engine wrote from the other device's registers and
// writes none.
type modelDevice struct {
	cfg      hw.SoftConfig
	regs     *hw.Memory
	hostSize uint64
	contexts []modelContext
	rings    []modelRing
	pages    []uint64
	pdcs     []modelPDC
	counters hw.Counters
	fault    hw.Fault
	cleared  uint32
	resets   uint32
	last     int64
	ticks    uint64
	port     *big.Int // free again, 1/LineRate ns
	turn     int
	want     [][]hw.Event // what the engine of each ring has to find
}

type modelContext struct {
	commit            uint32
	enabled           bool
	mode              hw.Mode
	gen               uint8
	rate              uint32
	burst             int64
	tokens            *big.Int // see tokens
	filled            int64
	record            uint64
	index, head       uint16
	cwnd              uint64
	credit, stored    uint64
	sent, acked, used uint64
	probe, lost       bool
	serial            uint32
	state             uint32
}

type modelRing struct {
	ctl, size, prod, lost uint32
	on                    bool
}

type modelPDC struct {
	bind  uint64
	state uint32
	cack  uint32
	sack  uint64
}

func newModelDevice(cfg hw.SoftConfig, regs, host *hw.Memory) *modelDevice {
	m := &modelDevice{
		cfg: cfg, regs: regs, hostSize: uint64(host.Size()), port: new(big.Int),
		contexts: make([]modelContext, cfg.Contexts), rings: make([]modelRing, cfg.Owners),
		pages: make([]uint64, cfg.Owners), pdcs: make([]modelPDC, cfg.PDCs), want: make([][]hw.Event, cfg.Owners),
	}
	m.resets = uint32(m.load(hw.Reg.Resets, 0))
	m.forget()
	return m
}

// forget is a reset.
func (m *modelDevice) forget() {
	for i := range m.contexts {
		m.contexts[i] = modelContext{tokens: new(big.Int)}
	}
	clear(m.rings)
	clear(m.pdcs)
}

// offset finds a register where the chain of blocks has it, features or not.
func (m *modelDevice) offset(r hw.Register, i int) uint32 {
	at := uint32(0)
	for m.regs.Load32(at)&0xffff != uint32(r.Kind) {
		if at = m.regs.Load32(at + hw.Reg.Next.Offset); at == 0 {
			panic(r.Name)
		}
	}
	if r.Element {
		at = m.regs.Load32(at+hw.Reg.Base.Offset) + uint32(i)<<(m.regs.Load32(at+hw.Reg.Geom.Offset)&0xff)
	}
	return at + r.Offset
}

func (m *modelDevice) load(r hw.Register, i int) uint64 {
	at := m.offset(r, i)
	if r.Width == 32 {
		return uint64(m.regs.Load32(at))
	}
	return m.regs.Load64(at)
}

func product(x ...int64) *big.Int {
	p := big.NewInt(1)
	for _, v := range x {
		p.Mul(p, big.NewInt(v))
	}
	return p
}

// tokens is so many bytes: a context at rate r/2^20 of a line of b bits per second earns
// r*b a nanosecond.
func tokens(bytes int64) *big.Int { return product(bytes, 1<<20, 8, 1e9) }

func (m *modelDevice) step(now int64) {
	now = max(now, m.last)
	m.ticks = new(big.Int).Div(product(now, 1000), big.NewInt(int64(m.cfg.TickPs))).Uint64()
	if uint32(m.load(hw.Reg.Reset, 0)) == 0x52535421+m.resets {
		m.forget()
		m.resets++
	}
	if v := uint32(m.load(hw.Reg.FaultClear, 0)); v != m.cleared {
		m.cleared = v
		m.fault &^= hw.Fault(v & 0xffff)
	}
	for i := range m.pages {
		m.takePage(i)
	}
	for i := range m.rings {
		m.takeRing(i)
	}
	for i := range m.contexts {
		m.takeContext(i, now)
	}
	for i := range m.pdcs {
		p := &m.pdcs[i]
		p.bind = m.load(hw.Reg.Bind, i)
		p.state = uint32(p.bind>>56&1 | p.bind>>48&0xff<<8)
	}
	m.transmit(now)
	for i := range m.contexts {
		m.judge(&m.contexts[i], uint64(now-m.last))
	}
	m.last = now
}

func (m *modelDevice) takePage(i int) {
	w := m.load(hw.Reg.Ring, i)
	if w == m.pages[i] {
		return
	}
	m.pages[i] = w
	m.counters.Doorbells++
	if w>>32 >= uint64(len(m.contexts)) {
		m.fault |= hw.FaultDoorbell
		return
	}
	if c := &m.contexts[w>>32]; uint8(w>>24) != c.gen {
		m.counters.GenMismatch++
	} else if w>>16&15 == 3 {
		c.probe = true
	}
}

func (m *modelDevice) takeRing(i int) {
	r, ctl := &m.rings[i], uint32(m.load(hw.Reg.RingCtl, i))
	if ctl == r.ctl {
		return
	}
	*r = modelRing{ctl: ctl, lost: r.lost}
	if ctl&1 == 0 {
		return
	}
	addr := m.load(hw.Reg.RingAddr, i)
	r.lost, r.size = 0, 1<<(ctl>>4&15)
	r.on = r.size >= 16 && addr%4096 == 0 && addr <= m.hostSize && uint64(r.size)*32 <= m.hostSize-addr
	if !r.on {
		m.fault |= hw.FaultRing
	}
}

func (m *modelDevice) takeContext(i int, now int64) {
	c := &m.contexts[i]
	if v, ctl := uint32(m.load(hw.Reg.Commit, i)), uint32(m.load(hw.Reg.Ctl, i)); v != c.commit && ctl>>24 == v>>8&0xff {
		c.commit = v
		m.takeCommit(i, uint8(v), ctl)
	}
	if w := m.load(hw.Reg.Record, i); w != c.record {
		c.record = w
		switch {
		case uint8(w>>24) != c.gen:
			m.counters.GenMismatch++
		case int16(uint16(w)-c.index) <= 0:
			m.counters.StaleDoorbells++
		default:
			c.index = uint16(w)
		}
	}
	c.cwnd = m.load(hw.Reg.Cwnd, i)
	if v := m.load(hw.Reg.Credit, i); v != c.stored {
		c.stored = v
		if int64(v-c.credit) > 0 {
			c.credit = v
		} else {
			m.counters.StaleCredit++
		}
	}
	c.tokens.Add(c.tokens, product(m.cfg.LineRate, int64(c.rate), now-c.filled))
	if full := tokens(c.burst); c.tokens.Cmp(full) > 0 {
		c.tokens = full
	}
	c.filled = now
}

func (m *modelDevice) takeCommit(i int, gen uint8, ctl uint32) {
	c := &m.contexts[i]
	mode := hw.Mode(ctl >> 1 & 7)
	if uint8(ctl>>8) != gen || mode > hw.ModeRate {
		m.fault |= hw.FaultCommit
		m.counters.GenMismatch++
		return
	}
	if gen != c.gen {
		c.acked, c.credit, c.stored = c.sent, c.used, m.load(hw.Reg.Credit, i)
		c.index, c.head, c.record, c.probe, c.lost = 0, 0, 0, false, false
	}
	c.enabled, c.mode, c.gen = ctl&1 != 0, mode, gen
	c.rate = uint32(min(m.load(hw.Reg.Rate, i), 1<<20))
	c.burst = max(int64(m.load(hw.Reg.Burst, i)), m.cfg.MTU)
	c.tokens = tokens(c.burst)
}

// blocked returns the bits of STATE that forbid a packet.
func (m *modelDevice) blocked(c *modelContext) (b uint32) {
	n := uint64(m.cfg.MTU)
	if inflight := c.sent - c.acked; c.mode.Needs()&hw.FeatureWindow != 0 && inflight > 0 && inflight+n > c.cwnd {
		b |= 2
	}
	if c.mode.Needs()&hw.FeatureCredit != 0 && int64(c.credit-c.used-(n+255)/256) < 0 {
		b |= 4
	}
	if c.rate != 0 && c.tokens.Cmp(tokens(m.cfg.MTU)) < 0 {
		b |= 8
	}
	return b
}

func (m *modelDevice) transmit(now int64) {
	line := big.NewInt(m.cfg.LineRate)
	if p := new(big.Int).Mul(big.NewInt(m.last), line); m.port.Cmp(p) < 0 {
		m.port = p
	}
	end := new(big.Int).Mul(big.NewInt(now+1), line) // free within this nanosecond
	for m.port.Cmp(end) < 0 {
		i := m.next()
		if i < 0 {
			return
		}
		m.turn = (i + 1) % len(m.contexts)
		m.send(i)
	}
}

// next returns the first context in turn that may send, -1 if none may.
func (m *modelDevice) next() int {
	for k := range m.contexts {
		i := (m.turn + k) % len(m.contexts)
		if c := &m.contexts[i]; c.enabled && c.head != c.index && m.blocked(c) == 0 {
			return i
		}
	}
	return -1
}

func (m *modelDevice) send(i int) {
	c, n := &m.contexts[i], m.cfg.MTU
	c.head++
	c.sent += uint64(n)
	if c.mode.Needs()&hw.FeatureCredit != 0 {
		c.used += uint64(n+255) / 256
	}
	if c.rate != 0 {
		c.tokens.Sub(c.tokens, tokens(n))
	}
	m.port.Add(m.port, product(n, 8, 1e9))
	m.counters.TXPackets++
	m.counters.TXBytes += uint64(n)
	e := hw.Event{Type: pcc.EventTX, Context: uint32(i), Words: [3]uint32{uint32(n / 32), 1}}
	if c.probe {
		e.Flags, c.probe = 1<<2, false
	}
	m.post(e)
}

// judge is what STATE and the counters say of a context after a step of so many nanoseconds.
func (m *modelDevice) judge(c *modelContext, ns uint64) {
	b := m.blocked(c)
	c.state = uint32(c.gen) << 8
	if c.enabled && b == 0 {
		c.state |= 1
	}
	if !c.enabled || c.head == c.index {
		return
	}
	c.state |= b
	n := &m.counters
	for k, blocked := range []*uint64{&n.WindowBlockedNs, &n.CreditBlockedNs, &n.RateBlockedNs} {
		*blocked += ns * uint64(b>>(k+1)&1)
	}
}

func (m *modelDevice) post(e hw.Event) {
	switch e.Type {
	case pcc.EventNACK, hw.EventTrimNACK:
		m.counters.NACKs++
	case pcc.EventCNP:
		m.counters.CNPs++
	case hw.EventACKCC:
		m.counters.RXPackets++
	}
	i := int(e.Context) % len(m.rings)
	c, r := &m.contexts[e.Context], &m.rings[i]
	if !r.on || r.prod-uint32(m.load(hw.Reg.Cons, i)) >= r.size {
		r.lost++
		c.lost = true
		m.counters.EventsLost++
		return
	}
	e.Generation, e.Serial = c.gen, c.serial
	if e.Stamp == 0 {
		e.Stamp = uint32(m.ticks)
	}
	if c.lost {
		e.Flags |= hw.FlagLost
	}
	c.lost = false
	c.serial++
	r.prod++
	m.want[i] = append(m.want[i], e)
}

// differs returns what an engine reads from the registers and should not.
func (m *modelDevice) differs() error {
	want := map[hw.Register][]uint64{
		hw.Reg.Fault: {uint64(m.fault)}, hw.Reg.Resets: {uint64(m.resets)}, hw.Reg.Now: {m.ticks},
	}
	counters := reflect.ValueOf(m.counters)
	for i := range counters.NumField() {
		want[hw.Reg.Counter] = append(want[hw.Reg.Counter], counters.Field(i).Uint())
	}
	for i := range m.contexts {
		c := &m.contexts[i]
		for r, v := range map[hw.Register]uint64{
			hw.Reg.State: uint64(c.state), hw.Reg.Sent: c.sent, hw.Reg.Acked: c.acked, hw.Reg.CreditUsed: c.used,
		} {
			want[r] = append(want[r], v)
		}
	}
	for i := range m.rings {
		r := &m.rings[i]
		want[hw.Reg.Prod] = append(want[hw.Reg.Prod], uint64(r.prod))
		want[hw.Reg.Lost] = append(want[hw.Reg.Lost], uint64(r.lost))
		want[hw.Reg.RingState] = append(want[hw.Reg.RingState], uint64(r.ctl))
	}
	for i := range m.pdcs {
		p := &m.pdcs[i]
		want[hw.Reg.CACK] = append(want[hw.Reg.CACK], uint64(p.cack))
		want[hw.Reg.SACK] = append(want[hw.Reg.SACK], p.sack)
		if got := uint32(m.load(hw.Reg.PDC, i)); got&0xffff != p.state {
			return fmt.Errorf("PDC_STATE %d is %#x, want %#x", i, got, p.state)
		}
	}
	for r, values := range want {
		for i, v := range values {
			if got := m.load(r, i); got != v {
				return fmt.Errorf("%s %d is %#x, want %#x", r.Name, i, got, v)
			}
		}
	}
	return nil
}
