// SPDX-License-Identifier: Apache-2.0

package hbm

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// seven is the controller of figure 6-3: seven requesters, memory that retires
// 50 GB/s where 87.5 GB/s are asked for.
func seven() Config {
	return Config{
		Channels: 1, Banks: 16, Requesters: 7, Depth: 4096, Rate: 50e9, Interleave: 4096,
	}
}

// offer submits 4 KiB requests of all seven requesters, each at 12.5 GB/s, for
// the given time.
func offer(t *testing.T, c *Controller, ns int64) (now int64) {
	done := make([]Done, 64)
	for packet := range ns * 125 / 10 / 4096 {
		now = packet * 4096 * 10 / 125
		for r := range 7 {
			require.NoError(t, c.Submit(now, Request{Requester: r, Addr: uint64(packet*7+int64(r)) * 4096, Bytes: 4096}))
		}
		for c.Retire(now, done) > 0 {
		}
	}
	return now
}

// TestFigure6_3: with equal demand and too little memory bandwidth the queue
// grows by 37,500 bytes a microsecond and each requester gets a seventh.
func TestFigure6_3(t *testing.T) {
	c, err := NewController(seven())
	require.NoError(t, err)
	now := offer(t, c, 200_000)
	require.InDelta(t, 37.5*float64(now), float64(c.Occupied()), 2*7*4096, "but for two requests of each")
	share := int64(50e9) / 7 * now / 1e9
	for r := range 7 {
		u := c.Usage(r)
		require.InDelta(t, float64(share), float64(u.Bytes), 4096, "requester %d", r)
		require.Positive(t, u.Wait)
		require.GreaterOrEqual(t, u.MaxWait, u.Wait/u.Requests)
	}
}

// TestArbitrationOrder: requesters take turns, whoever came first.
func TestArbitrationOrder(t *testing.T) {
	cfg := seven()
	cfg.Requesters = 2
	c, _ := NewController(cfg)
	for i := range uint64(4) { // requester 0 sends a burst, then 1 comes
		require.NoError(t, c.Submit(0, Request{Requester: 0, Addr: i * 4096, Bytes: 4096, Tag: i}))
	}
	require.NoError(t, c.Submit(1, Request{Requester: 1, Addr: 9 * 4096, Bytes: 4096, Tag: 9}))
	done := make([]Done, 8)
	var order []uint64
	for _, d := range done[:c.Retire(1e9, done)] {
		order = append(order, d.Tag)
	}
	require.Equal(t, []uint64{0, 9, 1, 2, 3}, order)
}

// TestBankConflict: requests to one bank wait for it, requests to others pass.
func TestBankConflict(t *testing.T) {
	cfg := Config{Channels: 1, Banks: 2, Requesters: 2, Depth: 4, Rate: 1e9, BankBusy: 500, Interleave: 64}
	c, _ := NewController(cfg)
	submit := func(r int, addr uint64, tag uint64) {
		require.NoError(t, c.Submit(0, Request{Requester: r, Addr: addr, Bytes: 64, Tag: tag}))
	}
	submit(0, 0, 1)   // bank 0
	submit(0, 128, 2) // bank 0 again
	submit(1, 64, 3)  // bank 1
	var done [4]Done
	require.Equal(t, 3, c.Retire(10_000, done[:]))
	require.Equal(t, []uint64{1, 3, 2}, []uint64{done[0].Tag, done[1].Tag, done[2].Tag})
	require.Equal(t, []int64{64, 128, 564 + 64}, []int64{done[0].At, done[1].At, done[2].At})
	require.EqualValues(t, 564, done[2].Wait)
}

// TestChannelsWorkInParallel: addresses that differ by the interleave use channels in
// parallel.
func TestChannelsWorkInParallel(t *testing.T) {
	cfg := Config{Channels: 4, Banks: 1, Requesters: 1, Depth: 4, Rate: 1e9, Interleave: 256}
	c, _ := NewController(cfg)
	for i := range uint64(4) {
		require.NoError(t, c.Submit(0, Request{Addr: i * 256, Bytes: 256}))
	}
	at, ok := c.Next()
	require.True(t, ok)
	require.EqualValues(t, 256, at)
	var done [4]Done
	require.Equal(t, 4, c.Retire(256, done[:]), "all at once")
	_, ok = c.Next()
	require.False(t, ok)
}

