// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/uetpcap"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// runRelay runs the command's default, both ends and the bottleneck.
func runRelay(t *testing.T, args ...string) *result {
	o, err := parseOptions(args, io.Discard)
	require.NoError(t, err)
	r, _, err := o.runSelf(&report{out: io.Discard}, func(int64) bool { return false })
	require.NoError(t, err)
	require.Empty(t, r.doubts())
	t.Logf("%v: queue %d bytes on average, at most %d; %+v", args, r.relay.meanQueue(), r.relay.queue.Counters().PeakLow,
		r.relay.queue.Counters())
	return r
}

// requireWhole checks that each sender's bytes are all in the target's memory.
func requireWhole(t *testing.T, r *result, total int64) {
	t.Helper()
	for i, s := range r.senders {
		require.NoError(t, s.failed)
		require.Equal(t, total, s.delivered)
		size := len(s.memory)
		require.True(t, bytes.Equal(s.memory, r.target.memory[i*size:][:size]), "what was written by sender %d", i)
	}
	require.GreaterOrEqual(t, r.target.total(), int64(len(r.senders))*total)
}

// What the queue marks is what the target receives with a mark and what the source hears of,
// with IPv4 and IPv6; everything arrives, and nothing is sent twice that was not lost.
func TestRelayMarks(t *testing.T) {
	for _, family := range []string{"-6=false", "-6=true"} {
		t.Run(family, func(t *testing.T) {
			r := runRelay(t, family, "-bytes", "8388608")
			requireWhole(t, r, 8<<20)
			c := r.relay.queue.Counters()
			require.Positive(t, c.Marked)
			require.Equal(t, c.Marked, r.target.marked)
			require.Positive(t, r.senders[0].snapshot().Marked)
			require.Zero(t, c.Dropped)
		})
	}
}

// The window of one sender ends at 1.5 bandwidth-delay products, and the marks keep it below.
func TestRelayQueueIsBounded(t *testing.T) {
	o, n := newRelayNetwork(t, "-cc", "none")
	bdp := o.relay().queue.PlaneBDP
	require.NoError(t, n.loop().run(func(int64) bool { return n.relay.queue.Counters().Dropped > 0 }))
	require.Greater(t, n.relay.queue.Counters().PeakLow, 4*bdp, "without congestion control all that there is")

	r := runRelay(t, "-bytes", "8388608")
	require.Less(t, r.relay.queue.Counters().PeakLow, 2*bdp)
	require.Less(t, r.relay.meanQueue(), bdp)
}

// Four senders keep a shorter queue where it marks than where it does not.
func TestRelayMarksBoundTheQueue(t *testing.T) {
	args := []string{"-senders", "4", "-bytes", "4194304", "-limit", "1000000", "-cwnd", "20000"}
	marked := runRelay(t, args...)
	silent := runRelay(t, append(args, "-kmin", "900000", "-kmax", "1000000")...)
	for _, r := range []*result{marked, silent} {
		requireWhole(t, r, 4<<20)
		require.Zero(t, r.relay.queue.Counters().Dropped)
	}
	require.Zero(t, silent.target.marked)
	require.Less(t, float64(marked.relay.meanQueue()), 0.9*float64(silent.relay.meanQueue()))
}

// Four senders that never end share the bottleneck, whoever admits: the window or the
// receiver. Two windows need not become equal: where the queue marks all and stays below the
// target delay, each of them holds what it has.
func TestRelayIncastIsFair(t *testing.T) {
	for _, cc := range []string{"nscc", "rccc", "both"} {
		t.Run(cc, func(t *testing.T) {
			o, n := newRelayNetwork(t, "-cc", cc, "-senders", "4", "-cwnd", "20000")
			total := int64(o.senders) * 4 << 20
			require.NoError(t, n.loop().run(func(int64) bool { return n.target.total() >= total }))
			requireFair(t, n.target, o.senders)
		})
	}
}

