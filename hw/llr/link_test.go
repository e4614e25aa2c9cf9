// SPDX-License-Identifier: Apache-2.0

package llr

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/agenda"
	"github.com/uetcc/uetcc/internal/alloctest"
)

// A link is both ends and the wire between them: frames of one size at a rate, each end hears
// the other after a delay.
type link struct {
	t      testing.TB
	tx     *Transmitter
	rx     *Receiver
	wire   agenda.Agenda[func()]
	now    int64
	delay  int64 // one way, ns
	frame  int64 // time of a frame, ns
	size   int64
	left   int    // frames to be offered
	handle uint64 // of the next one

	damage  func(Seq) (Arrival, bool) // what happens to a frame; false: it never was there
	acks    func(Set) bool            // whether a set reaches the transmitter
	onWire  int
	got     []uint64
	freed   []uint64
	sets    []Set
	dropped int
}

func newLink(t testing.TB, c Config, frames int) *link {
	c.Init = cmp.Or(c.Init, BehaviorBlock)
	tx, err := NewTransmitter(c)
	require.NoError(t, err)
	rx, err := NewReceiver(164)
	require.NoError(t, err)
	l := &link{t: t, tx: tx, rx: rx, delay: 500, frame: 7, size: 84, left: frames}
	tx.Start(0)
	return l
}

// run goes on until nothing happens any more, or until a time.
func (l *link) run(until int64) {
	for l.now < until {
		l.tx.Tick(l.now)
		if x, ok := l.tx.Set(l.now); ok {
			l.wire.Push(l.now+l.delay, func() { l.rx.Receive(&x) })
		}
		l.send()
		for x, ok := l.rx.Set(l.now); ok; x, ok = l.rx.Set(l.now) {
			if l.sets = append(l.sets, x); l.acks == nil || l.acks(x) {
				l.wire.Push(l.now+l.delay, func() { l.tx.Receive(l.now, &x) })
			}
		}
		for h, ok := l.tx.Freed(); ok; h, ok = l.tx.Freed() {
			l.freed = append(l.freed, h)
		}
		next := min(l.tx.Deadline(), l.rx.Deadline(l.now))
		if at, ok := l.wire.Next(); ok {
			next = min(next, at)
		}
		if l.tx.state == stateReplay || l.left > 0 && l.tx.state == stateAdvance && l.tx.outstanding() < l.tx.c.OutstandingFrames {
			next = min(next, l.now+l.frame)
		}
		if next == never {
			return
		}
		l.now = max(next, l.now+1)
		for at, ok := l.wire.Next(); ok && at <= l.now; at, ok = l.wire.Next() {
			_, arrive := l.wire.Pop()
			arrive()
		}
	}
}

// send puts the next frame on the wire.
func (l *link) send() {
	s, f, ok := l.tx.Again(l.now)
	if !ok {
		if l.left == 0 {
			return
		}
		var v Verdict
		f = Frame{Handle: l.handle, Size: l.size}
		switch s, v = l.tx.Offer(l.now, f); v {
		case VerdictWait:
			return
		case VerdictDrop:
			l.left, l.handle, l.dropped = l.left-1, l.handle+1, l.dropped+1
			return
		}
		l.left, l.handle = l.left-1, l.handle+1
	}
	l.onWire++
	how := ArrivalGood
	if l.damage != nil {
		if how, ok = l.damage(s); !ok && how != ArrivalBad {
			return
		}
	}
	l.wire.Push(l.now+l.delay, func() {
		if l.rx.Frame(l.now, s, how) {
			l.got = append(l.got, f.Handle)
		}
	})
}

// whole asserts that n frames came, each once and in order, and that all were freed.
func (l *link) whole(n int) {
	l.t.Helper()
	for _, all := range [][]uint64{l.got, l.freed} {
		require.Equal(l.t, n, len(all))
		for i, h := range all {
			require.EqualValues(l.t, i, h)
		}
	}
	require.Equal(l.t, stateAdvance, l.tx.state)
	require.Equal(l.t, receiverSendACKs, l.rx.state)
	require.Zero(l.t, l.tx.outstanding())
}

func count(sets []Set, t Type) (n int, last Set) {
	for _, s := range sets {
		if s.Type == t {
			n, last = n+1, s
		}
	}
	return n, last
}

var roomy = Config{ReplayTimer: 6000, OutstandingFrames: 4000}