func TestControllerErrors(t *testing.T) {
	c, _ := NewController(Config{Channels: 1, Banks: 1, Requesters: 1, Depth: 2, Rate: 1, Interleave: 1})
	require.ErrorIs(t, c.Submit(0, Request{Requester: 1, Bytes: 1}), errRequester)
	require.ErrorIs(t, c.Submit(0, Request{Requester: -1, Bytes: 1}), errRequester)
	require.ErrorIs(t, c.Submit(0, Request{}), errRequester)
	require.ErrorIs(t, c.Submit(0, Request{Bytes: 1<<33 + 1}), errRequester)
	for range 3 { // one in transfer, two waiting
		require.NoError(t, c.Submit(0, Request{Bytes: 1}))
	}
	require.ErrorIs(t, c.Submit(0, Request{Bytes: 1}), ErrFull)
	require.EqualValues(t, 3, c.Occupied())
}

func TestConfigLimits(t *testing.T) {
	for _, tc := range []struct {
		field            string
		least, most, one int64
		set              func(*Config, int64)
	}{
		{"Channels", 1, 256, 1, func(c *Config, v int64) { c.Channels = int(v) }},
		{"Banks", 1, 256, 1, func(c *Config, v int64) { c.Banks = int(v) }},
		{"Requesters", 1, 4096, 1, func(c *Config, v int64) { c.Requesters = int(v) }},
		{"Depth", 1, 1 << 16, 1, func(c *Config, v int64) { c.Depth = int(v) }},
		{"Rate", 1, math.MaxInt64, 0, func(c *Config, v int64) { c.Rate = v }},
		{"BankBusy", 0, math.MaxInt64, 0, func(c *Config, v int64) { c.BankBusy = v }},
		{"Interleave", 1, math.MaxInt64, 0, func(c *Config, v int64) { c.Interleave = v }},
	} {
		for v, good := range map[int64]bool{tc.least - 1: false, tc.least: true, tc.most: true, tc.most + tc.one: tc.one == 0} {
			cfg := Config{Channels: 1, Banks: 1, Requesters: 1, Depth: 1, Rate: 1, Interleave: 1}
			tc.set(&cfg, v)
			_, err := NewController(cfg)
			if good {
				require.NoError(t, err, "%s %d", tc.field, v)
				continue
			}
			require.ErrorIs(t, err, ErrConfig, "%s %d", tc.field, v)
			require.ErrorContains(t, err, tc.field)
		}
	}
}

// Fields within their limits can ask for more memory together than there is.
func TestConfigLimitsTheQueues(t *testing.T) {
	cfg := seven()
	cfg.Channels, cfg.Requesters, cfg.Depth = 256, 4096, 1<<16
	_, err := NewController(cfg)
	require.ErrorIs(t, err, ErrConfig)
}

// TestLargeRequest: no number of bytes and no rate makes a transfer end before it began, and
// one that would end after the last time there is never ends.
func TestLargeRequest(t *testing.T) {
	for _, tc := range []struct{ rate, bytes, ns int64 }{
		{1e9, 1 << 33, 1 << 33},
		{3, 10, 3_333_333_334},
		{math.MaxInt64, 1, 1},
		{math.MaxInt64, 1 << 33, 1},
		{1 << 33, 1 << 33, 1e9},
		{1, 1 << 33, 1e9 << 33},
	} {
		c, err := NewController(Config{Channels: 1, Banks: 1, Requesters: 1, Depth: 2, Rate: tc.rate, BankBusy: math.MaxInt64, Interleave: 1})
		require.NoError(t, err)
		require.NoError(t, c.Submit(7, Request{Bytes: tc.bytes}))
		at, ok := c.Next()
		require.True(t, ok)
		require.Equal(t, 7+tc.ns, at, "%+v", tc)
		var done [2]Done
		require.NoError(t, c.Submit(8, Request{Bytes: 1}))
		require.LessOrEqual(t, c.Retire(math.MaxInt64-1, done[:]), 1, "the bank is busy for good")
		_, ok = c.Next()
		require.True(t, ok, "something is still to be retired")
	}
}

// TestNegativeTime: a clock may begin anywhere; banks are free at first.
func TestNegativeTime(t *testing.T) {
	c, err := NewController(seven())
	require.NoError(t, err)
	require.NoError(t, c.Submit(-1e6, Request{Bytes: 50}))
	at, _ := c.Next()
	require.EqualValues(t, -1e6+1, at)
}

