// SPDX-License-Identifier: Apache-2.0

package hbm

import (
	"cmp"
	"errors"
	"math"

	"github.com/uetcc/uetcc/internal/check"
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
	done     []Done // ring of retired requests that the caller has not taken
	first    int    // oldest retired request
	untaken  int
	usage    []Usage // by requester
	occupied int64   // bytes submitted and not retired
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
		done:     make([]Done, cfg.waiting()+int64(cfg.Channels)),
		usage:    make([]Usage, cfg.Requesters),
	}
	for i := range c.channels {
		c.channels[i] = newChannel(&cfg)
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
	if q.n == c.cfg.Depth || c.untaken == len(c.done) {
		return ErrFull
	}
	q.push(pending{r.Tag, r.Bytes, int(line / uint64(c.cfg.Channels) % uint64(c.cfg.Banks)), now})
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
	for ; n < len(done) && c.untaken > 0; n++ {
		done[n] = c.done[c.first]
		c.first = (c.first + 1) % len(c.done)
		c.untaken--
	}
	return n
}

// run retires all transfers that finish by time now, while the ring has room.
func (c *Controller) run(now int64) {
	for c.untaken < len(c.done) {
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
	c.done[(c.first+c.untaken)%len(c.done)] = d
	c.untaken++
	c.occupied -= d.Bytes
	u := &c.usage[d.Requester]
	u.Requests++
	u.Bytes += d.Bytes
	u.Wait += d.Wait
	u.MaxWait = max(u.MaxWait, d.Wait)
	ch.busy = false
	ch.dispatch(&c.cfg, ch.finish)
}