// Rows of the public test plan: a frame that is skipped, or damaged, costs exactly one NACK and
// nothing is lost. The plan begins at number 1, this link at 0.
func TestOneNACKForAGap(t *testing.T) {
	for name, how := range map[string]Arrival{"skipped": ArrivalGood, "bad": ArrivalBad} {
		t.Run(name, func(t *testing.T) {
			l, hit := newLink(t, roomy, 1000), false
			l.damage = func(s Seq) (Arrival, bool) {
				if s == 900 && !hit {
					hit = true
					return how, false
				}
				return ArrivalGood, true
			}
			l.run(1e9)
			l.whole(1000)
			n, x := count(l.sets, TypeNACK)
			require.Equal(t, 1, n)
			require.EqualValues(t, 899, x.Seq)
			require.EqualValues(t, 1, l.tx.Stats().Replays)
			again := l.tx.Stats().Replayed
			require.Equal(t, TransmitterStats{Frames: 1000, Replayed: again, Replays: 1}, l.tx.Stats())
			require.Equal(t, ReceiverStats{Good: 1000, Replays: 1, NACKs: 1, Skipped: l.rx.Stats().Skipped}, l.rx.Stats())
			require.InDelta(t, again, l.rx.Stats().Skipped, 1, "the frames behind the gap, and the one in it")
		})
	}
}

// Acknowledgements are blocked: all frames go again until the link gives up, or begins anew.
func TestReplaysEndInAFlush(t *testing.T) {
	for _, c := range []struct {
		frames, window, wire, good, duplicates int
		again                                  bool
	}{
		{1000, 4000, 4000, 1000, 3000, false},
		{1000, 10, 40, 10, 30, false},
		{100, 4000, 400, 100, 300, true},
	} {
		l := newLink(t, Config{ReplayTimer: 20_000, OutstandingFrames: c.window, ReplayMax: 3, ReInitOnDiscard: c.again,
			Flush: BehaviorBlock}, c.frames)
		l.acks = func(x Set) bool { return x.Type == TypeInitEcho && l.tx.Stats().Flushes == 0 }
		for l.now < 1e9 && l.tx.Stats().Flushes == 0 {
			l.run(l.now + 1)
		}
		require.Equal(t, c.wire, l.onWire)
		require.Len(t, l.got, c.good)
		require.EqualValues(t, c.duplicates, l.rx.Stats().Duplicate)
		require.EqualValues(t, 3, l.tx.Stats().Replays)
		require.EqualValues(t, c.good, l.tx.Stats().Dropped)
		if !c.again {
			require.Equal(t, stateFlush, l.tx.state)
			continue
		}
		require.Equal(t, stateInit, l.tx.state)
		l.acks, l.left = nil, 100
		l.run(l.now + 1e6)
		require.Len(t, l.got, c.good+100)
		require.Equal(t, stateAdvance, l.tx.state)
	}
}

func TestPoisonedFramesAreInSequence(t *testing.T) {
	l := newLink(t, roomy, 1000)
	l.damage = func(Seq) (Arrival, bool) { return ArrivalPoisoned, true }
	l.run(1e9)
	l.whole(1000)
	require.EqualValues(t, 1000, l.rx.Stats().Poisoned)
	require.Zero(t, l.rx.Stats().NACKs)
	require.Zero(t, l.tx.Stats().Replays)
}

// 500 m of cable at 800 Gb/s: with the limits of a round trip no frame is sent twice and the link
// stays full.
func TestLongCableStaysFull(t *testing.T) {
	l := newLink(t, Config{ReplayTimer: 8000, OutstandingFrames: 8000}, 100_000)
	l.delay, l.frame = 2500, 1 // 84 bytes take 0.84 ns
	l.run(1e9)
	l.whole(100_000)
	require.Zero(t, l.tx.Stats().Replays)
	require.Less(t, float64(l.now-3*5000), 1.01*100_000)
}

// Frames and ordered sets are damaged at random: with 1e-4, and with far more than any link has.
func TestNothingIsLostUnderErrors(t *testing.T) {
	for _, rate := range []float64{1e-4, 1e-2, 0.2} {
		for seed := range uint64(20) {
			rnd := rand.New(rand.NewPCG(seed, 5))
			l := newLink(t, Config{ReplayTimer: 3000, OutstandingFrames: 200, ReplayMax: 255}, 3000)
			l.damage = func(Seq) (Arrival, bool) {
				if rnd.Float64() < rate {
					return []Arrival{ArrivalBad, ArrivalGood}[rnd.IntN(2)], false
				}
				return ArrivalGood, true
			}
			l.acks = func(Set) bool { return rnd.Float64() >= rate }
			l.run(1e10)
			require.Len(t, l.freed, 3000)
			l.damage, l.acks, l.left = nil, nil, 1 // where damage to a frame that had come was the last, nothing else ends the wait
			l.run(2e10)
			l.whole(3001)
		}
	}
}

