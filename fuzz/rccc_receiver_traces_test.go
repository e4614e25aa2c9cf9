// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"io/fs"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/rccc"
)

// rcccPort replays one receiver of a recorded run. Its clock counts picoseconds:
// the engine's waits are compared with the recorded times exactly.
type rcccPort struct {
	r         *rccc.Receiver
	handles   map[int64]rccc.Handle
	repeated  *repeatedIdle // the idle queue of raw_* runs
	next      int64         // when the pacer runs next, ps
	awake     bool
	fabric    *rccc.FabricRate
	intervals *recording    // os.csv
	interval  int           // next row of intervals to look at
	arrivals  []rcccArrival // since the last interval
	rate      struct{ fabric, host float64 }
}

func replayReceivers(t *testing.T, dir fs.FS, run *rcccRun, tb *recording) {
	ports := map[int64]*rcccPort{}
	var intervals *recording
	found, _ := fs.Glob(dir, "os.csv*")
	require.Equal(t, run.Oversubscribed != nil, len(found) > 0, "intervals of the fabric's controller")
	if run.Oversubscribed != nil {
		intervals = openRecording(t, dir, "os.csv", fabricColumns)
	}
	for i := range tb.rows {
		id := tb.number(i, "rcv")
		if ports[id] == nil {
			ports[id] = newPort(t, run, intervals)
		}
		ports[id].replay(tb, i)
	}
	for id, p := range ports {
		p.finishIntervals(id)
	}
}

func newPort(t *testing.T, run *rcccRun, intervals *recording) *rcccPort {
	p := &rcccPort{handles: map[int64]rccc.Handle{}, intervals: intervals}
	p.rate.fabric, p.rate.host = 1, 1
	pull, err := rccc.NewPullPolicy(rccc.PullConfig{
		MaxCredit: run.MaxWindow, Grant: run.Grant * rccc.QuantumBytes, LikeHtsim: true,
	})
	require.NoError(t, err)
	var policy rccc.GrantPolicy = pull
	if run.IdleList == "repeated" {
		p.repeated = &repeatedIdle{GrantPolicy: pull, grant: run.Grant, limit: run.MaxWindow / rccc.QuantumBytes}
		policy = p.repeated
	}
	p.r, err = rccc.NewReceiver(rccc.ReceiverConfig{
		Senders: 1024, Rate: int64(run.LinkGbps * 1e9 / 8), Utilisation: run.PullRateFactor,
		MaxCredit: run.MaxWindow, Timeout: math.MaxInt32, Policy: policy,
	})
	require.NoError(t, err)
	pace := p.r.Pace()
	require.Equal(t, run.Quantum, pace.TimeFor(rccc.QuantumBytes))
	if o := run.Oversubscribed; o != nil {
		f, err := rccc.NewFabricRate(rccc.FabricConfig{
			Oversubscription: 0.9 / o.MinRate, RTT: int64(run.BaseRTT * 1000),
			Target: o.Target, Increase: o.Increase, Decrease: o.Decrease, Gain: o.Gain, MinRate: o.MinRate,
		})
		require.NoError(t, err)
		p.fabric = &f
	}
	return p
}

func (p *rcccPort) replay(tb *recording, i int) {
	p.runIntervals(tb, i)
	switch event := tb.text(i, "event"); event {
	case "ARR", "ARR_SPEC", "ARR_RTX":
		p.arrive(tb, i, rccc.ArrivalData)
	case "ARR_TRIM":
		p.arrive(tb, i, rccc.ArrivalTrimmed)
	case "ARR_RTS":
		p.arrive(tb, i, rccc.ArrivalRequest)
	case "ACTIVATE":
		h := p.handles[tb.number(i, "flow")]
		tb.equal(i, "target_q", p.r.Target(h)/rccc.QuantumBytes)
		tb.equal(i, "cum_q", p.cum(h))
		p.equalLists(tb, i)
		p.equalPace(tb, i)
	case "GRANT", "GRANT_IDLE", "SLEEP":
		p.poll(tb, i, event)
	case "RATE_OS":
		p.stepUnlisted(tb, i)
		p.slow(tb, i, p.rate.fabric)
	case "RATE_HOST":
		p.rate.host = p.hostFactor(tb, i)
		p.slow(tb, i, p.rate.host)
	default:
		require.Failf(tb.t, "unknown event", "line %d: %s", i+2, event)
	}
}

