// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/switchq"
)

// kernelCounts is what a queue of the kernel says of itself.
type kernelCounts struct {
	marks, drops int64
	mean         int64 // backlog that a packet found, bytes; 0: not known
}

// A kernelQueue makes the port of a lab a link of so many bits a second with a queue that
// marks, and returns how to read its counters.
type kernelQueue func(t *testing.T, l *lab, bits int64) func() kernelCounts

// never is a backlog that no queue reaches.
const never = 1 << 30

// byBacklog marks from the true backlog of a token bucket filter, by the law of RED.
func byBacklog(kmin, kmax int32) kernelQueue {
	return func(t *testing.T, l *lab, bits int64) func() kernelCounts {
		l.tc(t, fmt.Sprintf("qdisc add root tbf rate %dbit burst 9100 limit 1000000", bits))
		m := l.mark(t, kmin, kmax)
		return func() kernelCounts {
			c, err := m.counts()
			require.NoError(t, err)
			return kernelCounts{int64(c.Marks), l.queue(t, "tbf").Drops, int64(c.BacklogSum / max(c.Packets, 1))}
		}
	}
}

// byDiscipline leaves marking to a queueing discipline of the kernel, behind a shaper.
func byDiscipline(kind, parameters string) kernelQueue {
	return func(t *testing.T, l *lab, bits int64) func() kernelCounts {
		l.tc(t, "qdisc add root handle 1: htb default 10")
		l.tc(t, fmt.Sprintf("class add parent 1: classid 1:10 htb rate %dbit ceil %dbit burst 9100 cburst 9100 quantum 9100", bits, bits))
		l.tc(t, fmt.Sprintf("qdisc add parent 1:10 %s %s", kind, parameters))
		return func() kernelCounts {
			q := l.queue(t, kind)
			return kernelCounts{marks: q.Marked + q.CEMark, drops: q.Drops}
		}
	}
}

// kernelQueues are all that a kernel may have. RED averages over no more than some packets,
// and CoDel's own law of control stays out of the way.
var kernelQueues = map[string]kernelQueue{
	"backlog": byBacklog(10_000, 40_000),
	"red":     byDiscipline("red", "limit 1000000 min 10000 max 40000 avpkt 4200 burst 3 bandwidth 200mbit probability 1.0 ecn"),
	"codel":   byDiscipline("codel", "limit 1000 target 5s ce_threshold 1ms"),
}

// runKernel has senders write through a queue of the kernel. The round trip is 2.4 ms, and
// its product with the rate 14 packets.
func runKernel(t *testing.T, q kernelQueue, args ...string) (*result, kernelCounts) {
	o, err := parseOptions(args, io.Discard)
	require.NoError(t, err)
	l := newLab(t, o.senders)
	counts := q(t, l, int64(o.rate))
	wire := relayConfig{rate: 1 << 40, delay: int64(time.Millisecond), queue: switchq.Config{PlaneBDP: 1 << 30, NoECN: true}}
	n, err := o.newNetwork(&wire, l.sites(o.six))
	require.NoError(t, err)
	defer n.close()
	w := n.loop()
	w.steady = false // the kernel's queue does not wait for this process
	require.NoError(t, w.run(func(int64) bool { return finished(false, n.senders) && n.relay.idle() }))
	r, c := &result{senders: n.senders, target: n.target, relay: n.relay}, counts()
	require.Empty(t, r.doubts())
	t.Logf("%d packets, %d marked, backlog %d bytes on average, %d dropped", r.target.packets, c.marks, c.mean, c.drops)
	return r, c
}

// What the kernel marks is what the target receives with a mark and what the source hears
// of, with IPv4 and IPv6, and everything arrives.
func TestKernelMarks(t *testing.T) {
	for name, q := range kernelQueues {
		for _, six := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/IPv6 %v", name, six), func(t *testing.T) {
				r, c := runKernel(t, q, fmt.Sprint("-6=", six), "-bytes", "8388608")
				requireWhole(t, r, 8<<20)
				require.Positive(t, c.marks)
				require.Equal(t, c.marks, r.target.marked)
				require.Positive(t, r.senders[0].snapshot().Marked)
				require.Zero(t, c.drops)
			})
		}
	}
}

// Four senders may have less under way where the queue marks than where it does not. All of it
// waits there, or in this process while that waits for its turn.
func TestKernelMarksBoundTheWindows(t *testing.T) {
	args := []string{"-senders", "4", "-bytes", "4194304", "-cwnd", "20000"}
	windows := func(marks kernelQueue) (sum int64, c kernelCounts) {
		r, c := runKernel(t, marks, args...)
		requireWhole(t, r, 4<<20)
		require.Zero(t, c.drops)
		require.Equal(t, c.marks, r.target.marked)
		for _, s := range r.senders {
			sum += s.meanWindow()
		}
		t.Logf("windows of %d bytes in all", sum)
		return sum, c
	}
	marked, c := windows(byBacklog(10_000, 40_000))
	silent, none := windows(byBacklog(never, never+1))
	require.Positive(t, c.marks)
	require.Zero(t, none.marks)
	require.Less(t, marked, silent)
}