// Numbers wrap, and a ring that Freed does not empty makes frames wait.
func TestNumbersWrap(t *testing.T) {
	l := newLink(t, Config{ReplayTimer: 3000, OutstandingFrames: 10, ReplayMax: 255}, 500)
	l.tx.next, l.tx.acked, l.tx.freed = seqMask-100, seqMask-101, seqMask-101
	l.damage = func(s Seq) (Arrival, bool) {
		if s%50 == 0 && l.onWire%3 == 0 {
			return ArrivalBad, false
		}
		return ArrivalGood, true
	}
	l.run(1e9)
	l.whole(500)
	require.EqualValues(t, 500-102, l.tx.acked)

	l = newLink(t, Config{ReplayTimer: 3000, OutstandingFrames: 4}, 0)
	l.tx.Receive(0, &Set{Type: TypeInitEcho})
	for i := range 8 {
		_, v := l.tx.Offer(0, Frame{Size: 1})
		require.Equal(t, VerdictNumbered, v)
		l.tx.Receive(0, &Set{Type: TypeACK, Seq: Seq(i)})
	}
	_, v := l.tx.Offer(0, Frame{Size: 1})
	require.Equal(t, VerdictWait, v, "nobody has taken what was freed")
}

// As many frames as Config allows are half the numbers there are. With all of them outstanding, and with more than 2^17
// that nobody had taken back, a distance was taken for one backwards: frames were numbered without end, none was
// acknowledged or went again, and others were handed back under a wrong handle.
func TestHalfTheNumbersOutstanding(t *testing.T) {
	for _, frames := range []int{1<<17 + 1, half} {
		tx, err := NewTransmitter(Config{ReplayTimer: 100, OutstandingFrames: frames})
		require.NoError(t, err)
		tx.Start(0)
		tx.Receive(0, &Set{Type: TypeInitEcho})
		offered := uint64(0)
		offer := func(want int) {
			t.Helper()
			for range want {
				if _, v := tx.Offer(0, Frame{Handle: offered, Size: 1}); v != VerdictNumbered {
					t.Fatal(frames, offered, v)
				}
				offered++
			}
			_, v := tx.Offer(0, Frame{Size: 1})
			require.Equal(t, VerdictWait, v)
		}
		offer(frames)
		require.EqualValues(t, 100, tx.Deadline())
		tx.Tick(100)
		for want := range frames / 2 {
			if s, f, ok := tx.Again(100); !ok || s != Seq(want) || f.Handle != uint64(want) {
				t.Fatal(frames, want, s, f, ok)
			}
		}
		tx.Receive(100, &Set{Type: TypeACK, Seq: Seq(frames - 1)})
		require.Zero(t, tx.Stats().SeqError)
		require.Zero(t, tx.outstanding())

		offer(min(frames, min(len(tx.ring), seqMask)-frames))
		tx.Receive(100, &Set{Type: TypeACK, Seq: Seq(offered - 1)})
		for want := range offered {
			if h, ok := tx.Freed(); !ok || h != want {
				t.Fatal(frames, want, h, ok)
			}
		}
		_, ok := tx.Freed()
		require.False(t, ok)
	}
}

