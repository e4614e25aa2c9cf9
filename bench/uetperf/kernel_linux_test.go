package main

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/switchq"
)

// A kernelRun is what came of senders that met at a queue of the kernel.
type kernelRun struct {
	*result
	queue queueCounts
	marks markerCounts
}

// mean is the backlog that a packet found, bytes.
func (k *kernelRun) mean() uint64 { return k.marks.BacklogSum / max(k.marks.Packets, 1) }

// never is a mark that no backlog reaches.
const never = 1 << 30

// runKernel has senders write through a link of 200 Mb/s, whose queue of a megabyte marks
// between kmin and kmax. The round trip is 2.4 ms, and its product with the rate 14 packets.
func runKernel(t *testing.T, kmin, kmax int32, args ...string) *kernelRun {
	o, err := parseOptions(args, io.Discard)
	require.NoError(t, err)
	o.rtt = o.idle()
	l := newLab(t, o.senders)
	l.shape(t, int64(o.rate), 1e6)
	m := l.mark(t, kmin, kmax)
	wire := relayConfig{rate: 1 << 40, delay: int64(time.Millisecond), queue: switchq.Config{PlaneBDP: 1 << 30, NoECN: true}}
	n, err := o.newNetwork(&wire, l.sites(o.six))
	require.NoError(t, err)
	defer n.close()
	require.NoError(t, newLoop(n.parties()...).run(func(int64) bool { return finished(false, n.senders) && n.relay.idle() }))
	k := &kernelRun{result: &result{senders: n.senders, target: n.target, relay: n.relay}, queue: l.queue(t)}
	k.marks, err = m.counts()
	require.NoError(t, err)
	require.Empty(t, k.doubts())
	t.Logf("%d packets, %d marked, backlog %d bytes on average, at most %d, %d dropped", k.marks.Packets, k.marks.Marks, k.mean(),
		k.marks.BacklogMax, k.queue.Drops)
	return k
}

// What the kernel marks is what the target receives with a mark and what the source hears
// of, with IPv4 and IPv6, and everything arrives.
func TestKernelMarks(t *testing.T) {
	for _, family := range []string{"-6=false", "-6=true"} {
		t.Run(family, func(t *testing.T) {
			k := runKernel(t, 10_000, 40_000, family, "-bytes", "8388608")
			requireWhole(t, k.result, 8<<20)
			require.Positive(t, k.marks.Marks)
			require.EqualValues(t, k.marks.Marks, k.target.marked)
			require.Positive(t, k.senders[0].snapshot().Marked)
			require.Zero(t, k.queue.Drops)
		})
	}
}

// Four senders keep a shorter queue where it marks than where it does not.
func TestKernelMarksBoundTheQueue(t *testing.T) {
	args := []string{"-senders", "4", "-bytes", "4194304", "-cwnd", "20000"}
	marked, silent := runKernel(t, 10_000, 40_000, args...), runKernel(t, never, never+1, args...)
	for _, k := range []*kernelRun{marked, silent} {
		requireWhole(t, k.result, 4<<20)
		require.Zero(t, k.queue.Drops)
	}
	require.Zero(t, silent.target.marked)
	require.Less(t, float64(marked.mean()), 0.9*float64(silent.mean()))
}