// newRelayNetwork has senders that never end.
func newRelayNetwork(t *testing.T, args ...string) (*options, *network) {
	t.Helper()
	o, err := parseOptions(append(args, "-seconds", "1e6"), io.Discard)
	require.NoError(t, err)
	config := o.relay()
	n, err := o.newNetwork(&config, loopback(false))
	require.NoError(t, err)
	t.Cleanup(n.close)
	return o, n
}

// requireFair checks Jain's index of what the senders have brought, and that none starves.
func requireFair(t *testing.T, target *host, senders int) {
	t.Helper()
	require.Len(t, target.placed, senders)
	var sum, squares float64
	least := math.Inf(1)
	for _, n := range target.placed {
		v := float64(n)
		sum, squares, least = sum+v, squares+v*v, min(least, v)
	}
	jain := sum * sum / squares / float64(senders)
	t.Logf("Jain's index %.3f, the least has %.2f of its share", jain, least*float64(senders)/sum)
	require.Greater(t, jain, 0.75)
	require.Greater(t, least*float64(senders)/sum, 0.4)
}

// Packets that the bottleneck drops are sent again.
func TestRelayLoss(t *testing.T) {
	r := runRelay(t, "-bytes", "8388608", "-kmin", "59000", "-kmax", "60000", "-limit", "60000")
	requireWhole(t, r, 8<<20)
	dropped := r.relay.queue.Counters().Dropped
	require.Positive(t, dropped)
	require.GreaterOrEqual(t, r.senders[0].PDS().Stats().Resent, uint64(dropped))
}

// A relay with equal seed and equal inputs marks the same packets.
func TestRelayRepeats(t *testing.T) {
	marks := func() (at []int) {
		config := relayConfig{rate: 1e6, queue: switchq.Config{PlaneBDP: 50_000}, seed: 7}
		r, err := newRelay(&config)
		require.NoError(t, err)
		p := port.Packet{Data: make([]byte, 1000), TOS: pds.TOS(0, pds.ECNECT0)}
		for i := range 200 {
			id := r.keep(&p, 0, int64(i)*1e5)
			_, _ = r.queue.Enqueue(&r.params, switchq.Packet{ID: id, Size: 1048}, r.random)
			r.serve(int64(i) * 1e5)
		}
		for i, id := range r.forward.ids {
			if r.slots[id].tos&uint8(pds.ECNCE) == uint8(pds.ECNCE) {
				at = append(at, i)
			}
		}
		return at
	}
	require.NotEmpty(t, marks())
	require.Equal(t, marks(), marks())
}

// Answers that have waited while the process did something else are no time-outs, however many
// they are.
func TestHostReadsAllBeforeItTimesOut(t *testing.T) {
	o, err := parseOptions(strings.Fields("-rate 1e9 -rtt 4ms -bytes 1000000"), io.Discard)
	require.NoError(t, err)
	config := o.host()
	target, err := newHost(&config, netip.MustParseAddrPort("127.0.4.4:0"), make([]byte, int64(o.depth)*o.message))
	require.NoError(t, err)
	defer target.close()
	require.NoError(t, target.open())
	config.port = target.Local().Port()
	s, err := o.newSender(&config, netip.MustParseAddrPort("127.0.4.3:0"), target.Local().Addr(), 0)
	require.NoError(t, err)
	defer s.close()
	target.peers = s.Local().Port()

	now := int64(0)
	for ; target.packets < 4*batch; now += 1000 {
		require.NoError(t, s.step(0))
		require.NoError(t, target.step(now))
	}
	for now = 1e9; !s.done(); now += 1000 {
		require.NoError(t, s.step(now))
		require.NoError(t, target.step(now))
	}
	require.NoError(t, s.failed)
	require.Zero(t, s.PDS().Stats().RTOs)
}

// The base round trip is that of a full packet, though a small one has measured it, and nobody
// is asked for an answer that cannot have come yet.
func TestRelaySlowLink(t *testing.T) {
	r := runRelay(t, "-delay", "0", "-rate", "1e7", "-bytes", "524288", "-message", "131072")
	requireWhole(t, r, 1<<19)
	s := r.senders[0]
	require.GreaterOrEqual(t, s.snapshot().BaseRTT, pds.NominalSize(udpLen+4096)*8*100, "a packet at 10 Mb/s")
	require.Less(t, s.PDS().Stats().Controls, s.PDS().Stats().Sent/10)
}

