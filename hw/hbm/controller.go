// SPDX-License-Identifier: Apache-2.0

package hbm

import (
	"cmp"
	"errors"
	"math"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/fifo"
)

// Errors of this package.
var (
	ErrConfig    = errors.New("hbm: invalid configuration")
	ErrFull      = errors.New("hbm: queue full")
	errRequester = errors.New("hbm: no such requester, or bytes out of range")
)

// Config describes a controller. Waiting requests, Channels x Requesters x Depth, are
// at most 2^24.
type Config struct {
	Channels   int   // independent channels, 1..256
	Banks      int   // banks of a channel, 1..256
	Requesters int   // 1..4096
	Depth      int   // requests that one requester can have waiting at one channel, 1..65,536
	Rate       int64 // bytes per second that one channel transfers, 1 or more
	BankBusy   int64 // nanoseconds for which a bank is unusable after a transfer, 0 or more
	Interleave int64 // bytes after which the address moves on to the next channel, 1 or more
}

// maxWaiting bounds the waiting requests of all channels; memory for all of them is
// taken at construction.
const maxWaiting = 1 << 24

// Request is one access to memory. The channel and bank of the first byte serve the
// whole request.
type Request struct {
	Requester int
	Addr      uint64
	Bytes     int64  // 1 to 2^33
	Tag       uint64 // the caller's, given back in [Done]
}

// maxBytes keeps a request's time at one byte a second within an int64 of nanoseconds.
const maxBytes = 1 << 33

// Done is a request the memory has retired.
type Done struct {
	Tag       uint64
	Requester int
	Bytes     int64
	At        int64 // time of retirement
	Wait      int64 // nanoseconds from submission to the start of its transfer
}

// Usage is the service of a requester so far.
type Usage struct {
	Requests int64
	Bytes    int64
	Wait     int64 // sum of [Done.Wait]
	MaxWait  int64
}

// Controller is a memory controller. Single writer.
type Controller struct {
	cfg      Config
	channels []channel
	done     fifo.Queue[Done] // retired requests that the caller has not taken
	usage    []Usage          // by requester
	occupied int64            // bytes submitted and not retired
}

func (c *Config) validate() error {
	return cmp.Or(
		check.Range(ErrConfig, "Channels", c.Channels, 1, 256),
		check.Range(ErrConfig, "Banks", c.Banks, 1, 256),
		check.Range(ErrConfig, "Requesters", c.Requesters, 1, 4096),
		check.Range(ErrConfig, "Depth", c.Depth, 1, 1<<16),
		check.Range(ErrConfig, "Channels x Requesters x Depth", c.waiting(), 1, maxWaiting),
		check.AtLeast(ErrConfig, "Rate", c.Rate, 1),
		check.AtLeast(ErrConfig, "BankBusy", c.BankBusy, 0),
		check.AtLeast(ErrConfig, "Interleave", c.Interleave, 1),
	)
}

// waiting is how many requests can wait.
func (c *Config) waiting() int64 { return int64(c.Channels) * int64(c.Requesters) * int64(c.Depth) }

// NewController returns an idle controller. Errors wrap [ErrConfig] and name the field.
func NewController(cfg Config) (*Controller, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &Controller{
		cfg:      cfg,
		channels: make([]channel, cfg.Channels),
		done:     fifo.Make[Done](int(cfg.waiting()) + cfg.Channels),
		usage:    make([]Usage, cfg.Requesters),
	}
	for i := range c.channels {
		ch := channel{queues: make([]fifo.Queue[pending], cfg.Requesters), banks: make([]int64, cfg.Banks)}
		for r := range ch.queues {
			ch.queues[r] = fifo.Make[pending](cfg.Depth)
		}
		for b := range ch.banks {
			ch.banks[b] = math.MinInt64 // usable whenever the clock begins
		}
		c.channels[i] = ch
	}
	return c, nil
}

// Occupied returns the bytes submitted and are not retired.
func (c *Controller) Occupied() int64 { return c.occupied }

// Usage returns the service of a requester so far.
func (c *Controller) Usage(requester int) Usage { return c.usage[requester] }

// Submit hands a request to the controller at time now, never before the time of an
// earlier call. Errors: errRequester, and [ErrFull] where a real controller would
// push back or drop.
func (c *Controller) Submit(now int64, r Request) error {
	if uint(r.Requester) >= uint(c.cfg.Requesters) || r.Bytes < 1 || r.Bytes > maxBytes {
		return errRequester
	}
	c.run(now)
	line := r.Addr / uint64(c.cfg.Interleave)
	ch := &c.channels[line%uint64(c.cfg.Channels)]
	q := &ch.queues[r.Requester]
	if q.Len() == c.cfg.Depth || c.done.Free() == 0 {
		return ErrFull
	}
	bank := int(line / uint64(c.cfg.Channels) % uint64(c.cfg.Banks))
	*q.Push() = pending{r.Tag, r.Bytes, bank, now}
	c.occupied += r.Bytes
	if !ch.busy {
		ch.dispatch(&c.cfg, now)
	}
	return nil
}

// Next returns when the next request will be retired, and false if the memory is
// idle.
func (c *Controller) Next() (at int64, ok bool) {
	at = math.MaxInt64
	for i := range c.channels {
		if ch := &c.channels[i]; ch.busy && ch.finish <= at {
			at, ok = ch.finish, true
		}
	}
	return at, ok
}