// arrive reports row i to the receiver and checks that it became active exactly
// when the next row says so.
func (p *rcccPort) arrive(tb *recording, i int, kind rccc.Arrival) {
	now, flow := tb.number(i, "t_ps"), tb.number(i, "flow")
	h, known := p.handles[flow]
	if !known {
		var err error
		h, err = p.r.Add(now/1000, 1, 0)
		require.NoError(tb.t, err)
		p.handles[flow] = h
	}
	t := p.r.Senders()
	before := t.List(h.Slot())
	tb.equal(i, "cum_q", p.cum(h))
	if p.fabric != nil {
		p.arrivals = append(p.arrivals, rcccArrival{tb.number(i, "ecn") == 1, tb.text(i, "event") == "ARR_TRIM", tb.number(i, "lasthop") == 1})
	}
	if kind != rccc.ArrivalTrimmed || tb.number(i, "dup") == 0 {
		target := rccc.QuantaOf(tb.number(i, "target_q") * rccc.QuantumBytes).Extend(p.r.Target(h))
		require.True(tb.t, p.r.OnArrival(h, (now+999)/1000, kind, target))
	}
	activated := before != rccc.ListActive && t.List(h.Slot()) == rccc.ListActive
	recorded := i+1 < len(tb.rows) && tb.text(i+1, "event") == "ACTIVATE" && tb.number(i+1, "flow") == flow
	require.Equal(tb.t, recorded, activated, "line %d: became active", i+2)
	if _, awake := p.r.Deadline(); awake && !p.awake {
		p.awake, p.next = true, now
	}
}

// poll runs the pacer at the recorded time, which must be the one it asked for.
func (p *rcccPort) poll(tb *recording, i int, event string) {
	require.True(tb.t, p.awake, "line %d: the pacer sleeps", i+2)
	tb.equal(i, "t_ps", p.next)
	due, awake := p.r.Deadline()
	require.True(tb.t, awake, "line %d", i+2)
	require.InDelta(tb.t, due*1000-1000, p.next, 1000, "line %d: nanosecond clock", i+2)
	wasIdle := p.r.Senders().Len(rccc.ListActive) == 0
	g, ok := p.r.Poll(due)
	require.Equal(tb.t, event != "SLEEP", ok, "line %d", i+2)
	p.equalLists(tb, i)
	p.equalPace(tb, i)
	if !ok {
		p.awake = false
		return
	}
	h := p.handles[tb.number(i, "flow")]
	require.Equal(tb.t, h, g.Sender, "line %d: sender", i+2)
	require.Equal(tb.t, event == "GRANT_IDLE", wasIdle, "line %d", i+2)
	tb.equal(i, "grant_q", g.Bytes/rccc.QuantumBytes)
	tb.equal(i, "cum_q", g.Cum/rccc.QuantumBytes)
	tb.equal(i, "target_q", p.r.Target(h)/rccc.QuantumBytes)
	tb.equal(i, "wait_ps", g.Wait)
	p.next += g.Wait
}

// cum is the cumulative credit of a sender, quanta.
func (p *rcccPort) cum(h rccc.Handle) int64 {
	return (p.r.Target(h) - p.r.Senders().Demand(h.Slot())) / rccc.QuantumBytes
}

func (p *rcccPort) equalPace(tb *recording, i int) {
	pace := p.r.Pace()
	tb.equal(i, "tpq_ps", pace.TimeFor(rccc.QuantumBytes))
}

func (p *rcccPort) equalLists(tb *recording, i int) {
	t := p.r.Senders()
	idle, entries := int64(t.Len(rccc.ListIdle)), int64(t.Len(rccc.ListIdle))
	if p.repeated != nil {
		idle, entries = p.repeated.distinct(t), int64(len(p.repeated.queue))
	}
	tb.equal(i, "n_active", int64(t.Len(rccc.ListActive)))
	tb.equal(i, "n_idle", idle)
	tb.equal(i, "n_idle_entries", entries)
}

// slow checks a recorded change of one rate factor and puts both in force.
func (p *rcccPort) slow(tb *recording, i int, factor float64) {
	tb.equal(i, "grant_q", int64(math.Round(factor*1e6)))
	p.r.SetFactor(min(p.rate.fabric, p.rate.host))
	p.equalPace(tb, i)
	p.equalLists(tb, i)
}

// hostFactor finds the host backlog that explains the rounded factor and the
// exact time per quantum of row i.
func (p *rcccPort) hostFactor(tb *recording, i int) float64 {
	l := rccc.DefaultHostLimits()
	rounded, quantum := tb.number(i, "grant_q"), tb.number(i, "tpq_ps")
	near := l.Full - int64(float64(l.Full-l.Low)*math.Sqrt(float64(rounded)/1e6))
	for d := range int64(200) {
		for _, b := range []int64{near - d, near + d} {
			f := l.Factor(b)
			p.r.SetFactor(min(p.rate.fabric, f))
			if pace := p.r.Pace(); int64(math.Round(f*1e6)) == rounded && pace.TimeFor(rccc.QuantumBytes) == quantum {
				return f
			}
		}
	}
	require.Failf(tb.t, "no backlog gives this factor", "line %d: %d ppm", i+2, rounded)
	return 0
}

