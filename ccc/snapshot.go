// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"
)

// Snapshot is the outside view of a context. Sizes in bytes, times
// in ns.
type Snapshot struct {
	Context  Handle // whose; 0: nothing has been published
	Time     int64  // of the context's latest event, ns; the owner's clock must not go back
	State    State
	Reason   Reason // the cause that keeps data from being sent, or would in ModeEnforce
	Mode     Mode
	Cwnd     int64
	Inflight int64
	Waiting  int64 // unsent and marked for retransmission
	Credit   int64
	BaseRTT  int64
	QDelay   int64 // queueing delay of the last sample
	AvgDelay int64 // averaged

	Sent   int64 // packets, first and again
	Acks   int64
	Marked int64 // acknowledgements with an ECN echo
	Nacks  int64
	Losses int64

	// Held is the time data waited, by cause: ACTIVE with the [Reason]. A wait still
	// going on counts up to Time.
	Held [reasons]int64
}

// A View is a place for a snapshot by the owner of a [Manager] for others: a
// sequence lock whose words are all atomic, so the race detector has nothing to say.
// The owner writes and never waits. Any number of goroutines may read, and try again
// during a write. The zero View is empty. Do not copy a View.
type View struct {
	seq  atomic.Uint64 // odd while the words change
	word [viewWords]atomic.Int64
}

const viewWords = 15 + reasons

// Refresh asks for the present state of context h in v, read by [View.Snapshot].
// Refresh never waits: without an owner of the manager the snapshot is there on
// return, else as soon as the owner drains the inbox. False means a full inbox. A
// snapshot costs running traffic nothing until asked for.
//
//uetcc:hot inlines
func (m *Manager) Refresh(h Handle, v *View) bool {
	return m.Post(Event{Kind: eventShow, PDC: h, view: v})
}

// show publishes the state of context h. A past life leaves the last state in place.
func (m *Manager) show(h Handle, v *View) {
	c := m.Context(h)
	if c == nil {
		return
	}
	r, n, w := &c.rec, m.counts(c), c.window.Snapshot()
	v.seq.Add(1)
	for k, word := range [...]int64{
		int64(h), r.last, int64(c.state) | int64(c.why)<<8 | int64(c.mode)<<16,
		w.Cwnd, w.Inflight, c.waits, c.credit.Credit(), w.QDelay, w.AvgDelay,
		n.sent, n.acks, n.marked, n.nacks, n.losses, w.BaseRTT,
	} {
		v.word[k].Store(word)
	}
	var waited [reasons]int64
	if m.extra.due != nil {
		waited = m.extra.waited[h.Index()]
	}
	waited[ReasonWindow] = r.waited
	if why := c.holds; why != ReasonBacklog {
		if m.extra.due == nil {
			why = ReasonWindow
		}
		waited[why] += r.last
	}
	for k, ns := range waited {
		v.word[viewWords-reasons+k].Store(ns)
	}
	v.seq.Add(1)
}

// Snapshot returns the last snapshot published in v; all fields belong to one
// moment.
func (v *View) Snapshot() Snapshot {
	for {
		before := v.seq.Load()
		s := v.load()
		if before&1 == 0 && v.seq.Load() == before {
			return s
		}
		runtime.Gosched()
	}
}

func (v *View) load() Snapshot {
	w := func(k int) int64 { return v.word[k].Load() }
	s := Snapshot{
		Context: Handle(w(0)), Time: w(1), State: State(w(2)), Reason: Reason(w(2) >> 8), Mode: Mode(w(2) >> 16),
		Cwnd: w(3), Inflight: w(4), Waiting: w(5), Credit: w(6), QDelay: w(7), AvgDelay: w(8),
		Sent: w(9), Acks: w(10), Marked: w(11), Nacks: w(12), Losses: w(13), BaseRTT: w(14),
	}
	for k := range s.Held {
		s.Held[k] = w(viewWords - reasons + k)
	}
	return s
}

// LogValue is s for package log/slog: bytes and packets as integers, times as durations, and in the
// group held the time that data waited, by reason.
func (s Snapshot) LogValue() slog.Value {
	var held []any
	for r, ns := range s.Held {
		if ns > 0 {
			held = append(held, slog.Duration(Reason(r).String(), time.Duration(ns)))
		}
	}
	return slog.GroupValue(
		slog.String("state", s.State.String()), slog.String("reason", s.Reason.String()), slog.String("mode", s.Mode.String()),
		slog.Int64("cwnd", s.Cwnd), slog.Int64("inflight", s.Inflight), slog.Int64("waiting", s.Waiting), slog.Int64("credit", s.Credit),
		slog.Duration("base_rtt", time.Duration(s.BaseRTT)), slog.Duration("qdelay", time.Duration(s.QDelay)),
		slog.Int64("sent", s.Sent), slog.Int64("acks", s.Acks), slog.Int64("marked", s.Marked), slog.Int64("nacks", s.Nacks),
		slog.Int64("losses", s.Losses), slog.Group("held", held...),
	)
}