// Acknowledgements before, between and behind the frames that go again.
func TestAcknowledgementsInAReplay(t *testing.T) {
	tx, err := NewTransmitter(Config{ReplayTimer: 100, OutstandingFrames: 8, OutstandingBytes: 500, ReplayMax: 1})
	require.NoError(t, err)
	tx.Start(0)
	tx.Receive(0, &Set{Type: TypeInitEcho})
	offer := func(now int64, want Verdict) {
		t.Helper()
		_, v := tx.Offer(now, Frame{Size: 100})
		require.Equal(t, want, v)
	}
	again := func(want Seq) {
		t.Helper()
		s, _, ok := tx.Again(60)
		require.True(t, ok)
		require.Equal(t, want, s)
	}
	for range 5 {
		offer(0, VerdictNumbered)
	}
	offer(0, VerdictWait)
	tx.Receive(50, &Set{Type: TypeACK, Seq: 0})
	require.EqualValues(t, 150, tx.Deadline(), "each acknowledgement that brings news has the timer begin anew")
	offer(50, VerdictNumbered)
	offer(50, VerdictWait)

	tx.Receive(60, &Set{Type: TypeNACK, Seq: 0})
	require.Equal(t, stateReplay, tx.state, "a NACK of the frame after the last acknowledged")
	again(1)
	tx.Receive(60, &Set{Type: TypeACK, Seq: 3})
	again(4)
	again(5)
	require.Equal(t, stateAdvance, tx.state)
	_, _, ok := tx.Again(60)
	require.False(t, ok)

	tx.Receive(60, &Set{Type: TypeNACK, Seq: 3})
	require.Equal(t, stateReplay, tx.state, "with progress the replays count anew")
	again(4)
	tx.Receive(60, &Set{Type: TypeACK, Seq: 4})
	again(5)
	tx.Receive(60, &Set{Type: TypeNACK, Seq: 4})
	require.Equal(t, stateReplay, tx.state)
	tx.Receive(60, &Set{Type: TypeACK, Seq: 5})
	require.Equal(t, stateAdvance, tx.state, "nothing is left to go again")
	require.EqualValues(t, int64(math.MaxInt64), tx.Deadline())
	require.Equal(t, TransmitterStats{Frames: 6, Replayed: 5, Replays: 3}, tx.Stats())
	for range 5 {
		offer(70, VerdictNumbered)
	}
	offer(70, VerdictWait)
}

func TestTransmitterRules(t *testing.T) {
	l := newLink(t, Config{ReplayTimer: 3000, OutstandingBytes: 100, DataAge: 10_000, ReplayMax: 255, Flush: BehaviorDiscard}, 0)
	x, ok := l.tx.Set(0)
	require.True(t, ok)
	require.Equal(t, Set{Type: TypeInit}, x)
	_, ok = l.tx.Set(2999)
	require.False(t, ok)
	_, ok = l.tx.Set(3000)
	require.True(t, ok, "until it is echoed")
	_, v := l.tx.Offer(0, Frame{Size: 1})
	require.Equal(t, VerdictWait, v)
	l.tx.Receive(0, &Set{Type: TypeInitEcho, Seq: 5})
	require.Equal(t, stateInit, l.tx.state)
	l.tx.Receive(0, &Set{Type: TypeInitEcho})
	require.Equal(t, stateAdvance, l.tx.state)

	l.tx.Offer(10, Frame{Size: 60})
	_, v = l.tx.Offer(10, Frame{Size: 60})
	require.Equal(t, VerdictWait, v, "bytes")
	l.tx.Receive(10, &Set{Type: TypeACK, Seq: 1})
	l.tx.Receive(10, &Set{Type: TypeNACK, Seq: seqMask - 1})
	require.EqualValues(t, 3, l.tx.Stats().SeqError)
	require.Equal(t, 1, l.tx.outstanding())

	for now := int64(10); now < 10_009; now += 100 {
		l.tx.Tick(now)
		l.tx.Again(now)
	}
	require.EqualValues(t, 3, l.tx.Stats().Replays)
	require.EqualValues(t, 10_010, l.tx.Deadline(), "a frame of that age")
	l.tx.Tick(10_010)
	require.Equal(t, stateFlush, l.tx.state)
	_, v = l.tx.Offer(0, Frame{Size: 1})
	require.Equal(t, VerdictDrop, v)
	l.tx.Stop()
	_, v = l.tx.Offer(0, Frame{Size: 1})
	require.Equal(t, VerdictPlain, v)

	tx, err := NewTransmitter(Config{ReplayTimer: 1})
	require.NoError(t, err)
	tx.Start(0)
	_, v = tx.Offer(0, Frame{Size: 1})
	require.Equal(t, VerdictPlain, v, "best effort until the receiver has answered")
	tx.Receive(0, &Set{Type: TypeInitEcho})
	_, v = tx.Offer(0, Frame{Size: 1})
	require.Equal(t, VerdictNumbered, v)
	tx.Receive(0, &Set{Type: TypeACK, Seq: 1 << seqBits}) // more bits than a number has: looked for 0 without end
	require.Zero(t, tx.outstanding())

	for _, c := range []Config{
		{}, {ReplayTimer: 1, OutstandingFrames: half + 1}, {ReplayTimer: 1, OutstandingBytes: -1},
		{ReplayTimer: 1, Init: BehaviorDiscard + 1}, {ReplayTimer: 1, Flush: BehaviorDiscard + 1},
	} {
		_, err := NewTransmitter(c)
		require.ErrorIs(t, err, ErrConfig)
	}
	_, err = NewReceiver(0)
	require.ErrorIs(t, err, ErrConfig)
	require.Equal(t, "REPLAY SEND_NACK bad wait DISCARD",
		stateReplay.String()+" "+receiverSendNACK.String()+" "+ArrivalBad.String()+" "+VerdictWait.String()+" "+BehaviorDiscard.String())
}

