// SPDX-License-Identifier: Apache-2.0

package goal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/goal"
	"github.com/uetcc/uetcc/internal/agenda"
)

// A wire is a network without congestion: a message of n bytes arrives after latency + n ns, and
// its source knows it a latency later.
type wire struct {
	*goal.Machine
	latency int64
	now     int64
	due     agenda.Agenda[func()]
	sent    []int64 // times of sends
}

func (w *wire) Compute(op uint32, ns int64) {
	w.due.Push(w.now+ns, func() { w.Computed(w.now, op) })
}

func (w *wire) Send(op uint32) {
	w.sent = append(w.sent, w.now)
	arrival := w.now + w.latency + w.Op(op).Size
	w.due.Push(arrival, func() { w.Delivered(w.now, op) })
	w.due.Push(arrival+w.latency, func() { w.Acknowledged(w.now, op) })
}

func (w *wire) run() {
	w.Start(0)
	for w.due.Len() > 0 {
		at, do := w.due.Pop()
		w.now = at
		do()
	}
}

func onWire(t testing.TB, text string, eager int64) *wire {
	t.Helper()
	s, err := goal.ParseText("x.goal", strings.NewReader(text))
	require.NoError(t, err)
	w := &wire{latency: 1000}
	w.Machine = goal.NewMachine(s, eager, w)
	w.run()
	return w
}

// ranks makes the text of a schedule of ranks.
func ranks(r ...string) string {
	b := fmt.Sprintf("num_ranks %d\n", len(r))
	for i, ops := range r {
		b += fmt.Sprintf("rank %d {\n%s\n}\n", i, ops)
	}
	return b
}

// Each rule of execution on a network where a message of 10 bytes is received after 1,010 ns and
// acknowledged after 2,010.
func TestMachineRules(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		eager int64
		ends  []int64
	}{
		{"a calc of 0 takes no time", ranks("a: calc 0\nb: calc 0\nb requires a"), -1, []int64{0}},
		{"a CPU does one thing at a time", ranks("calc 5\ncalc 6\ncalc 7 cpu 1"), -1, []int64{11}},
		{"a calc keeps a send of its CPU waiting", ranks("calc 500\nsend 10b to 1", "recv 10b from 0"), -1, []int64{2510, 1510}},
		{"but none of another CPU", ranks("calc 500\nsend 10b to 1 cpu 1", "recv 10b from 0"), -1, []int64{2010, 1010}},
		{"a send takes its CPU no time", ranks("send 10b to 1\ncalc 9000", "recv 10b from 0"), -1, []int64{9000, 1010}},
		{"a CPU takes first what was ready first", ranks("a: calc 100\nb: calc 10 cpu 1\nc: send 10b to 1\nc requires b\nd: calc 20 cpu 1\nd requires b\ne: calc 100\ne requires d",
			"recv 10b from 0"), -1, []int64{2110, 1110}},
		{"a recv ends when its CPU is free", ranks("send 10b to 1", "recv 10b from 0\ncalc 5000"), -1, []int64{5000, 5000}},
		{"and at once on another one", ranks("send 10b to 1", "recv 10b from 0 cpu 1\ncalc 5000"), -1, []int64{2010, 5000}},
		{"a send ends with its recv", ranks("a: send 10b to 1\nb: calc 1\nb requires a", "a: calc 5000\nb: recv 10b from 0\nb requires a"), -1, []int64{5001, 5000}},
		{"unless it is eager", ranks("a: send 10b to 1\nb: calc 1\nb requires a", "a: calc 5000\nb: recv 10b from 0\nb requires a"), 10, []int64{2011, 5000}},
		{"a larger one is not", ranks("a: send 11b to 1\nb: calc 1\nb requires a", "a: calc 5000\nb: recv 11b from 0\nb requires a"), 10, []int64{5001, 5000}},
		{"a calc has begun when it has its CPU", ranks("calc 50\na: calc 7\nb: send 10b to 1 cpu 1\nb irequires a", "recv 10b from 0"), -1, []int64{2060, 1060}},
		{"a recv has begun when it is posted", ranks("a: recv 1b from 1\nb: calc 7\nb irequires a", "a: calc 900\nb: send 1b to 0\nb requires a"), -1, []int64{1901, 2901}},
		{"sizes of the two sides may differ", ranks("send 10b to 1", "recv 999b from 0"), -1, []int64{2010, 1010}},
		{"any source and tag", ranks("send 10b to 1 tag 7", "a: recv 1b from -1 tag -1\nb: calc 1\nb requires a"), -1, []int64{2010, 1011}},
		{"a tag is not another one", ranks("a: send 10b to 1 tag 1\nsend 20b to 1 tag 2", "a: recv 1b from 0 tag 2\nb: calc 500\nb requires a\nrecv 1b from 0 tag 1"), -1, []int64{2020, 1520}},
		{"a message to oneself is there at once", ranks("a: send 10b to 0 tag 7\nb: recv 10b from 0 tag 7\nc: calc 5\nc requires a\nc requires b"), -1, []int64{5}},
		{"the first label counts", ranks("a: calc 4\na: calc 9\nb: calc 3\nb requires a"), -1, []int64{16}},
	} {
		w := onWire(t, c.text, c.eager)
		for r, want := range c.ends {
			require.Equal(t, want, w.End(r), "%s: rank %d", c.name, r)
		}
		require.True(t, w.Done(), c.name)
	}
}

