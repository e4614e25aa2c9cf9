// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/internal/agenda"
	"github.com/uetcc/uetcc/rccc"
)

const (
	creditMTU = 4150
	creditW   = 175_284
	creditRTT = 9348 // ns
	creditRTO = 8 * creditRTT
	linkRate  = 12_500_000_000
)

// creditFaults are probabilities, in percent, for each message.
type creditFaults struct {
	dataLoss, creditLoss, ackLoss, repeat int
	jitter                                int64 // ns added at most: reorders
}

// creditFlow is one sender of a creditWorld.
type creditFlow struct {
	src          rccc.Source
	h            rccc.Handle
	known        bool // the receiver has an entry
	seen         bool // the receiver had one before
	backlog, rtx int64
	rtxSizes     []int64
	outstanding  int64
	busyUntil    int64
	gone         bool
	liar         bool
	cwnd         int64

	sent, spentInStartup int64
	emitted              map[rccc.Quanta]bool
	finish               int64
}

// creditWorld is a receiver, its senders and a network with faults.
type creditWorld struct {
	t      testing.TB
	rnd    *rand.Rand
	faults creditFaults
	p      rccc.Params
	r      *rccc.Receiver
	make   func() *rccc.Receiver
	flows  []*creditFlow
	queue  agenda.Agenda[func()]
	now    int64
	polls  int64 // time of the poll that is scheduled, -1 for none
	level  int64 // bucket of R8, ps
	lastAt int64
	depth  int64 // of the last hop's queue, bytes, and when that was
	deepAt int64
	peak   int64
	broken map[string]string // invariant to its first violation
	checks map[string]int
}

func newCreditWorld(t testing.TB, seed uint64, sizes []int64, faults creditFaults) *creditWorld {
	return newCreditWorldFrom(t, seed, sizes, faults, creditW)
}

// newCreditWorldFrom is newCreditWorld with another initial credit.
func newCreditWorldFrom(t testing.TB, seed uint64, sizes []int64, faults creditFaults, initial int64) *creditWorld {
	w := &creditWorld{
		t: t, rnd: rand.New(rand.NewPCG(seed, 5)), faults: faults, polls: -1,
		broken: map[string]string{}, checks: map[string]int{},
	}
	var err error
	w.p, err = rccc.NewParams(rccc.Config{MaxCredit: creditW, InitialCredit: initial, MTU: creditMTU, RTT: creditRTT})
	require.NoError(t, err)
	w.make = func() *rccc.Receiver {
		pull, err := rccc.NewPullPolicy(rccc.PullConfig{MaxCredit: creditW})
		require.NoError(t, err)
		r, err := rccc.NewReceiver(rccc.ReceiverConfig{
			Senders: len(sizes), Rate: linkRate, MaxCredit: creditW, Policy: pull,
		})
		require.NoError(t, err)
		return r
	}
	w.r = w.make()
	for _, size := range sizes {
		f := &creditFlow{backlog: size, emitted: map[rccc.Quanta]bool{}}
		f.src.Init(&w.p)
		w.flows = append(w.flows, f)
		w.at(0, func() { w.settle(f) })
	}
	return w
}

func (w *creditWorld) at(t int64, do func()) { w.queue.Push(t, do) }

// hold fails invariant name unless ok.
func (w *creditWorld) hold(name string, ok bool, format string, args ...any) {
	w.checks[name]++
	if _, before := w.broken[name]; !ok && !before {
		w.broken[name] = fmt.Sprintf("at %d ns: ", w.now) + fmt.Sprintf(format, args...)
	}
}

func (w *creditWorld) chance(percent int) bool { return w.rnd.IntN(100) < percent }

// carry brings a message over the network, perhaps twice, perhaps never.
func (w *creditWorld) carry(loss int, arrive func()) {
	copies := 1
	if w.chance(w.faults.repeat) {
		copies = 2
	}
	for range copies {
		if w.chance(loss) {
			continue
		}
		delay := int64(creditRTT / 2)
		if w.faults.jitter > 0 {
			delay += w.rnd.Int64N(w.faults.jitter)
		}
		w.at(w.now+delay, arrive)
	}
}

