// SPDX-License-Identifier: Apache-2.0

package hw

import "github.com/uetcc/uetcc/internal/enum"

// Mode selects the limits enforced by a device for a context.
type Mode uint8

// Modes.
const (
	ModeWindow Mode = iota // CWND
	ModeCredit             // CREDIT
	ModeBoth               // CWND and CREDIT
	ModeRate               // RATE only
)

// String returns a short name.
func (m Mode) String() string { return enum.Name([]string{"window", "credit", "both", "rate"}, m) }

// Needs returns the features a device must have for the mode.
func (m Mode) Needs() Feature {
	switch m {
	case ModeWindow:
		return FeatureWindow
	case ModeCredit:
		return FeatureCredit
	case ModeBoth:
		return FeatureWindow | FeatureCredit
	}
	return FeatureRate
}

// Control holds the values applied together by a commit.
type Control struct {
	Enable       bool
	Mode         Mode
	Generation   uint8
	TrafficClass uint8
	Rate         uint32 // 2^20 is the line rate; 0 is unpaced
	Burst        uint32 // bytes, depth of the token bucket; at least an MTU where Rate is not 0
}

// State is a context as the device sees it.
type State struct {
	Ready      bool // a packet may leave now
	Window     bool // blocked by CWND
	Credit     bool // blocked by CREDIT
	Rate       bool // blocked by the token bucket
	Generation uint8
}

// Context is the block of one congestion control context. A single writer owns the block;
// loads may come from anywhere.
type Context struct {
	space  Space
	base   uint32
	serial uint32 // of commits
	on     Feature
	index  uint32
}

// Context returns context block i. The error is [ErrIndex].
func (d *Device) Context(i int) (Context, error) {
	base, err := d.offset(Reg.Ctl, i)
	if err != nil {
		return Context{}, err
	}
	last := d.space.Load32(base+Reg.Ctl.Offset) >> 24 // maybe of an engine before
	return Context{space: d.space, base: base, serial: last, on: d.on, index: uint32(i)}, nil
}

// Commit programs the context and makes the device apply the change as a whole. The device
// takes the last of several commits between two of the device's looks; CTL and COMMIT
// carry one serial number, so parts of two commits never mix.
func (c *Context) Commit(v Control) {
	c.serial++
	ctl := uint32(v.Mode)<<1 | uint32(v.Generation)<<8 | uint32(v.TrafficClass)<<16 | c.serial<<24
	if v.Enable {
		ctl |= 1
	}
	c.space.Store32(c.base+Reg.Ctl.Offset, ctl)
	if c.on&FeatureRate != 0 {
		c.space.Store32(c.base+Reg.Rate.Offset, v.Rate)
		c.space.Store32(c.base+Reg.Burst.Offset, v.Burst)
	}
	c.space.Store32(c.base+Reg.Commit.Offset, c.serial<<8|uint32(v.Generation))
	c.space.Flush()
}

// SetCwnd gives the device a window in bytes, a negative one as 0. With less than the bytes in
// flight nothing new leaves. Without [FeatureWindow] SetCwnd changes nothing.
//
//uetcc:hot inlines nobounds
func (c *Context) SetCwnd(bytes int64) {
	if c.on&FeatureWindow != 0 {
		c.space.Store64(c.base+Reg.Cwnd.Offset, uint64(max(bytes, 0)))
	}
}

// SetCredit gives the device the total of credit in quanta of 256 bytes since
// the context was first used. The device ignores an older total. Without [FeatureCredit]
// SetCredit changes nothing.
//
// A generation begins without credit. Credit stored before the device has taken the
// commit belongs to the generation before, even if stored after the commit. So after a
// [Context.Commit] of another generation wait until [Context.State] names the generation,
// and give a total above [Context.CreditUsed].
//
//uetcc:hot inlines nobounds
func (c *Context) SetCredit(quanta uint64) {
	if c.on&FeatureCredit != 0 {
		c.space.Store64(c.base+Reg.Credit.Offset, quanta)
	}
}

