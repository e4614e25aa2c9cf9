// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/ses"
)

// A wholeRun is a cell at work.
type wholeRun struct {
	c        *wholeCell
	w        *fabric.World
	pairs    []wholePair
	messages [][]*fabric.Message // by pair, as posted
	ended    int                 // messages
	expected int
	ideal    float64 // ns

	posted      int     // pairs whose first message is there
	before      []int64 // bytes of each pair when the last one started
	during      []int64 // and when the first one was through
	queued      []float64
	samples     float64
	fingerprint uint64
	tooMany     bool
}

// wholeResult is what a cell has come to.
type wholeResult struct {
	Completion, NACKs, Drops, Resent, Jain, Queue float64
	Failed, Unended                               int
	End                                           float64 // ns
	Fingerprint                                   uint64
	Why                                           []string // failures
	Events, Data                                  int64
}

// runWhole runs a cell once.
func runWhole(c *wholeCell) (*wholeResult, error) {
	r := &wholeRun{c: c, pairs: c.pairs(), ideal: c.ideal()}
	r.expected = len(r.pairs) * int(c.Count) * c.steps()
	var err error
	if r.w, err = fabric.NewWorld(r.config()); err != nil {
		return nil, err
	}
	r.messages = make([][]*fabric.Message, len(r.pairs))
	for k := range r.pairs {
		r.w.At(wholeTime(r.pairs[k].start), func() { r.start(k) })
	}
	if k := c.Kill; k != nil {
		r.w.At(wholeTime(k.At), func() { r.w.Host(k.Host).Kill() })
		if k.Back != 0 {
			r.w.At(wholeTime(k.Back), func() { err = r.w.Host(k.Host).Restart() })
		}
	}
	r.watch()
	limit := max(c.Bound.End, 10*r.ideal+30e9)
	if c.Bound.Completion != nil {
		limit = max(limit, 2**c.Bound.Completion*r.ideal)
	}
	r.w.Run(wholeTime(limit))
	if err != nil {
		return nil, err
	}
	return r.judge(), nil
}

func wholeTime(ns float64) link.Ps { return link.Ps(ns * 1000) }

// config is that of the fabric, whose endpoints are told no more than the cell says.
func (r *wholeRun) config() fabric.Config {
	c := r.c
	bytes := func(bdps float64) fabric.Size { return fabric.Bytes(max(int64(bdps*c.bdp()), 1)) }
	q := &fabric.Queue{Limit: bytes(c.Queue.Limit), ECNMin: bytes(c.Queue.low), ECNMax: bytes(c.Queue.high)}
	return fabric.Config{
		Node: fabric.NodeEndpoint, Topology: c.fabric(), Queue: q, NoTrim: c.Queue.Policy == "drop", NoECN: c.Queue.low < 0,
		Loss: c.Loss, Reorder: c.Reorder, Seed: 1, End: 1 << 62, PacketBytes: int64(c.MTU) + wholeHeader,
		Endpoint: r.tell, Frame: r.see,
	}
}

// fabric is the topology of a cell: its links share the round trip.
func (c *wholeCell) fabric() *fabric.Topology {
	rate := int64(c.Rate)
	latency := func(links int) link.Ps { return wholeTime(c.RTT / float64(2*links)) }
	switch c.Topology {
	case "fattree":
		return fabric.FatTree(c.Hosts, rate, latency(6))
	case "leafspine":
		leaves, links := (c.Hosts+7)/8, 4
		if leaves == 1 {
			links = 2
		}
		return &fabric.Topology{Nodes: 8 * leaves, PodSize: 8 * leaves, Tiers: []fabric.Tier{
			{DownRate: rate, DownLatency: latency(links), RadixDown: 8, RadixUp: 8},
			{DownRate: max(int64(c.Rate/c.Oversubscription), 1), DownLatency: latency(links), RadixDown: leaves},
		}}
	}
	return &fabric.Topology{Nodes: c.Hosts, PodSize: c.Hosts, Tiers: []fabric.Tier{
		{DownRate: rate, DownLatency: latency(2), RadixDown: c.Hosts, RadixUp: 1}, {DownRate: rate, DownLatency: latency(2), RadixDown: 1},
	}}
}