// runIntervals steps the fabric's controller through the intervals that ended
// before row i, and checks what each counted.
func (p *rcccPort) runIntervals(tb *recording, i int) {
	if p.fabric == nil {
		return
	}
	rate := tb.text(i, "event") == "RATE_OS"
	now, id := tb.number(i, "t_ps"), tb.number(i, "rcv")
	for o := p.intervals; p.interval < len(o.rows); p.interval++ {
		if at := o.number(p.interval, "t_ps"); at > now || at == now && !rate {
			return
		}
		if o.number(p.interval, "rcv") == id {
			p.step(o, p.interval)
		}
	}
}

func (p *rcccPort) finishIntervals(id int64) {
	for o := p.intervals; o != nil && p.interval < len(o.rows); p.interval++ {
		if o.number(p.interval, "rcv") == id {
			p.step(o, p.interval)
		}
	}
}

// rcccArrival is what the fabric's controller sees of a packet.
type rcccArrival struct{ ecn, trimmed, lastHop bool }

// step ends the interval that row i of os.csv describes. Silent intervals at
// full rate have no row but let the smoothed fraction decay: their number is
// inferred.
func (p *rcccPort) step(o *recording, i int) {
	p.equalCounts(o, i)
	for silent := *p.fabric; ; silent.Step() {
		f := silent
		for _, a := range p.arrivals {
			if a.trimmed {
				f.OnTrim(a.lastHop)
			} else {
				f.OnArrival(a.ecn)
			}
		}
		rate := f.Step()
		marked, rises := f.Trend()
		if same(o.real(i, "rate"), rate) && same(o.real(i, "g"), marked) && o.number(i, "inc_count") == int64(rises) {
			*p.fabric, p.rate.fabric, p.arrivals = f, rate, nil
			return
		}
		if still, n := silent.Trend(); still < 1e-10 && int64(n) > o.number(i, "inc_count") {
			require.Failf(o.t, "trace differs", "%s line %d: %v", o.name, i+2, o.rows[i])
		}
	}
}

// stepUnlisted ends the silent interval that brought the rate back to 1 at row i
// of rcv.csv: os.csv has no row for it.
func (p *rcccPort) stepUnlisted(tb *recording, i int) {
	if p.rate.fabric < 1 && tb.number(i, "grant_q") == 1e6 {
		require.Empty(tb.t, p.arrivals, "line %d", i+2)
		p.rate.fabric = p.fabric.Step()
	}
}

// equalCounts compares the packets of an interval with row i of os.csv.
func (p *rcccPort) equalCounts(o *recording, i int) {
	var ecn, lastHop, elsewhere int64
	for _, a := range p.arrivals {
		switch {
		case a.trimmed && a.lastHop:
			lastHop++
		case a.trimmed:
			elsewhere++
		case a.ecn:
			ecn++
		}
	}
	o.equal(i, "packets", int64(len(p.arrivals)))
	o.equal(i, "ecn", ecn)
	o.equal(i, "trim_lasthop", lastHop)
	o.equal(i, "trim_other", elsewhere)
}

// same compares with a value recorded with nine digits.
func same(recorded, got float64) bool { return math.Abs(recorded-got) < 1e-9 }

// repeatedIdle is the idle queue of the unmodified simulator, for raw_* runs: a
// sender that becomes active keeps its entry, so it can have many.
type repeatedIdle struct {
	rccc.GrantPolicy
	grant, limit int64 // quanta
	queue        []rccc.Slot
}

// Next serves as the PullPolicy does, but for the idle senders.
func (p *repeatedIdle) Next(t *rccc.Senders, pace *rccc.Pace) (rccc.Grant, bool) {
	if t.Len(rccc.ListActive) > 0 {
		g, ok := p.GrantPolicy.Next(t, pace)
		if i := g.Sender.Slot(); t.List(i) == rccc.ListIdle {
			t.Move(i, rccc.ListNone)
			p.queue = append(p.queue, i)
		}
		return g, ok
	}
	if len(p.queue) == 0 {
		return rccc.Grant{}, false
	}
	i, n := p.queue[0], p.grant*rccc.QuantumBytes
	p.queue = p.queue[1:]
	g := t.Grant(i, n, pace.TimeFor(n))
	if ahead := -t.Demand(i) / rccc.QuantumBytes; ahead >= 0 && ahead < p.limit {
		p.queue = append(p.queue, i)
	}
	return g, true
}

func (p *repeatedIdle) distinct(t *rccc.Senders) int64 {
	seen := map[rccc.Slot]bool{}
	for _, i := range p.queue {
		if t.List(i) != rccc.ListActive {
			seen[i] = true
		}
	}
	return int64(len(seen))
}