// Retire moves requests retired by time now to done, in the order of
// their times, and returns their number. Call again if done was filled.
func (c *Controller) Retire(now int64, done []Done) (n int) {
	c.run(now)
	for ; n < len(done) && c.done.Len() > 0; n++ {
		done[n] = *c.done.First()
		c.done.Drop()
	}
	return n
}

// run retires all transfers that finish by time now, while done has room.
func (c *Controller) run(now int64) {
	for c.done.Free() > 0 {
		var first *channel
		for i := range c.channels {
			if ch := &c.channels[i]; ch.busy && ch.finish <= now && (first == nil || ch.finish < first.finish) {
				first = ch
			}
		}
		if first == nil {
			return
		}
		c.retire(first)
	}
}

// retire retires a channel's transfer and starts its next request.
func (c *Controller) retire(ch *channel) {
	d := Done{ch.cur.tag, ch.who, ch.cur.bytes, ch.finish, ch.start - ch.cur.at}
	*c.done.Push() = d
	c.occupied -= d.Bytes
	u := &c.usage[d.Requester]
	u.Requests++
	u.Bytes += d.Bytes
	u.Wait += d.Wait
	u.MaxWait = max(u.MaxWait, d.Wait)
	ch.busy = false
	ch.dispatch(&c.cfg, ch.finish)
}

// channel is one channel with its waiting requests and the request under transfer.
type channel struct {
	queues []fifo.Queue[pending] // by requester
	banks  []int64               // when each is usable again
	turn   int                   // requester after the one served last
	busy   bool
	cur    pending
	who    int
	start  int64
	finish int64
	early  int64 // part of a nanosecond by which the exact finish was earlier, in 1/Rate
}

type pending struct {
	tag   uint64
	bytes int64
	bank  int
	at    int64
}

// dispatch starts a request on the channel, free at time now, if any request waits.
func (ch *channel) dispatch(c *Config, now int64) {
	who, start := ch.choose(now)
	if who < 0 {
		return
	}
	q := &ch.queues[who]
	ch.cur = *q.First()
	q.Drop()
	if start != ch.finish { // not behind another transfer
		ch.early = 0
	}
	ch.busy, ch.who, ch.turn, ch.start = true, who, (who+1)%len(ch.queues), start
	lasts := ch.cur.bytes*1e9 - ch.early
	ns := lasts / c.Rate
	if lasts%c.Rate > 0 { // rounded up
		ns++
	}
	ch.finish, ch.early = deadline.After(start, ns), ns*c.Rate-lasts
	ch.banks[ch.cur.bank] = deadline.After(ch.finish, c.BankBusy)
}

// choose returns the requester served next and the start time that the bank allows,
// or -1. Requests that can start now go before requests whose bank is busy; equals take
// turns.
func (ch *channel) choose(now int64) (who int, start int64) {
	who = -1
	for n := range ch.queues {
		r := (ch.turn + n) % len(ch.queues)
		p := ch.queues[r].First()
		if p == nil {
			continue
		}
		ready := max(now, ch.banks[p.bank])
		if who < 0 || ready < start {
			who, start = r, ready
		}
	}
	return who, start
}

// Policy turns the bytes waiting in a memory controller into the penalty
// (rcv_cwnd_pend) of a receiver's ACKs: from Low to High waiting bytes the penalty
// grows from 1 to Max. An episode ends when the bytes waiting fall to Resume. How a
// destination computes rcv_cwnd_pend is not specified; the rule here is the simplest
// without flapping. Single writer.
type Policy struct {
	low, high, resume int64
	max               int64
	active            bool // an episode is on
	ended             bool // an episode has ended
}

// PolicyConfig describes a policy.
type PolicyConfig struct {
	Low    int64 // waiting bytes above which the penalty begins; 0 or more
	High   int64 // waiting bytes of penalty Max; above Low, up to 2^56
	Resume int64 // waiting bytes at which an episode ends, 0..Low
	Max    uint8 // strongest penalty, 1..127; 127 brings a source down to one packet per round trip
}

// maxThreshold keeps 127 times a threshold within an int64.
const maxThreshold = 1 << 56

// NewPolicy returns a policy without an episode. Errors wrap [ErrConfig] and name the
// field.
func NewPolicy(cfg PolicyConfig) (Policy, error) {
	err := cmp.Or(
		check.Range(ErrConfig, "Low", cfg.Low, 0, maxThreshold-1),
		check.Range(ErrConfig, "High", cfg.High, cfg.Low+1, maxThreshold),
		check.Range(ErrConfig, "Resume", cfg.Resume, 0, cfg.Low),
		check.Range(ErrConfig, "Max", cfg.Max, 1, 127),
	)
	if err != nil {
		return Policy{}, err
	}
	return Policy{low: cfg.Low, high: cfg.High, resume: cfg.Resume, max: int64(cfg.Max)}, nil
}

// Mark returns the fields of an ACK sent while the given number of bytes waits:
// rcv_cwnd_pend (0..127) and whether sources may restore their windows. The restore
// flag stays set after an episode, so a lost ACK does no harm.
func (p *Policy) Mark(waiting int64) (pend uint8, restore bool) {
	switch {
	case waiting > p.low:
		p.active = true
	case p.active && waiting <= p.resume:
		p.active, p.ended = false, true
	}
	if !p.active {
		return 0, p.ended
	}
	over := min(max(waiting-p.low, 0), p.high-p.low)
	return uint8(1 + (p.max-1)*over/(p.high-p.low)), false
}