// tell configures the endpoint of a host: addresses, what the cell tells, and room for its
// messages.
func (r *wholeRun) tell(host int, u *uetcc.Config) {
	c := r.c
	base := u.CC.NSCC.BaseRTT
	n := uetcc.Config{Address: u.Address, ControlTC: u.ControlTC, Seed: u.Seed, Target: u.Target}
	n.MTU = uint32(c.MTU)
	cc := c.CC
	rtt, rate := c.Told.RTT, c.Told.Rate
	if p := c.Peer; p != nil && host%2 == 1 {
		if p.MTU != 0 {
			n.MTU = uint32(p.MTU)
		}
		if p.CC != "" {
			cc = p.CC
		}
		if p.RTT != nil {
			rtt = p.RTT
		}
		if p.Rate != nil {
			rate = p.Rate
		}
		n.PDS.Range, n.Answers = p.Range, p.Answers
	}
	factor := func(v float64, f *float64) int64 {
		if f != nil {
			v *= *f
		}
		return int64(v)
	}
	n.CC.NSCC.BaseRTT, n.CC.NSCC.LinkRate = factor(float64(base), rtt), factor(c.Rate/8, rate)
	switch cc {
	case "nscc":
		n.CC.Control = ccc.ControlNSCC
	case "rccc":
		n.CC.Control = ccc.ControlRCCC
	case "both":
		n.CC.Control = ccc.ControlBoth
	}
	r.size(&n)
	*u = n
}

// size gives an endpoint as much memory as hosts and messages need.
func (r *wholeRun) size(n *uetcc.Config) {
	c := r.c
	peers := c.Hosts - 1
	if c.Pattern == "pair" || c.Pattern == "both" {
		peers = 1
	}
	each := int(c.Count)
	n.Messages = min(max(1024, peers*each), 65534)
	n.Target.Messages, n.Target.Receives = min(max(1024, peers*each), 65536), min(max(64, peers*each*c.steps()), 65536)
	n.Target.Regions = min(64+n.Messages, 65536)
	n.PDCs.General = 4*peers + 60
	n.Memory.Chunks = max(16*n.PDCs.General, int(c.bdp()/c.MTU), 2048)
}

// start posts the first messages of a pair.
func (r *wholeRun) start(k int) {
	r.posted++
	if r.posted == len(r.pairs) {
		r.before = r.placed()
	}
	r.post(k, 0)
}

// post posts a step of a pair: all of its messages at once.
func (r *wholeRun) post(k, step int) {
	p, here := r.pairs[k], 0
	for j := range int(r.c.Count) {
		m := &fabric.Message{Src: p.src, Dst: p.dst, Op: r.c.op(k, j), Ordered: r.c.Ordered, Size: int64(r.c.Size), Done: func() { r.done(k) }}
		if m.Op == fabric.OpAtomic {
			m.Size = 8
		}
		if r.c.Pattern == "ring" && step+1 < r.c.steps() {
			m.Here = func() {
				if here++; here == int(r.c.Count) {
					r.post((k+1)%len(r.pairs), step+1)
				}
			}
		}
		r.messages[k] = append(r.messages[k], m)
		r.w.Post(m)
	}
}

// done notes the end of a message of a pair.
func (r *wholeRun) done(k int) {
	r.ended++
	through := len(r.messages[k]) == int(r.c.Count)*r.c.steps() && !slices.ContainsFunc(r.messages[k], func(m *fabric.Message) bool { return m.Ended < 0 })
	if through && r.during == nil {
		r.during = r.placed()
	}
	if r.ended == r.expected {
		r.w.Stop()
	}
}

// placed is how many bytes of each pair are where they belong.
func (r *wholeRun) placed() []int64 {
	v := make([]int64, len(r.pairs))
	for k := range r.messages {
		for _, m := range r.messages[k] {
			v[k] += m.Placed()
		}
	}
	return v
}

// wholeEvents is how many events of the simulator a cell may take before it counts as never
// ending.
const wholeEvents = 300e6

// watch looks at queues, and that the run comes to an end.
func (r *wholeRun) watch() {
	step := max(r.c.RTT/16, r.ideal/20_000)
	if r.c.Bound.Queue == nil {
		step = r.ideal / 4
	}
	r.queued = make([]float64, r.c.Hosts)
	var look func()
	look = func() {
		if r.ended < r.expected {
			r.samples++
			for h := range r.queued {
				r.queued[h] += float64(r.w.Queued(r.w.LastHop(h)))
			}
			if r.tooMany = r.w.Events() > wholeEvents; r.tooMany {
				r.w.Stop()
				return
			}
			r.w.At(r.w.Now()+wholeTime(step), look)
		}
	}
	look()
}