// run processes events until nothing is left or the time is over.
func (w *creditWorld) run(until int64) {
	for at, ok := w.queue.Next(); ok && at <= until; at, ok = w.queue.Next() {
		var do func()
		w.now, do = w.queue.Pop()
		do()
		w.check()
	}
}

func (w *creditWorld) done() bool {
	for _, f := range w.flows {
		if f.finish == 0 && !f.gone {
			return false
		}
	}
	return true
}

// settle ends an event at the source: it sends what it may and minds its timer.
func (w *creditWorld) settle(f *creditFlow) {
	if f.gone || f.finish != 0 {
		return
	}
	for f.busyUntil <= w.now && f.src.CanSend() && f.backlog+f.rtx > 0 {
		w.sendOne(f)
	}
	if f.busyUntil > w.now {
		w.at(f.busyUntil, func() {
			if f.busyUntil <= w.now {
				w.settle(f)
			}
		})
	}
	f.src.Settle(&w.p, w.now, f.backlog+f.rtx)
	if due, armed := f.src.Deadline(); armed {
		w.at(due, func() { w.request(f) })
	}
}

func (w *creditWorld) target(f *creditFlow) rccc.Quanta {
	d := rccc.Demand{Backlog: f.backlog, Rtx: f.rtx, Cwnd: f.cwnd}
	target := f.src.Target(&w.p, d)
	if f.cwnd > 0 && !f.src.Startup() {
		demand := target - f.src.Cum() + f.src.Credit()
		w.hold("R13", demand < f.cwnd+creditMTU+rccc.QuantumBytes, "demand %d, window %d", demand, f.cwnd)
	}
	if f.liar {
		target += creditW
	}
	return rccc.QuantaOf(target)
}

func (w *creditWorld) sendOne(f *creditFlow) {
	w.hold("R2", f.src.Credit() > 0, "credit %d", f.src.Credit())
	size := min(f.backlog, creditMTU)
	if len(f.rtxSizes) > 0 {
		size, f.rtxSizes = f.rtxSizes[0], f.rtxSizes[1:]
		f.rtx -= size
	} else {
		f.backlog -= size
	}
	startup := f.src.Startup()
	f.src.OnSend(size)
	f.outstanding += size
	f.sent += size
	if startup {
		f.spentInStartup += size
	} else {
		w.hold("R3", f.sent <= f.spentInStartup+f.src.Cum()+creditMTU, "sent %d, startup %d, cum %d", f.sent, f.spentInStartup, f.src.Cum())
	}
	f.busyUntil = max(f.busyUntil, w.now) + size*1e9/linkRate
	target, answered := w.target(f), new(bool)
	w.carry(w.faults.dataLoss, func() { w.receive(f, rccc.ArrivalData, target, size, answered) })
	w.at(w.now+creditRTO, func() {
		if !*answered && !f.gone {
			*answered = true
			f.outstanding -= size
			f.rtx += size
			f.rtxSizes = append(f.rtxSizes, size)
			f.src.OnLoss()
			w.settle(f)
		}
	})
}

func (w *creditWorld) request(f *creditFlow) {
	if !f.gone && f.finish == 0 && f.src.RequestDue(&w.p, w.now) {
		target := w.target(f)
		w.carry(w.faults.creditLoss, func() { w.receive(f, rccc.ArrivalRequest, target, 0, new(bool)) })
		w.settle(f)
	}
}

// receive is the destination's side of a packet; an unknown sender gets its
// entry from the first one.
func (w *creditWorld) receive(f *creditFlow, kind rccc.Arrival, q rccc.Quanta, size int64, answered *bool) {
	w.enqueue(size)
	if f.finish != 0 || f.gone {
		return
	}
	if !f.known {
		start := int64(0)
		if f.seen {
			start = w.r.Resume(q.Extend(0))
		}
		h, err := w.r.Add(w.now, 1, start)
		require.NoError(w.t, err)
		f.h, f.known, f.seen = h, true, true
	}
	f.known = w.r.OnArrival(f.h, w.now, kind, q.Extend(w.r.Target(f.h)))
	w.schedulePoll()
	if size == 0 {
		return
	}
	w.carry(w.faults.ackLoss, func() {
		if *answered || f.gone {
			return
		}
		*answered = true
		f.outstanding -= size
		f.src.OnACK()
		if f.outstanding == 0 && f.backlog+f.rtx == 0 {
			f.finish = max(w.now, 1)
			if f.known {
				w.r.Remove(f.h)
			}
		}
		w.settle(f)
	})
}

