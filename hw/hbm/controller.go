package hbm

import (
	"cmp"
	"errors"
	"math"
	"math/bits"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/enum"
)

// Errors of this package.
var (
	ErrConfig    = errors.New("hbm: invalid configuration")
	ErrFull      = errors.New("hbm: queue full")
	ErrRequester = errors.New("hbm: no such requester, or bytes out of range")
)

// Arbitration chooses among requesters that wait for one channel.
type Arbitration uint8

// Arbitration policies.
const (
	RoundRobin  Arbitration = iota // one request of each requester in turn
	OldestFirst                    // the request that has waited longest
)

var arbitrationNames = [...]string{"round-robin", "oldest-first"}

// String returns the policy's name.
func (a Arbitration) String() string { return enum.Name(arbitrationNames[:], a) }

// Config describes a controller.
type Config struct {
	Channels    int   // independent channels, 1..256
	Banks       int   // banks of a channel, 1..256
	Requesters  int   // 1..4096
	Depth       int   // requests that one requester can have waiting at one channel, 1..65,536
	Rate        int64 // bytes per second that one channel transfers
	BankBusy    int64 // nanoseconds for which a bank is unusable after a transfer
	Interleave  int64 // bytes after which the address moves on to the next channel
	Arbitration Arbitration
}

// Request is one access to memory. It is served whole by the channel and bank of
// its first byte.
type Request struct {
	Requester int
	Addr      uint64
	Bytes     int64  // 1 to 2^40
	Tag       uint64 // the caller's, given back in [Done]
}

// Done is a request that the memory has retired.
type Done struct {
	Tag       uint64
	Requester int
	Bytes     int64
	At        int64 // when it was retired
	Wait      int64 // nanoseconds from submission to the start of its transfer
}

// Usage is what a requester got so far.
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
	queues   []queue // [channel][requester]
	slots    []pending
	banks    []int64 // [channel][bank]: when it is usable again
	done     []Done  // ring of retired requests that the caller has not taken
	first    int     // oldest of them
	untaken  int
	usage    []Usage
	occupied int64 // bytes submitted and not retired
}

// channel is a channel and the request that it transfers.
type channel struct {
	busy   bool
	turn   int // requester after the one served last
	cur    pending
	who    int
	start  int64
	finish int64
}

// queue is the ring of one requester's requests at one channel.
type queue struct{ head, n int }

type pending struct {
	tag   uint64
	bytes int64
	bank  int
	at    int64
}

func (c *Config) validate() error {
	return cmp.Or(
		check.Range(ErrConfig, "Channels", c.Channels, 1, 256),
		check.Range(ErrConfig, "Banks", c.Banks, 1, 256),
		check.Range(ErrConfig, "Requesters", c.Requesters, 1, 4096),
		check.Range(ErrConfig, "Depth", c.Depth, 1, 1<<16),
		check.AtLeast(ErrConfig, "Rate", c.Rate, 1),
		check.AtLeast(ErrConfig, "BankBusy", c.BankBusy, 0),
		check.AtLeast(ErrConfig, "Interleave", c.Interleave, 1),
		check.Range(ErrConfig, "Arbitration", c.Arbitration, 0, OldestFirst),
	)
}

// NewController returns an idle controller. Errors wrap [ErrConfig] and name the field.
func NewController(cfg Config) (*Controller, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	queues := cfg.Channels * cfg.Requesters
	c := &Controller{
		cfg:      cfg,
		channels: make([]channel, cfg.Channels),
		queues:   make([]queue, queues),
		slots:    make([]pending, queues*cfg.Depth),
		banks:    make([]int64, cfg.Channels*cfg.Banks),
		done:     make([]Done, queues*cfg.Depth+cfg.Channels),
		usage:    make([]Usage, cfg.Requesters),
	}
	for i := range c.banks {
		c.banks[i] = math.MinInt64 // usable whenever the clock begins
	}
	return c, nil
}

// Rate returns the bytes per second that all channels together transfer when no
// bank is in the way.
func (c *Controller) Rate() int64 { return int64(c.cfg.Channels) * c.cfg.Rate }

// Occupied returns the bytes that were submitted and are not retired.
func (c *Controller) Occupied() int64 { return c.occupied }