// A packet costs no garbage on its way through both ends and the relay.
func TestSteadyStateAllocs(t *testing.T) {
	_, n := newRelayNetwork(t, "-senders", "2")
	l := n.loop()
	var before, after runtime.MemStats
	require.NoError(t, l.run(func(int64) bool { return n.target.total() > 4<<20 }))
	packets := n.target.packets
	runtime.ReadMemStats(&before)
	require.NoError(t, l.run(func(int64) bool { return n.target.total() > 8<<20 }))
	runtime.ReadMemStats(&after)
	packets = n.target.packets - packets
	t.Logf("%d packets, %d allocations", packets, after.Mallocs-before.Mallocs)
	require.Less(t, after.Mallocs-before.Mallocs, uint64(packets)/10)
}

func TestRunPrintsAReport(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"-bytes", "2097152", "-senders", "2"}, &out, &errs), errs.String())
	require.Empty(t, errs.String())
	for _, want := range []string{"Mb/s", "marked", "p99", "cwnd", "resent", "retries", "bottleneck: 200.0 Mb/s", "target: ", "127.0.3.2"} {
		require.Contains(t, out.String(), want)
	}
}

func TestHistogramQuantiles(t *testing.T) {
	var h histogram
	require.Zero(t, h.quantile(0.5))
	for v := range int64(100_000) {
		h.add(v)
	}
	for _, q := range []float64{0, 0.5, 0.99} {
		require.InEpsilon(t, q*1e5+1, h.quantile(q)+1, 0.04)
	}
	for _, v := range []int64{0, 1, 63, 64, 65, 1 << 20, math.MaxInt64} {
		require.LessOrEqual(t, start(bucket(v)), v)
		require.Less(t, bucket(v), len(h.counts))
	}
	one := histogram{}
	one.add(2_300_000)
	require.Equal(t, one.min, one.quantile(0.99), "no quantile is below the least")
	h.add(-5)
	require.Zero(t, h.min)
}

// A capture has the packets that the target has seen, marks and all, and what it has sent.
func TestCapture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "target.pcap")
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"-bytes", "2097152", "-pcap", file}, &out, &errs), errs.String())
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	var lines bytes.Buffer
	n, err := uetpcap.Print(&lines, f, &frame.Parser{})
	require.NoError(t, err)
	require.Zero(t, n.Illegal+n.Malformed+n.Fragments)
	require.Equal(t, n.All, n.UET)
	for text, least := range map[string]int{"> 127.0.1.2 ": 512, "127.0.1.2 > ": 512, " CE ": 1} {
		require.GreaterOrEqual(t, strings.Count(lines.String(), text), least, text)
	}
}

// Programs read lines: what has moved in each interval, each sender with the reasons of its waiting, the queue, the target, the sum.
func TestSelfInLinesOfJSON(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run(strings.Fields("-i 0.05 -json -senders 2 -bytes 2097152"), &out, &errs), errs.String())
	count, moved := map[string]int{}, int64(0)
	var last senderReport
	for line := range strings.Lines(out.String()) {
		last = senderReport{}
		require.NoError(t, json.Unmarshal([]byte(line), &last), line)
		count[last.Event]++
		switch last.Event {
		case "interval":
			moved += last.Bytes
		case "flow":
			require.EqualValues(t, 2<<20, last.Bytes)
			require.Positive(t, last.RTTMin)
			require.Positive(t, last.Held["window"])
			require.LessOrEqual(t, last.Held["window"], 1e6*last.Seconds)
		}
	}
	require.Positive(t, moved)
	require.LessOrEqual(t, moved, int64(4<<20))
	require.Positive(t, count["interval"])
	delete(count, "interval")
	require.Equal(t, map[string]int{"flow": 2, "bottleneck": 1, "target": 1, "summary": 1}, count)
	require.Equal(t, "summary", last.Event)
	require.EqualValues(t, 4<<20, last.Bytes)
}
