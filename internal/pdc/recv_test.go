// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

// dumbWindow is the receive window as one would explain it: sets and loops.
// Sequence numbers are int64 here and never wrap.
type dumbWindow struct {
	start int64
	got   map[int64]bool
	held  map[int64]bool
	cack  int64
	max   int64
}

func newDumbWindow(start int64) *dumbWindow {
	return &dumbWindow{start: start, got: map[int64]bool{}, held: map[int64]bool{}, cack: start - 1, max: start - 1}
}

func (d *dumbWindow) advance() {
	for d.got[d.cack+1] && !d.held[d.cack+1] {
		d.cack++
	}
}

func (d *dumbWindow) classify(x, n int64) arrival {
	switch {
	case x > d.cack && x <= d.cack+n && d.got[x]:
		return arrivalDuplicate
	case x > d.cack && x <= d.cack+n:
		return arrivalNew
	case x <= d.cack && x > d.cack-n:
		return arrivalOld
	}
	return arrivalOutside
}

func (d *dumbWindow) missing() int64 {
	m := d.cack + 1
	for d.got[m] {
		m++
	}
	return m
}

func (d *dumbWindow) ooo() (n int) {
	for x := d.missing(); x <= d.max; x++ {
		if d.got[x] {
			n++
		}
	}
	return n
}

func (d *dumbWindow) sack(base int64) (m uint64) {
	for i := range int64(64) {
		if x := base + i; x <= d.cack || d.got[x] {
			m |= 1 << i
		}
	}
	return m
}

// newFar returns the ring of a window of any range.
func newFar(t testing.TB) far {
	m, err := newMemory(memoryConfig{MemoryConfig: MemoryConfig{Chunks: 1, Events: 1}, pdcs: 1, ranges: MaxRange})
	require.NoError(t, err)
	return far{m, 1}
}

var wrapStarts = []pds.PSN{0, 1, 0x12000, 0x7ffffff0, 0xfffffff0, 0xfffffc01, 0xffffffff}

func TestRecvWindowAgainstModel(t *testing.T) {
	for _, start := range wrapStarts {
		for _, n := range []int64{1, 8, 64, 128, 1000, 1024, MaxRange} {
			t.Run(fmt.Sprintf("%#x/%d", uint32(start), n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(start), uint64(n)))
				var w recvWindow
				f := newFar(t)
				w.Init(start)
				d := newDumbWindow(int64(start))
				for range 3000 / (1 + n/1025*30) { // the model takes its time
					stepRecv(t, r, &w, f, d, n)
				}
			})
		}
	}
}

func stepRecv(t *testing.T, r *rand.Rand, w *recvWindow, f far, d *dumbWindow, n int64) {
	x := d.cack + 1 + r.Int64N(n+n/4+2) - n/8
	if r.IntN(4) == 0 {
		x = d.missing()
	}
	got := w.Classify(f, pds.PSN(x), uint32(n))
	if want := d.classify(x, n); want != got {
		require.Equal(t, want, got, "psn %#x", x)
	}
	if got == arrivalNew {
		if r.IntN(8) == 0 {
			d.held[x] = true
		}
		d.got[x] = true
		d.max = max(d.max, x)
		w.Accept(f, pds.PSN(x)-w.Missing())
	}
	if r.IntN(6) == 0 { // a CLEAR of something that has arrived
		c := d.cack + r.Int64N(d.missing()-d.cack)
		require.True(t, w.reaches(pds.PSN(c)))
		w.released(pds.PSN(c))
		for x := range d.held {
			if x <= c {
				delete(d.held, x)
			}
		}
	}
	d.advance()
	w.Unhold()
	if low, ok := lowest(d.held); ok {
		w.HoldAt(pds.PSN(low))
	}
	want := [...]any{pds.PSN(d.cack), pds.PSN(d.max), pds.PSN(d.missing()), d.ooo()}
	if have := [...]any{w.CACK(), w.MaxRcvd(), w.Missing(), w.OOO(f)}; want != have {
		require.Equal(t, want, have)
	}
	checkSACK(t, w, f, d, x)
}

func checkSACK(t *testing.T, w *recvWindow, f far, d *dumbWindow, x int64) {
	trigger := max(d.cack+1, min(x, d.max))
	for _, b := range []pds.PSN{w.SACKBase(pds.PSN(trigger)), w.SACKRove(), w.SACKFrom(pds.PSN(x))} {
		base := d.cack + int64(b.Diff(pds.PSN(d.cack)))
		m := w.SACK(f, b)
		if base <= d.cack || m != d.sack(base) {
			require.Equal(t, d.sack(base), m, "base %#x, cack %#x", base, d.cack)
		}
		if above := d.max + 1 - base; above < 64 && above >= 0 {
			require.Zero(t, m>>above, "a bit above max_rcvd")
		}
	}
}

