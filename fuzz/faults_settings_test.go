// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math"
	"math/rand/v2"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// faultSetting is one kind of run: what goes wrong in the network and at the ends,
// and what there is to do. Probabilities, and times in microseconds.
type faultSetting struct {
	name string

	loss, dup, long, overtaken, corrupt float64
	mangle, trim, mark                  float64
	replay, replayLate, forge           float64
	blackhole, partition, dark          float64
	jitter, tail                        int64

	window, perMessage, budget     int
	guaranteed, late, refuse, read float64
	ordered, buffer, infer, plain  bool
	closing                        float64 // PDC closed after a message
	pdcs, responses, chunks        int     // 0 the default
	retries                        int     // 0 for ever
	restarts, jumps                int
	leap                           int64 // longest jump of a clock
	liar, hoarder, weak            bool
	blind                          bool // nobody follows what congestion control hears, and how often what is sent
	among                          int  // whole endpoints: so many are weak among each other; 0: all
	control                        ccc.Control
	start                          pdc.StartMethod
}

// faultSettings are the kinds; a seed takes the one of its number and draws the
// rates around these.
var faultSettings = []faultSetting{
	{name: "standard", loss: .1, dup: .05, long: .01, overtaken: .05, corrupt: .01, mark: .05, replay: .02, forge: .05, jitter: 35, tail: 800,
		window: 8, perMessage: 7, budget: 300, guaranteed: .3, read: .2, closing: .02},
	{name: "all guaranteed", loss: .1, dup: .05, overtaken: .05, replay: .02, forge: .05, jitter: 35, tail: 100,
		window: 8, perMessage: 20, budget: 300, guaranteed: 1, read: .1, start: pdc.StartExpected0RTT},
	{name: "none guaranteed", loss: .1, dup: .05, overtaken: .05, replay: .02, forge: .05, jitter: 35, tail: 100,
		window: 16, perMessage: 9, budget: 400, closing: .1},
	{name: "short and late", loss: .1, dup: .2, long: .2, replay: .05, forge: .02, jitter: 100, tail: 900,
		window: 8, perMessage: 2, budget: 200, guaranteed: .3, closing: .9, pdcs: 40, retries: 10},
	{name: "wide window", loss: .03, dup: .05, long: .001, overtaken: .02, mark: .1, replay: .01, forge: .02, jitter: 35, tail: 800,
		window: 1024, perMessage: 300, budget: 2500, guaranteed: .05, read: .1},
	{name: "scarce", loss: .05, dup: .05, overtaken: .05, replay: .01, forge: .02, jitter: 35, tail: 100,
		window: 64, perMessage: 40, budget: 400, guaranteed: .5, late: .3, refuse: .2, read: .1, closing: .5, pdcs: 3, responses: 1, chunks: 4, retries: 8},
	{name: "restarts", loss: .05, dup: .05, long: .01, replay: .02, jitter: 35, tail: 400,
		window: 16, perMessage: 9, budget: 300, guaranteed: .3, read: .2, late: .1, retries: 5, restarts: 4, closing: .05, pdcs: 250},
	{name: "dark", loss: .05, dup: .05, blackhole: .005, partition: .002, dark: 60_000, jitter: 35, tail: 100, forge: .02,
		window: 32, perMessage: 12, budget: 300, guaranteed: .2, read: .1, retries: 5, jumps: 2, leap: 25_000},
	{name: "clock", loss: .05, dup: .05, long: .01, replay: .01, jitter: 35, tail: 400, forge: .02,
		window: 32, perMessage: 12, budget: 400, guaranteed: .2, read: .1, retries: 8, jumps: 8, leap: 10_000_000, pdcs: 100},
	{name: "mangled", loss: .05, dup: .05, mangle: .03, replay: .02, replayLate: .02, jitter: 35, tail: 400,
		window: 16, perMessage: 9, budget: 300, guaranteed: .3, late: .1, read: .2, retries: 5, closing: .1, weak: true},
	{name: "hostile peer", loss: .03, dup: .03, replay: .01, jitter: 35, tail: 100, forge: .05,
		window: 32, perMessage: 9, budget: 300, guaranteed: .3, late: .1, read: .2, retries: 8, liar: true, closing: .1},
	{name: "ordered", loss: .03, dup: .05, replay: .01, forge: .02, jitter: 2, tail: 100,
		window: 16, perMessage: 9, budget: 300, guaranteed: .2, ordered: true, closing: .05},
	{name: "ordered, buffering", loss: .1, dup: .05, overtaken: .1, replay: .01, forge: .02, jitter: 35, tail: 200,
		window: 32, perMessage: 9, budget: 400, guaranteed: .2, late: .1, ordered: true, buffer: true},
	{name: "trimming", loss: .02, dup: .05, trim: .15, mark: .3, replay: .01, jitter: 35, tail: 100,
		window: 64, perMessage: 30, budget: 500, guaranteed: .1, read: .1, start: pdc.StartRandom1RTT},
	{name: "inferring", loss: .05, dup: .02, long: .005, overtaken: .02, forge: .02, jitter: 25, tail: 400,
		window: 256, perMessage: 100, budget: 900, guaranteed: .05, infer: true},
	{name: "plain ACK", loss: .1, dup: .1, long: .01, forge: .05, jitter: 35, tail: 400,
		window: 16, perMessage: 9, budget: 300, guaranteed: .2, plain: true},
	{name: "receiver credit", loss: .05, dup: .05, long: .01, mark: .1, replay: .01, jitter: 35, tail: 400,
		window: 64, perMessage: 30, budget: 500, guaranteed: .1, read: .1, closing: .05, control: ccc.ControlRCCC},
	{name: "window and credit", loss: .05, dup: .05, trim: .05, mark: .2, replay: .01, jitter: 35, tail: 100,
		window: 64, perMessage: 30, budget: 500, guaranteed: .1, read: .1, closing: .05, control: ccc.ControlBoth},
}

// faultStarts are first PSNs and first times at which comparing without wrap-around
// shows.
var (
	faultStarts = []pds.PSN{0xfffffff0, 0xffffffc0, 0x7ffffff0, 0, 0x12000, 0xfffffc10}
	faultClocks = []int64{0, 1, 1e9, 1 << 40, math.MaxInt64 - 4e12}
)

// plan draws the rates of a seed around those of its setting.
func (s *faultSetting) plan(r *rand.Rand) faultnet.Plan {
	vary := func(p float64) float64 { return min(p*2*r.Float64(), .5) }
	p := faultnet.Plan{
		Secured:   s.start == pdc.StartExpected0RTT,
		Duplicate: vary(s.dup), LongDelay: vary(s.long), Overtaken: vary(s.overtaken), Corrupt: vary(s.corrupt), Mangle: s.mangle,
		Trim: vary(s.trim), Mark: vary(s.mark), Replay: vary(s.replay), ReplayLate: s.replayLate, Forge: vary(s.forge),
		Blackhole: s.blackhole, Partition: s.partition, MangleAmong: s.among, Delay: 5 * us, Jitter: s.jitter * us, Tail: s.tail * us, Dark: int64(s.dark) * us,
	}
	for c := range p.Loss {
		p.Loss[c] = vary(s.loss)
	}
	if r.Float64() < .1 { // one class nearly always
		p.Loss[int(r.Float64()*float64(faultnet.NumClasses))] = .6
	}
	return p
}