// A frame lost before the link started anew was never seen by the receiver, which acknowledges it
// all the same with the next frame.
func TestStartAnew(t *testing.T) {
	tx, err := NewTransmitter(Config{ReplayTimer: 100})
	require.NoError(t, err)
	rx := newReceiver(t)
	start := func(now int64) {
		t.Helper()
		tx.Start(now)
		x, ok := tx.Set(now)
		require.True(t, ok)
		rx.Receive(&x)
		x, ok = rx.Set(now)
		require.True(t, ok)
		tx.Receive(now, &x)
	}
	start(0)
	_, v := tx.Offer(10, Frame{Handle: 7})
	require.Equal(t, VerdictNumbered, v)
	start(20)
	require.EqualValues(t, 1, tx.Stats().Dropped)
	h, ok := tx.Freed()
	require.True(t, ok, "at once")
	require.EqualValues(t, 7, h)
	_, v = tx.Offer(30, Frame{Handle: 8})
	require.Equal(t, VerdictNumbered, v)
	require.EqualValues(t, 130, tx.Deadline(), "the replay timer runs for the new frame")
}

// The receiver starts anew and knows nothing: what its predecessor delivered comes again, and was delivered
// twice. The transmitter gives up, and both begin anew.
func TestReceiverStartsAnew(t *testing.T) {
	l := newLink(t, Config{ReplayTimer: 3000, OutstandingFrames: 10, ReInitOnDiscard: true}, 10)
	l.acks = func(x Set) bool { return x.Type != TypeACK }
	l.run(2000)
	require.Len(t, l.got, 10)
	l.rx, l.acks = newReceiver(t), nil
	l.run(1e6)
	require.Len(t, l.got, 10, "each once")
	require.EqualValues(t, 10, l.rx.Stats().Skipped)
	require.EqualValues(t, 1, l.tx.Stats().Flushes)
	l.left = 10
	l.run(2e6)
	l.whole(20)
}

// All frames have come, the last again and damaged, and the NACK was lost: the transmitter, with all that
// may be outstanding, sent the same frames again for ever, and the receiver waited for a new one.
func TestLostNACKOfNoFrame(t *testing.T) {
	rx := newReceiver(t)
	rx.Receive(&Set{Type: TypeInit})
	_, ok := rx.Set(0)
	require.True(t, ok)
	require.True(t, rx.Frame(0, 0, ArrivalGood))
	x, ok := rx.Set(1)
	require.True(t, ok)
	require.Equal(t, Set{Type: TypeACK}, x, "lost")
	require.False(t, rx.Frame(10, 0, ArrivalBad))
	x, ok = rx.Set(10)
	require.True(t, ok)
	require.Equal(t, Set{Type: TypeNACK}, x, "lost, too")
	require.False(t, rx.Frame(20, 0, ArrivalGood))
	require.EqualValues(t, 21, rx.Deadline(20))
	x, ok = rx.Set(21)
	require.True(t, ok)
	require.Equal(t, Set{Type: TypeACK}, x)
	_, ok = rx.Set(22)
	require.False(t, ok)
	require.True(t, rx.Frame(30, 1, ArrivalGood))
}

func newReceiver(t *testing.T) *Receiver {
	r, err := NewReceiver(1)
	require.NoError(t, err)
	return r
}

func TestAllocs(t *testing.T) {
	tx, _ := NewTransmitter(Config{ReplayTimer: 1000})
	rx, _ := NewReceiver(1)
	tx.Start(0)
	x, _ := tx.Set(0)
	rx.Receive(&x)
	x, _ = rx.Set(0)
	tx.Receive(0, &x)
	now := int64(0)
	alloctest.Zero(t, "a frame and its acknowledgement", func() {
		now += 10
		s, v := tx.Offer(now, Frame{Size: 84})
		if v != VerdictNumbered || !rx.Frame(now, s, ArrivalGood) {
			panic("refused")
		}
		y, ok := rx.Set(now + 5)
		if !ok {
			panic("no acknowledgement")
		}
		tx.Receive(now+5, &y)
		if _, ok := tx.Freed(); !ok {
			panic("not freed")
		}
	})
}
