// SPDX-License-Identifier: Apache-2.0

// Package offload lets a NIC enforce the decisions of a congestion control context.
//
// The engine keeps computing window and credit, and a [Binding] writes both to the
// context's registers; the device sends packets by itself as far as the registers allow,
// and the engine reads back the progress. If the device lacks a needed feature, or dies,
// the binding falls back: the same packets are then the caller's to send in software, each
// exactly once.
//
// A packet in the device's queue has a finished header, so no packet can ask for an
// acknowledgement at the end of the window (AckRequest of ccc.SendParams). With a window
// below a target's acknowledgement interval, the device would stand still until a time-out:
// have every packet ask (AR of pdc.Packet). The timers of a PDC run from the moment a
// packet is given out; hand over no more than the device sends soon.
package offload

import (
	"cmp"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/enum"
)

// State names the sender.
type State uint8

// States.
const (
	Software State = iota // the caller sends; the zero value
	Pending               // the device is being programmed, the caller still sends
	Hardware              // the device sends
)

// String returns the state's name.
func (s State) String() string { return enum.Name([]string{"software", "pending", "hardware"}, s) }

// Config describes a binding.
type Config struct {
	Slot int // context block
	Page int // doorbell page, of no other goroutine

	// Control is for the present life of the slot: the generation is the last life's plus
	// 1. Enable is the binding's.
	Control hw.Control

	Size    int64 // nominal bytes that a packet counts for in the context, up to 65,536 (0: the device's MTU)
	Timeout int64 // ns for which the device's clock may stand still (0: 10 ms)
}

func (c *Config) fill(mtu int64) {
	c.Size = cmp.Or(c.Size, mtu)
	c.Timeout = cmp.Or(c.Timeout, 10_000_000)
}

func (c *Config) validate() error {
	return cmp.Or(
		check.Range(hw.ErrConfig, "Size", c.Size, 0, 1<<16),
		check.AtLeast(hw.ErrConfig, "Timeout", c.Timeout, 0),
	)
}

// Binding ties one [ccc.Context] to one context block. The zero value sends in
// software. Single writer: the owner of the context.
type Binding struct {
	ctx    hw.Context
	bell   hw.Doorbell
	clock  hw.Clock
	watch  hw.Watch
	cfg    Config
	state  State
	queued uint64 // packets handed to the device in this life
	sent   uint64 // part of queued reported to the context
	base   uint64 // SENT when this life began
	spent  uint64 // CREDIT_USED then
	mtu    uint64
}

// Bind programs a context block of the device. The binding is [Pending] until
// [Binding.Poll] sees the device use the block, and [Software] for good if the
// device does not offer what the mode needs or is not ready: that is not an
// error. Errors: [hw.ErrConfig], and those of [hw.Device.Context] and [hw.Device.Doorbell].
func Bind(dev *hw.Device, cfg Config, now int64) (Binding, error) {
	if err := cfg.validate(); err != nil {
		return Binding{}, err
	}
	ctx, err := dev.Context(cfg.Slot)
	if err != nil {
		return Binding{}, err
	}
	bell, err := dev.Doorbell(cfg.Page)
	if err != nil {
		return Binding{}, err
	}
	need := cfg.Control.Mode.Needs()
	if dev.Enabled()&need != need || dev.Status()&hw.StatusReady == 0 || dev.MTU() == 0 {
		return Binding{}, nil
	}
	cfg.fill(dev.MTU())
	b := Binding{ctx: ctx, bell: bell, clock: dev.Clock(), cfg: cfg, mtu: uint64(dev.MTU())}
	b.watch = hw.NewWatch(b.clock, now, cfg.Timeout)
	b.state = Pending
	b.ctx.SetCwnd(0) // the last life's window does not apply
	b.cfg.Control.Enable = true
	b.ctx.Commit(b.cfg.Control)
	return b, nil
}

// Poll looks at the device and returns the sender from now on. Call Poll more often than
// the timeout. When it returns [Software] after [Hardware], because the device stands still
// or has forgotten the context in a reset, call [Binding.Collect] once more and send the
// packets of [Binding.Unsent].
func (b *Binding) Poll(now int64) State {
	if b.state == Software {
		return Software
	}
	alive, known := b.watch.Alive(b.clock, now), b.ctx.State().Generation == b.cfg.Control.Generation
	switch {
	case !alive || b.state == Hardware && !known:
		b.Release()
	case b.state == Pending && known:
		b.base, b.spent = b.ctx.Sent(), b.ctx.CreditUsed()
		b.state = Hardware
	}
	return b.state
}

// Publish gives the device the context's window, credit and backlog: call it after every
// event that may move any of the three. Each costs a single store.
func (b *Binding) Publish(c *ccc.Context) {
	if b.state != Hardware {
		return
	}
	b.ctx.SetCwnd(c.Cwnd())
	if b.cfg.Control.Mode.Needs()&hw.FeatureCredit != 0 {
		// The device counts whole packets and never overdraws, so the device may hold back
		// a last packet the context's balance would still admit. The balance lacks the
		// collected packets, but not the device's use since.
		packets := b.sent + uint64(max(c.Credit(), 0)/b.cfg.Size)
		b.ctx.SetCredit(b.spent + packets*((b.mtu+255)>>8))
		b.ctx.SetBacklog(c.Backlog())
	}
}

// Queue hands n packets, ready in host memory, to the device and reports true. False, with
// nothing handed over, while the caller sends, or if the device would hold more than 32,767
// packets.
func (b *Binding) Queue(n int) bool {
	if b.state != Hardware || n < 0 || b.queued+uint64(n)-b.sent > 1<<15-1 {
		return false
	}
	b.queued += uint64(n)
	b.bell.Ring(&b.ctx, b.cfg.Control.Generation, uint16(b.queued))
	return true
}

// Collect tells the context the packets sent by the device since the last call and returns
// the number.
func (b *Binding) Collect(c *ccc.Context, p *ccc.Params, now int64) (packets int) {
	if b.mtu == 0 || b.sent == b.queued {
		return 0
	}
	bytes := b.ctx.Sent() - b.base
	if int64(bytes) < 0 { // SENT starts afresh after a reset
		return 0
	}
	total := min(bytes/b.mtu, b.queued) // a lying device can't send more than received
	for ; b.sent < total; b.sent++ {
		c.OnSend(p, now, b.cfg.Size, false)
		packets++
	}
	return packets
}

// Unsent returns how many packets were handed to the device and not reported as
// sent. After a fall-back these packets are the caller's.
func (b *Binding) Unsent() int { return int(b.queued - b.sent) }

// Release takes the context back: the device is told to stop, under another
// generation, in case the device only slept. A packet sent before the device reads the stop
// can arrive twice, as the PDS expects.
func (b *Binding) Release() {
	if b.state == Software {
		return
	}
	stop := b.cfg.Control
	stop.Enable = false
	stop.Generation ^= 0x80 // the generation plus 1 belongs to the next life
	b.ctx.Commit(stop)
	b.state = Software
}