// see takes the fingerprint of a run.
func (r *wholeRun) see(now link.Ps, host int, f *fabric.Frame) {
	h := r.fingerprint ^ uint64(now)*0x9e3779b97f4a7c15 ^ uint64(host)<<48
	for _, b := range f.Bytes[:min(len(f.Bytes), 24)] {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	r.fingerprint = h
}

// judge lets ten seconds pass and says what has become of a cell.
func (r *wholeRun) judge() *wholeResult {
	res := &wholeResult{Jain: math.NaN(), Queue: math.NaN(), Completion: math.NaN()}
	totals := r.w.Result().Totals
	res.Data = totals.New + totals.Retransmitted
	share := func(n int64) float64 { return float64(n) / float64(max(res.Data, 1)) }
	res.NACKs, res.Resent = share(totals.Nacks), share(totals.Retransmitted)
	res.Drops = share(totals.DataDropped + totals.HeadersDropped - totals.Lost)
	res.Events = totals.Events
	r.ends(res)
	if res.Unended == 0 {
		res.Completion = res.End / r.ideal
	}
	r.shares(res)
	if r.samples > 0 {
		res.Queue = slices.Max(r.queued) / r.samples / r.c.bdp()
	}
	r.hold(res)
	if res.Unended == 0 {
		r.w.Run(r.w.Now() + 10*link.Second)
		if held := r.w.Usage(); len(held) > 0 {
			res.fail("usage not zero: %s", held[0])
		}
		r.contents(res)
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %+v", r.fingerprint, r.w.Result().Totals)
	res.Fingerprint = h.Sum64()
	return res
}

func (res *wholeResult) fail(format string, a ...any) {
	res.Why = append(res.Why, fmt.Sprintf(format, a...))
}

// ends looks at the end of each message.
func (r *wholeRun) ends(res *wholeResult) {
	for k := range r.messages {
		for _, m := range r.messages[k] {
			switch {
			case m.Ended < 0:
				res.Unended++
			case !m.OK():
				if res.Failed++; res.Failed <= 2 && r.c.Bound.Failed == 0 {
					res.fail("%v %d to %d failed at %v: %v, %+v, cause %v", m.Op, m.Src, m.Dst, m.Ended, m.Err, m.Event.Outcome, m.Event.Cause)
				}
			}
			res.End = max(res.End, float64(m.Ended)/1000)
		}
	}
	res.Unended += r.expected - r.ended - res.Unended // steps that never began
}

// shares is Jain's index of what the pairs got while all of them sent.
func (r *wholeRun) shares(res *wholeResult) {
	if r.before == nil || r.during == nil || len(r.pairs) < 2 {
		return
	}
	var sum, squares float64
	for k := range r.pairs {
		v := float64(r.during[k] - r.before[k])
		sum += v
		squares += v * v
	}
	if squares > 0 {
		res.Jain = sum * sum / (float64(len(r.pairs)) * squares)
	}
}

// hold compares with the bounds.
func (r *wholeRun) hold(res *wholeResult) {
	b := &r.c.Bound
	atMost := func(what string, got float64, want *float64) {
		if want != nil && !(got <= *want) {
			res.fail("%s %.4g, want at most %.4g", what, got, *want)
		}
	}
	if res.Unended > 0 {
		res.fail("%d of %d messages never ended (%.4g ns, %d events)", res.Unended, r.expected, float64(r.w.Now())/1000, res.Events)
	}
	if res.Failed > b.Failed {
		res.fail("%d of %d messages failed, want at most %d", res.Failed, r.expected, b.Failed)
	}
	atMost("completion", res.Completion, b.Completion)
	atMost("NACKs", res.NACKs, b.NACKs)
	atMost("drops", res.Drops, b.Drops)
	atMost("resent", res.Resent, b.Resent)
	atMost("queue", res.Queue, b.Queue)
	if b.Jain != nil && !(res.Jain >= *b.Jain) {
		res.fail("Jain's index %.3f, want at least %.3f", res.Jain, *b.Jain)
	}
	if b.End > 0 && res.End > b.End {
		res.fail("the last message ended at %.4g, want %.4g", res.End, b.End)
	}
}

// contents looks at the bytes of all messages, and at what atomics have found.
func (r *wholeRun) contents(res *wholeResult) {
	found := map[[2]int]map[uint64]bool{}
	for k := range r.messages {
		for _, m := range r.messages[k] {
			if err := m.Check(r.w); err != nil {
				res.fail("%v %d to %d: %v", m.Op, m.Src, m.Dst, err)
			}
			if m.Op != fabric.OpAtomic || !m.OK() || m.Event.Outcome.Status != ses.StatusOK || r.c.Kill != nil {
				continue
			}
			at := [2]int{m.Src, m.Dst}
			if found[at] == nil {
				found[at] = map[uint64]bool{}
			}
			if found[at][m.Before] || m.Before >= uint64(len(r.messages[k])) {
				res.fail("an atomic of %d at %d found %d", m.Src, m.Dst, m.Before)
			}
			found[at][m.Before] = true
		}
	}
}