// Usage returns what a requester got so far.
func (c *Controller) Usage(requester int) Usage { return c.usage[requester] }

// Submit hands a request to the controller at time now, which must not be before
// that of an earlier call. Errors: [ErrRequester], and [ErrFull] where a real
// controller would push back or drop.
func (c *Controller) Submit(now int64, r Request) error {
	if uint(r.Requester) >= uint(c.cfg.Requesters) || r.Bytes < 1 || r.Bytes > 1<<40 {
		return ErrRequester
	}
	c.run(now)
	line := r.Addr / uint64(c.cfg.Interleave)
	ch := int(line % uint64(c.cfg.Channels))
	p := pending{r.Tag, r.Bytes, int(line / uint64(c.cfg.Channels) % uint64(c.cfg.Banks)), now}
	i := ch*c.cfg.Requesters + r.Requester
	q := &c.queues[i]
	if q.n == c.cfg.Depth || c.untaken+c.cfg.Channels >= len(c.done) {
		return ErrFull
	}
	c.slots[i*c.cfg.Depth+(q.head+q.n)%c.cfg.Depth] = p
	q.n++
	c.occupied += r.Bytes
	if !c.channels[ch].busy {
		c.dispatch(ch, now)
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

// Retire moves requests that are retired by time now to done, in the order of
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

// run retires everything that finishes by time now, while there is room for it.
func (c *Controller) run(now int64) {
	for c.untaken < len(c.done) {
		first := -1
		for i := range c.channels {
			if ch := &c.channels[i]; ch.busy && ch.finish <= now && (first < 0 || ch.finish < c.channels[first].finish) {
				first = i
			}
		}
		if first < 0 {
			return
		}
		c.finish(first)
	}
}

// finish retires what channel i transfers and starts its next request.
func (c *Controller) finish(i int) {
	ch := &c.channels[i]
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
	c.dispatch(i, ch.finish)
}

// dispatch starts a request on channel i, which is free at time now, if one
// waits.
func (c *Controller) dispatch(i int, now int64) {
	who, start := c.choose(i, now)
	if who < 0 {
		return
	}
	ch := &c.channels[i]
	k := i*c.cfg.Requesters + who
	q := &c.queues[k]
	ch.cur = c.slots[k*c.cfg.Depth+q.head]
	q.head = (q.head + 1) % c.cfg.Depth
	q.n--
	ch.busy, ch.who, ch.turn, ch.start = true, who, (who+1)%c.cfg.Requesters, start
	ch.finish = after(start, c.transfer(ch.cur.bytes))
	c.banks[i*c.cfg.Banks+ch.cur.bank] = after(ch.finish, c.cfg.BankBusy)
}

// choose returns the requester that channel i serves next and when its bank lets
// it start, or -1. Requests that can start now go before ones that must wait for
// their bank; among equals the arbitration decides.
func (c *Controller) choose(i int, now int64) (who int, start int64) {
	who, oldest := -1, int64(0)
	for n := range c.cfg.Requesters {
		r := (c.channels[i].turn + n) % c.cfg.Requesters
		k := i*c.cfg.Requesters + r
		if c.queues[k].n == 0 {
			continue
		}
		p := &c.slots[k*c.cfg.Depth+c.queues[k].head]
		ready := max(now, c.banks[i*c.cfg.Banks+p.bank])
		better := who < 0 || ready < start ||
			ready == start && c.cfg.Arbitration == OldestFirst && p.at < oldest
		if better {
			who, start, oldest = r, ready, p.at
		}
	}
	return who, start
}

// transfer returns how long a channel is busy with the given bytes, rounded up.
func (c *Controller) transfer(bytes int64) int64 {
	hi, lo := bits.Mul64(uint64(bytes), 1_000_000_000)
	lo, carry := bits.Add64(lo, uint64(c.cfg.Rate)-1, 0)
	if hi += carry; hi >= uint64(c.cfg.Rate) {
		return math.MaxInt64
	}
	ns, _ := bits.Div64(hi, lo, uint64(c.cfg.Rate))
	return int64(min(ns, math.MaxInt64))
}

// after is d nanoseconds after t, at most the last time there is.
func after(t, d int64) int64 {
	if t > math.MaxInt64-d {
		return math.MaxInt64
	}
	return t + d
}
