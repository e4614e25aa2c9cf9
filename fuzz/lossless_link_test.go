// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/cbfc"
	"github.com/uetcc/uetcc/hw/llr"
	"github.com/uetcc/uetcc/internal/agenda"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/ses"
)

// A losslessLink is two endpoints and the link between them: each direction has link level retry and
// credits, frames and ordered sets are damaged at random, and the memory behind each end is
// slower than the link.
type losslessLink struct {
	t    *testing.T
	rng  *rand.Rand
	rate float64 // of damaged frames and ordered sets
	llr  bool
	now  int64
	q    agenda.Agenda[func()]
	ways [2]*lane // from each end to the other

	damaged int
}

const (
	lossFrame  = 90    // ns of a frame on the link
	lossDelay  = 500   // ns one way
	lossDrain  = 120   // ns of a frame on its way into memory
	lossLimit  = 120   // credits
	lossReturn = 5_000 // ns between two CF_Updates, when nothing new is told
)

// A lane is one direction of the link.
type lane struct {
	from, to *uetcc.Endpoint
	tx       *llr.Transmitter
	rx       *llr.Receiver
	cost     cbfc.Cost
	credit   *cbfc.Sender
	buffer   cbfc.Receiver
	waiting  []uetcc.Datagram // to be sent
	kept     map[uint64]uetcc.Datagram
	handle   uint64
	free     int64 // when the line is
	drained  int64 // when what has come is in memory
	highest  int64 // credits held at once
}

func newLosslessLink(t *testing.T, seed uint64, rate float64, retry bool) *losslessLink {
	l := &losslessLink{t: t, rng: rand.New(rand.NewPCG(seed, 5)), rate: rate, llr: retry}
	var ends [2]*uetcc.Endpoint
	for i := range ends {
		var err error
		ends[i], err = uetcc.NewEndpoint(uetcc.Config{
			Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), MTU: 1024, Seed: seed*2 + uint64(i) + 1,
			PDS: pdc.Config{KnownSources: true, BaseRTT: 100_000},
			CC:  ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 12_000, Trimming: true}},
		})
		require.NoError(t, err)
		target := ends[i].Target()
		process, err := target.AddProcess(ses.Process{Job: 1})
		require.NoError(t, err)
		_, err = target.OpenIndex(0, process, 0, ses.Index{})
		require.NoError(t, err)
		_, err = target.Register(process, 0, ses.Region{Length: 1 << 22, Key: 1, Job: ses.AnyJob, Rights: ses.RightWrite, Idempotent: true})
		require.NoError(t, err)
	}
	for i := range l.ways {
		w := &lane{from: ends[i], to: ends[1-i], cost: cbfc.Cost{CreditSize: 128, Overhead: 20}, kept: map[uint64]uetcc.Datagram{}}
		var err error
		w.tx, err = llr.NewTransmitter(llr.Config{Init: llr.BehaviorBlock, ReplayTimer: 3_000, ReplayMax: 255})
		require.NoError(t, err)
		w.rx, err = llr.NewReceiver(164)
		require.NoError(t, err)
		w.credit, err = cbfc.NewSender([]int64{lossLimit}, 0)
		require.NoError(t, err)
		w.tx.Start(0)
		l.ways[i] = w
		l.every(lossReturn, func() { l.tell(w) })
	}
	return l
}

func (l *losslessLink) every(ns int64, f func()) {
	l.q.Push(l.now+ns, func() { f(); l.every(ns, f) })
}

func (l *losslessLink) hurt() bool {
	hurt := l.rng.Float64() < l.rate
	if hurt {
		l.damaged++
	}
	return hurt
}

// tell returns the credits of what w has freed, as an ordered set in its bytes.
func (l *losslessLink) tell(w *lane) {
	b := (&llr.Set{Type: llr.TypeCFUpdate, Freed: [2]llr.VCCount{{Count: uint16(w.buffer.Freed & 0x7fff)}, {VC: 1}}}).AppendTo(nil)
	if l.hurt() {
		return
	}
	l.q.Push(l.now+lossDelay, func() {
		var x llr.Set
		require.NoError(l.t, x.Decode(b))
		vc := w.credit.VCs[0]
		w.credit.OnCFUpdate(0, (vc.Freed+(uint32(x.Freed[0].Count)-vc.Freed)&0x7fff)&(1<<20-1))
	})
}

// sets carries the ordered sets of link level retry.
func (l *losslessLink) sets(w *lane) {
	w.tx.Tick(l.now)
	if x, ok := w.tx.Set(l.now); ok && !l.hurt() {
		l.q.Push(l.now+lossDelay, func() { w.rx.Receive(&x) })
	}
	for x, ok := w.rx.Set(l.now); ok; x, ok = w.rx.Set(l.now) {
		if !l.hurt() {
			l.q.Push(l.now+lossDelay, func() { w.tx.Receive(l.now, &x) })
		}
	}
	for h, ok := w.tx.Freed(); ok; h, ok = w.tx.Freed() {
		delete(w.kept, h)
	}
}