// Messages of one pair and tag are received in the order in which they were sent though a
// later one, which is smaller, is there before.
func TestMachineKeepsOrder(t *testing.T) {
	for _, recv := range []string{"from 0 tag 3", "from 0 tag -1", "from -1 tag 3", "from -1 tag -1"} {
		w := onWire(t, ranks("send 5000b to 1 tag 3\nsend 1b to 1 tag 3",
			"a: recv 5000b "+recv+"\nb: calc 100\nb requires a\nc: recv 1b "+recv+"\nd: calc 10000\nd requires c"), -1)
		require.EqualValues(t, 6000+100+10000, w.End(1), recv)
		require.True(t, w.Done())
	}
}

// A receive from anybody takes what is there first, and leaves the rest to the others.
func TestMachineWildcards(t *testing.T) {
	w := onWire(t, ranks("a: recv 1b from -1 tag 1\nb: calc 5\nb requires a\nrecv 1b from 1 tag 1", "send 500b to 0 tag 1", "send 1b to 0 tag 1"), -1)
	require.EqualValues(t, 1500, w.End(0))
	require.True(t, w.Done())
}

// What cannot end is left, and says why.
func TestMachineLeft(t *testing.T) {
	w := onWire(t, ranks("a: send 10b to 1\nb: calc 1\nb requires a", "recv 10b from 0 tag 1\ncalc 3"), -1)
	var left []string
	w.Left(func(rank int, op uint32, why string) bool {
		left = append(left, fmt.Sprint(rank, op, " ", why))
		return true
	})
	require.Equal(t, []string{"0 0 has no recv", "0 1 waits for another operation", "1 0 has no message"}, left)
	require.False(t, w.Done())
	require.Equal(t, 1, w.Ended())
}

// As many messages to oneself as there are do not take the machine's stack.
func TestMachineLongChains(t *testing.T) {
	s := &goal.Schedule{Ranks: make([]goal.Rank, 1)}
	r := &s.Ranks[0]
	for range 50_000 {
		n := uint32(len(r.Ops))
		send, recv := r.Send(0, 1, 0), r.Recv(0, 1, 0)
		if n > 0 {
			r.Require(send, n-1)
			r.Require(recv, n-1)
		}
	}
	require.NoError(t, s.Check())
	w := &wire{}
	w.Machine = goal.NewMachine(s, -1, w)
	w.run()
	require.True(t, w.Done())
}

// Whatever a schedule says, each operation ends or is left, once.
func FuzzMachine(f *testing.F) {
	f.Add(ranks("a: send 10b to 1\nb: calc 1\nb requires a", "recv 10b from 0 tag 1\ncalc 3"), int64(-1))
	f.Add(ranks("a: recv 1b from -1 tag -1 cpu 1\nb: calc 5\nb irequires a", "send 500b to 0 tag 1\nsend 1b to 0 tag 2", "a: send 0b to 2\nrecv 9b from -1"), int64(1<<20))
	f.Add(ranks("a: recv 1b from 1 tag -1\nb: recv 1b from -1 tag 4\nb requires a", "a: send 500b to 0 tag 4\nb: send 1b to 0 tag -1\nb irequires a"), int64(0))
	f.Fuzz(func(t *testing.T, text string, eager int64) {
		s, err := goal.ParseText("x", strings.NewReader(text))
		if err != nil || len(text) > 4096 {
			return
		}
		w := &wire{latency: 10}
		w.Machine = goal.NewMachine(s, eager, w)
		w.run()
		all := s.Count(goal.KindSend) + s.Count(goal.KindRecv) + s.Count(goal.KindCalc)
		left := 0
		w.Left(func(rank int, op uint32, why string) bool {
			left++
			return true
		})
		if w.Ended()+left != all || w.Done() != (left == 0) {
			t.Fatalf("%d of %d ended, %d are left", w.Ended(), all, left)
		}
	})
}