// enqueue follows the queue in front of the destination's link.
func (w *creditWorld) enqueue(size int64) {
	w.depth = max(0, w.depth-(w.now-w.deepAt)*linkRate/1e9) + size
	w.deepAt = w.now
	w.peak = max(w.peak, w.depth)
}

func (w *creditWorld) schedulePoll() {
	due, awake := w.r.Deadline()
	if !awake || w.polls == due {
		return
	}
	w.polls = due
	w.at(max(due, w.now), w.poll)
}

func (w *creditWorld) poll() {
	w.polls = -1
	idle := w.r.Senders().Len(rccc.ListActive) == 0
	if g, ok := w.r.Poll(w.now); ok {
		w.emit(g, idle)
	}
	w.schedulePoll()
}

func (w *creditWorld) emit(g rccc.Grant, idle bool) {
	pace := w.r.Pace()
	w.level = max(0, w.level-(w.now-w.lastAt)*1000) + pace.TimeFor(g.Bytes)
	w.lastAt = w.now
	w.hold("R8", w.level <= pace.TimeFor(rccc.DefaultGrant)+1000, "bucket %d ps", w.level)
	ahead := -w.r.Senders().Demand(g.Sender.Slot())
	if idle {
		limit := int64(creditW/256*256 + rccc.DefaultGrant - 256)
		w.hold("R6", ahead <= limit, "idle grant to %d beyond the target", ahead)
	} else if g.Bytes > 0 {
		w.hold("R6", ahead <= 0, "active grant to %d beyond the target", ahead)
	}
	for _, f := range w.flows {
		if f.known && f.h == g.Sender {
			q := rccc.QuantaOf(g.Cum)
			f.emitted[q] = true
			w.carry(w.faults.creditLoss, func() { w.credit(f, q) })
		}
	}
}

func (w *creditWorld) credit(f *creditFlow, q rccc.Quanta) {
	if f.gone {
		return
	}
	before := f.src.Cum()
	f.src.OnCreditUpdate(&w.p, q.Extend(before))
	after := f.src.Cum()
	w.hold("R4", after >= before && (after == before || f.emitted[rccc.QuantaOf(after)]), "cum %d to %d", before, after)
	w.settle(f)
}

// restart is a destination that loses its memory, and with it the grant that its
// pacer was resting from.
func (w *creditWorld) restart() {
	w.r = w.make()
	w.level = 0
	w.polls = -1
	for _, f := range w.flows {
		f.known = false
	}
}

// check looks at what must hold after every event.
func (w *creditWorld) check() {
	t := w.r.Senders()
	lists := map[rccc.List]int{}
	for i, f := range w.flows {
		c := f.src.Credit()
		w.hold("R1", c <= creditW && c > -creditMTU, "flow %d: credit %d", i, c)
		waiting := f.backlog + f.rtx
		if f.gone || f.finish != 0 {
			waiting = 0
		}
		_, armed := f.src.Deadline()
		w.hold("R12", waiting == 0 || c > 0 || armed, "flow %d: nothing will wake it", i)
		if _, live := w.r.Credit(f.h); !f.known || !live {
			continue
		}
		list := t.List(f.h.Slot())
		lists[list]++
		w.hold("R10", list == rccc.ListActive || t.Demand(f.h.Slot()) <= 0, "flow %d wants %d, is %v", i, t.Demand(f.h.Slot()), list)
	}
	for _, l := range []rccc.List{rccc.ListNone, rccc.ListActive, rccc.ListIdle} {
		w.hold("R7", lists[l] == t.Len(l), "%d are %v, the list has %d", lists[l], l, t.Len(l))
	}
	_, awake := w.r.Deadline()
	w.hold("R10", awake || t.Len(rccc.ListActive) == 0, "the pacer sleeps")
	if w.done() {
		w.hold("R15", lists[rccc.ListNone]+lists[rccc.ListActive]+lists[rccc.ListIdle] == t.Count(), "%d entries left", t.Count())
	}
}