// send puts the next frame of w on the line, if that is free and there are credits for a new one.
func (l *losslessLink) send(w *lane) {
	var out uetcc.Datagram
	for out.Packet = make([]byte, 0, 2048); len(w.waiting) < 4 && w.from.Transmit(l.now, &out); out.Packet = make([]byte, 0, 2048) {
		out.Packet = out.Packet[:len(out.Packet)+int(out.Payload.Length)]
		w.waiting = append(w.waiting, out)
	}
	if l.now < w.free {
		return
	}
	s, f, again := w.tx.Again(l.now)
	if !again {
		if len(w.waiting) == 0 {
			return
		}
		d := w.waiting[0]
		f = llr.Frame{Handle: w.handle, Size: int64(len(d.Packet))}
		credits := w.cost.Credits(f.Size)
		if !w.credit.CanSend(0, credits) {
			return
		}
		if l.llr {
			var v llr.Verdict
			if s, v = w.tx.Offer(l.now, f); v != llr.VerdictNumbered {
				return
			}
		}
		w.credit.OnSend(0, credits)
		w.waiting = w.waiting[1:]
		w.kept[w.handle] = d
		w.handle++
	}
	w.free = l.now + lossFrame
	d, how := w.kept[f.Handle], llr.ArrivalGood
	if l.hurt() {
		how = llr.ArrivalBad
	}
	l.q.Push(l.now+lossFrame+lossDelay, func() {
		if l.llr && w.rx.Frame(l.now, s, how) || !l.llr && how == llr.ArrivalGood {
			l.arrive(w, d)
		}
	})
}

// arrive has a frame in the buffer until memory has it.
func (l *losslessLink) arrive(w *lane, d uetcc.Datagram) {
	credits := w.cost.Credits(int64(len(d.Packet)))
	w.buffer.OnFrame(credits)
	w.highest = max(w.highest, w.buffer.Held())
	w.drained = max(w.drained, l.now) + lossDrain
	l.q.Push(w.drained, func() {
		in, reply := d, uetcc.Datagram{Packet: make([]byte, 0, w.to.ReplyMax())}
		var r uetcc.Received
		if w.to.Receive(l.now, &in, &reply, &r); len(reply.Packet) > 0 {
			back := l.ways[0]
			if back == w {
				back = l.ways[1]
			}
			back.waiting = append(back.waiting, reply)
		}
		w.buffer.OnDrain(credits)
		l.tell(w)
	})
}

// run goes on until done.
func (l *losslessLink) run(done func() bool) {
	for !done() {
		require.Less(l.t, l.now, int64(1e9), "stuck")
		for _, w := range l.ways {
			l.sets(w)
			l.send(w)
			if at, ok := w.from.NextDeadline(); ok && at <= l.now {
				w.from.Tick(l.now)
			}
		}
		l.now += lossFrame / 3
		for at, ok := l.q.Next(); ok && at <= l.now; at, ok = l.q.Next() {
			_, happen := l.q.Pop()
			happen()
		}
	}
}

// write has each end write so many times 1 MiB to the other.
func (l *losslessLink) write(times int) {
	for i, w := range l.ways {
		for range times {
			m := uetcc.Message{To: uetcc.Destination{Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(2 - i)}), Job: 1}, Key: 1, Length: 1 << 20}
			_, err := w.from.Write(0, &m)
			require.NoError(l.t, err)
		}
	}
}

// Over a link with retry and credits endpoints lose nothing at 1e-4 damaged frames, nor at many more,
// though memory is slower than the link: no packet is sent twice, nothing times out, and no buffer
// holds more than its credits.
func TestLosslessLinkBetweenEndpoints(t *testing.T) {
	for rate, mib := range map[float64]int{1e-4: 8, 1e-2: 1} {
		l := newLosslessLink(t, 1, rate, true)
		l.write(mib)
		ended := 0
		l.run(func() bool {
			for _, w := range l.ways {
				for ev, ok := w.from.Poll(); ok; ev, ok = w.from.Poll() {
					require.Equal(t, ses.StatusOK, ev.Outcome.Status)
					ended++
				}
			}
			return ended == 2*mib
		})
		again := uint64(0)
		for _, w := range l.ways {
			s := w.from.PDS().Stats()
			require.LessOrEqual(t, w.highest, int64(lossLimit))
			require.Greater(t, w.highest, int64(lossLimit*3/4), "memory was slower")
			require.Equal(t, pdc.Stats{}, pdc.Stats{Resent: s.Resent, RTOs: s.RTOs, NACKs: s.NACKs, Duplicates: s.Duplicates, Inferred: s.Inferred})
			require.EqualValues(t, mib<<10, s.Requests)
			again += w.tx.Stats().Replayed
		}
		require.NotZero(t, again, "the test has tested something")
		t.Logf("%g: %d frames and ordered sets damaged, %d frames sent again on the link", rate, l.damaged, again)
	}
}

// The same link without retry loses what is damaged: its endpoints send that again.
func TestLossyLinkBetweenEndpoints(t *testing.T) {
	l := newLosslessLink(t, 1, 1e-2, false)
	l.write(1)
	l.run(func() bool { return l.ways[0].from.PDS().Stats().Resent+l.ways[1].from.PDS().Stats().Resent > 0 })
	require.NotZero(t, l.damaged)
}