// TestControllerAgainstModel: every request that was taken is retired exactly once, at the time
// and in the order that a plain rereading of the rules gives.
func TestControllerAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for range 50 {
		cfg := Config{
			Channels: 1 + r.IntN(4), Banks: 1 + r.IntN(4), Requesters: 1 + r.IntN(5), Depth: 1 + r.IntN(8),
			Rate: 1 + r.Int64N(1e10)<<r.IntN(8), BankBusy: r.Int64N(300), Interleave: 1 << r.IntN(12),
		}
		c, err := NewController(cfg)
		require.NoError(t, err)
		now, in := int64(-50_000), int64(0)
		var got []Done
		done := make([]Done, 3)
		take := func() { got = append(got, done[:c.Retire(now, done)]...) }
		taken := make([][]modelRequest, cfg.Channels)
		for range 400 {
			now += r.Int64N(500)
			q := Request{Requester: r.IntN(cfg.Requesters), Addr: r.Uint64(), Bytes: 1 + r.Int64N(4096), Tag: r.Uint64()}
			if c.Submit(now, q) == nil {
				line := q.Addr / uint64(cfg.Interleave)
				ch := line % uint64(cfg.Channels)
				taken[ch] = append(taken[ch], modelRequest{q, now, int(line / uint64(cfg.Channels) % uint64(cfg.Banks))})
				in += q.Bytes
			}
			if r.IntN(3) == 0 {
				take()
			}
		}
		want, usage := []Done{}, make([]Usage, cfg.Requesters)
		for _, requests := range taken {
			want = append(want, serve(cfg, requests)...)
		}
		slices.SortStableFunc(want, func(x, y Done) int { return cmp.Compare(x.At, y.At) })
		for _, d := range want {
			u := &usage[d.Requester]
			*u = Usage{u.Requests + 1, u.Bytes + d.Bytes, u.Wait + d.Wait, max(u.MaxWait, d.Wait)}
			in -= d.Bytes
		}
		require.Zero(t, in)
		for len(got) < len(want) {
			if at, ok := c.Next(); ok {
				require.Equal(t, want[len(got)+c.done.Len()].At, at)
				now = max(now, at)
			}
			take()
		}
		require.Equal(t, want, got)
		require.Zero(t, c.Occupied())
		for i, u := range usage {
			require.Equal(t, u, c.Usage(i))
		}
	}
}

// A channel transfers at its rate however short the requests are. (Before: each lasted whole nanoseconds, so 64 bytes
// at 51.2 GB/s went at 32 GB/s.)
func TestRateHasFractions(t *testing.T) {
	for _, rate := range []int64{51_200_000_000, 819e9, 5e18} {
		c, err := NewController(Config{Channels: 1, Banks: 1, Requesters: 1, Depth: 1 << 12, Rate: rate, Interleave: 1})
		require.NoError(t, err)
		for range 1 << 12 {
			require.NoError(t, c.Submit(0, Request{Bytes: 64}))
		}
		at, done := int64(0), make([]Done, 1<<12)
		for c.Occupied() > 0 {
			at, _ = c.Next()
			c.Retire(at, done)
		}
		require.Equal(t, (64<<12*1_000_000_000-1)/rate+1, at)
	}
}

type modelRequest struct {
	Request
	at   int64
	bank int
}

// serve is one channel: the order of requests that came in this order.
func serve(cfg Config, requests []modelRequest) (out []Done) {
	free, early, turn, banks := int64(math.MinInt64), int64(0), 0, map[int]int64{}
	for len(requests) > 0 {
		now, best, bestKey := max(free, requests[0].at), 0, []int64(nil)
		for i, q := range requests {
			if q.at >= free && i > 0 { // it came when the choice was made
				break
			}
			ready := now
			if end, used := banks[q.bank]; used {
				ready = max(now, end)
			}
			key := []int64{ready, int64((q.Requester - turn + cfg.Requesters) % cfg.Requesters)}
			first := !slices.ContainsFunc(requests[:i], func(o modelRequest) bool { return o.Requester == q.Requester })
			if first && (bestKey == nil || slices.Compare(key, bestKey) < 0) {
				best, bestKey = i, key
			}
		}
		q, start := requests[best], bestKey[0]
		lasts := q.Bytes * 1e9 // in 1/Rate ns
		if start == free {
			lasts -= early
		}
		free = start + (lasts+cfg.Rate-1)/cfg.Rate
		early = (free-start)*cfg.Rate - lasts
		banks[q.bank], turn = free+cfg.BankBusy, (q.Requester+1)%cfg.Requesters
		requests = slices.Delete(requests, best, best+1)
		out = append(out, Done{q.Tag, q.Requester, q.Bytes, free, start - q.at})
	}
	return out
}

func TestAllocs(t *testing.T) {
	c, _ := NewController(seven())
	p, _ := NewPolicy(PolicyConfig{Low: 1, High: 2, Max: 127})
	var done [1]Done
	now := int64(0)
	alloctest.Zero(t, "submit and retire", func() {
		now += 1000
		if c.Submit(now, Request{Bytes: 4096}) != nil || c.Retire(now+500, done[:]) != 1 {
			panic("not retired")
		}
		p.Mark(c.Occupied())
	})
}