// SetBacklog tells the device the waiting bytes, a negative number as 0, advertised as the credit
// target. Without [FeatureCredit] SetBacklog changes nothing.
func (c *Context) SetBacklog(bytes int64) {
	if c.on&FeatureCredit != 0 {
		c.space.Store64(c.base+Reg.Backlog.Offset, uint64(max(bytes, 0)))
	}
}

// State returns how the device sees the context. The generation tells whether the last
// commit has arrived.
func (c *Context) State() State {
	v := c.space.Load32(c.base + Reg.State.Offset)
	return State{v&1 != 0, v&2 != 0, v&4 != 0, v&8 != 0, uint8(v >> 8)}
}

// Acked returns the cumulative bytes acknowledged. Load Acked before [Context.Sent]: then
// the difference is never too small.
func (c *Context) Acked() uint64 { return c.space.Load64(c.base + Reg.Acked.Offset) }

// Sent returns the cumulative bytes sent.
func (c *Context) Sent() uint64 { return c.space.Load64(c.base + Reg.Sent.Offset) }

// CreditUsed returns the cumulative credit spent in quanta of 256 bytes.
func (c *Context) CreditUsed() uint64 {
	if c.on&FeatureCredit == 0 {
		return 0
	}
	return c.space.Load64(c.base + Reg.CreditUsed.Offset)
}

// Binding ties a packet delivery context to a congestion context. The binding is
// a single register, so opening and closing are atomic.
type Binding struct {
	Local, Remote uint16 // PDCIDs; the remote one is 0 while unknown
	Context       uint16 // congestion context
	Generation    uint8
	Open          bool
	SYN           bool // the peer's PDCID is not known yet
	Ordered       bool // ROD
}

func (b Binding) word() uint64 {
	w := uint64(b.Local) | uint64(b.Remote)<<16 | uint64(b.Context)<<32 | uint64(b.Generation)<<48
	for i, set := range [...]bool{b.Open, b.SYN, b.Ordered} {
		if set {
			w |= 1 << (56 + i)
		}
	}
	return w
}

func bindingOf(w uint64) Binding {
	return Binding{
		uint16(w), uint16(w >> 16), uint16(w >> 32), uint8(w >> 48),
		w>>56&1 != 0, w>>57&1 != 0, w>>58&1 != 0,
	}
}

// PDC is the block of one packet delivery context. A single writer owns the
// block. [Device.Load] and [Device.Store] reach the other registers of [Reg].
type PDC struct {
	space Space
	base  uint32
}

// PDC returns PDC block i. The error is [ErrIndex].
func (d *Device) PDC(i int) (PDC, error) {
	base, err := d.offset(Reg.Bind, i)
	return PDC{d.space, base}, err
}

// Bind opens, changes or closes the context. A close is complete when
// [PDC.State] says so.
func (p *PDC) Bind(b Binding) { p.space.Store64(p.base+Reg.Bind.Offset, b.word()) }

// State returns whether the device has the context open, and the generation in
// use.
func (p *PDC) State() (open bool, generation uint8) {
	v := p.space.Load32(p.base + Reg.PDC.Offset)
	return v&1 != 0, uint8(v >> 8)
}

// Acked returns the cumulative PSN acknowledged and the bitmap of the following
// PSNs, as of a single moment. False if the device was changing the pair at each
// of several tries; ask again later.
func (p *PDC) Acked() (cack uint32, sack uint64, ok bool) {
	for range 4 {
		before := p.space.Load32(p.base + Reg.PDC.Offset)
		cack = p.space.Load32(p.base + Reg.CACK.Offset)
		sack = p.space.Load64(p.base + Reg.SACK.Offset)
		if before>>16&1 == 0 && p.space.Load32(p.base+Reg.PDC.Offset) == before {
			return cack, sack, true
		}
	}
	return 0, 0, false
}