// A packet that comes after n later ones moves the edge over all of them at once: a
// part of a word, whole words, and what the ring held.
func TestRecvWindowOneLate(t *testing.T) {
	for _, start := range wrapStarts {
		for _, n := range []int64{1, 2, 62, 63, 64, 65, 127, 128, 129, 200, 1023, 1500} {
			t.Run(fmt.Sprintf("%#x/%d", uint32(start), n), func(t *testing.T) {
				var w recvWindow
				f := newFar(t)
				w.Init(start)
				d := newDumbWindow(int64(start))
				first := int64(start)
				for range 3 { // the second and third time at another place of the word
					for x := first + 1; x <= first+n; x++ {
						takeRecv(t, &w, f, d, x)
					}
					takeRecv(t, &w, f, d, first)
					require.Equal(t, pds.PSN(first+n), w.CACK())
					require.True(t, w.inOrder())
					takeRecv(t, &w, f, d, first+n+3) // and not the two before it
					takeRecv(t, &w, f, d, first+n+1)
					takeRecv(t, &w, f, d, first+n+2)
					first += n + 4
				}
			})
		}
	}
}

// takeRecv lets packet x, which is new, arrive and compares all that can be asked.
func takeRecv(t *testing.T, w *recvWindow, f far, d *dumbWindow, x int64) {
	require.Equal(t, arrivalNew, w.Classify(f, pds.PSN(x), MaxRange))
	w.Accept(f, pds.PSN(x)-w.Missing())
	d.got[x] = true
	d.max = max(d.max, x)
	d.advance()
	require.Equal(t, d.classify(x, MaxRange), w.Classify(f, pds.PSN(x), MaxRange))
	want := [...]any{pds.PSN(d.cack), pds.PSN(d.max), pds.PSN(d.missing()), d.ooo()}
	require.Equal(t, want, [...]any{w.CACK(), w.MaxRcvd(), w.Missing(), w.OOO(f)})
	checkSACK(t, w, f, d, x)
}

func lowest(set map[int64]bool) (low int64, ok bool) {
	for x := range set {
		if !ok || x < low {
			low, ok = x, true
		}
	}
	return low, ok
}

func TestRecvWindowClear(t *testing.T) {
	var w recvWindow
	f := newFar(t)
	w.Init(0xffff_fffe)
	w.Accept(f, 0xffff_fffe-w.Missing())
	w.Accept(f, 0-w.Missing())
	for _, tc := range []struct {
		name      string
		c         pds.PSN
		moved, ok bool
	}{
		{"of a PSN that never came", 0xffff_ffff, false, false},
		{"of a PSN above a hole", 0, false, false},
		{"of what has arrived", 0xffff_fffe, true, true},
		{"again", 0xffff_fffe, false, true},
		{"older", 0xffff_fffd, false, true},
		{"half the space ahead", 0x7fff_fffe, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			was := w.ClearPSN()
			ok := w.reaches(tc.c)
			if ok {
				w.released(tc.c)
			}
			require.Equal(t, []bool{tc.moved, tc.ok}, []bool{w.ClearPSN() != was, ok})
		})
	}
	require.Equal(t, pds.PSN(0xffff_fffe), w.ClearPSN())
}

func TestRecvWindowRoveShowsEverything(t *testing.T) {
	var w recvWindow
	f := newFar(t)
	w.Init(100)
	for x := pds.PSN(101); x < 100+5000; x++ {
		if x%3 != 0 {
			w.Accept(f, x-w.Missing())
		}
	}
	shown := map[pds.PSN]bool{}
	for range 2 * (5000/64 + 1) { // every other shows the newest
		b := w.SACKRove()
		for i := range pds.PSN(64) {
			if w.SACK(f, b)>>i&1 != 0 {
				shown[b+i] = true
			}
		}
	}
	require.Len(t, shown, w.OOO(f))
}

func TestRecvWindowAllocs(t *testing.T) {
	var w recvWindow
	f := newFar(t)
	i := pds.PSN(0)
	alloctest.Zero(t, "accept in pairs swapped", func() {
		p := i ^ 1
		if w.Classify(f, p, MaxRange) != arrivalNew {
			panic("not new")
		}
		w.Accept(f, p-w.Missing())
		w.SACK(f, w.SACKBase(p))
		i++
	})
}
