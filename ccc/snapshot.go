package ccc

import (
	"runtime"
	"sync/atomic"
)

// Stats counts what happened to one context.
type Stats struct {
	Sent   uint64 // packets, first and again
	Acks   uint64
	Marked uint64 // of the acknowledgements, those with an ECN echo
	Nacks  uint64
	Losses uint64

	// Held is how long data waited, by what held it back, ns: ACTIVE with that
	// [Reason].
	Held [reasons]int64
}

func (s *Stats) ack(marked bool) {
	s.Acks++
	if marked {
		s.Marked++
	}
}

// account adds the wait that ends to what held it, and begins the next.
func (r *record) account(c *Context, now int64) {
	if r.held != ReasonBacklog {
		r.stats.Held[r.held] += max(now-r.since, 0)
	}
	r.since, r.held = now, ReasonBacklog
	if c.state == StateActive {
		r.held = c.why
	}
}

// Snapshot is what can be seen of a context from outside. Sizes in bytes, times
// in ns.
type Snapshot struct {
	Time     int64 // of the event after which it was taken
	State    State
	Reason   Reason
	Mode     Mode
	Cwnd     int64
	Inflight int64
	Waiting  int64 // unsent and marked for retransmission
	Credit   int64
	BaseRTT  int64
	QDelay   int64 // queueing delay of the last sample
	AvgDelay int64 // averaged
	Stats
}

// snapshotWords is the size of a published snapshot: see view.store.
const snapshotWords = 9 + 5 + reasons

// A view is a published snapshot: a sequence lock whose words are all atomic, so
// that the race detector has nothing to say. The owner writes and never waits; a
// reader tries again while the owner is writing.
type view struct {
	seq  atomic.Uint64 // odd while the words change
	word [snapshotWords]atomic.Int64
	_    [(cacheLine - (snapshotWords+1)*8%cacheLine) % cacheLine]byte
}

// show publishes the state of a context.
func (m *Manager) show(i uint32, now int64) {
	c, r, v := &m.contexts[i], &m.records[i], &m.views[i]
	r.shown = now
	w := c.window.Snapshot()
	v.seq.Add(1)
	for k, word := range [...]int64{
		now, int64(c.state) | int64(c.why)<<8 | int64(c.mode)<<16,
		w.Cwnd, w.Inflight, c.waiting(), c.credit.Credit(), w.BaseRTT, w.QDelay, w.AvgDelay,
		int64(r.stats.Sent), int64(r.stats.Acks), int64(r.stats.Marked), int64(r.stats.Nacks), int64(r.stats.Losses),
	} {
		v.word[k].Store(word)
	}
	for k, held := range r.stats.Held {
		v.word[snapshotWords-reasons+k].Store(held)
	}
	v.seq.Add(1)
}

// Snapshot returns what was last published of the context at the index of h, by
// whichever life. Any goroutine may call it beside running traffic. The owner
// publishes in the first event of every base round trip, and when a context goes
// idle or is freed, so between events it may be one round trip old; Time tells.
func (m *Manager) Snapshot(h Handle) Snapshot {
	if int(h.Index()) >= len(m.views) {
		return Snapshot{}
	}
	v := &m.views[h.Index()]
	for {
		before := v.seq.Load()
		s := v.load()
		if before&1 == 0 && v.seq.Load() == before {
			return s
		}
		runtime.Gosched()
	}
}

func (v *view) load() Snapshot {
	w := func(k int) int64 { return v.word[k].Load() }
	s := Snapshot{
		Time: w(0), State: State(w(1)), Reason: Reason(w(1) >> 8), Mode: Mode(w(1) >> 16),
		Cwnd: w(2), Inflight: w(3), Waiting: w(4), Credit: w(5), BaseRTT: w(6), QDelay: w(7), AvgDelay: w(8),
		Stats: Stats{Sent: uint64(w(9)), Acks: uint64(w(10)), Marked: uint64(w(11)), Nacks: uint64(w(12)), Losses: uint64(w(13))},
	}
	for k := range s.Held {
		s.Held[k] = w(snapshotWords - reasons + k)
	}
	return s
}
