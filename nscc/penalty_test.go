// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// chapterFabric is that of the UET congestion chapters: 100 Gb/s, 6.0 us.
func chapterFabric(shareOnly bool) nscc.Config {
	return nscc.Config{LinkRate: 100 * gbps, BaseRTT: 6_000, MTU: 4_096, Trimming: true, PenaltyShareOnly: shareOnly}
}

// UET congestion chapters, figure 6-14, number for number: (A) 16,384 - 12,288, (B) 4,096 x 64 >> 7,
// (C) 75,776 - 2,048, and the suspension that follows. The figure's 75,776 bytes in flight are
// those left when the acknowledged 4,096 are not counted any more.
func ExampleWindow_OnACK_destinationFlowControl() {
	p, _ := nscc.NewParams(nscc.Config{LinkRate: 100e9 / 8, BaseRTT: 6_000, MTU: 4_096, Trimming: true})
	var w nscc.Window
	w.Resume(&p, nscc.Snapshot{Cwnd: 75_776, Inflight: 79_872, MaxWnd: 112_500, BaseRTT: 6_000})

	var rcvd nscc.RcvdTracker
	rcvd.Advance(12_288 / 256)
	n := rcvd.Advance(16_384 / 256)
	fmt.Println("newly received:", n)
	fmt.Println("times 64:", n*64, "shifted by 7:", n*64>>7)

	w.OnACK(&p, 0, nscc.Ack{Bytes: n, Pend: 64})
	fmt.Println("window:", w.Cwnd(), "penalty:", 75_776-w.Cwnd())
	fmt.Println("in flight above it:", w.Inflight()-w.Cwnd(), "may send:", w.CanSend(&p, 4_096))

	// The destination asks for nothing more and lets the window return.
	w.OnACK(&p, 0, nscc.Ack{Bytes: 8_192, Restore: true})
	fmt.Println("restored:", w.Cwnd(), "may send:", w.CanSend(&p, 4_096))

	// Output:
	// newly received: 4096
	// times 64: 262144 shifted by 7: 2048
	// window: 73728 penalty: 2048
	// in flight above it: 2048 may send: false
	// restored: 75776 may send: true
}

// UET congestion chapters: sending stays suspended until in flight has drained to the new window; in
// the specification's rule one MTU has to fit.
func TestPenaltySuspendsUntilDrained(t *testing.T) {
	p := must(t, chapterFabric(false))
	var w nscc.Window
	w.Resume(p, nscc.Snapshot{Cwnd: 75_776, Inflight: 79_872, MaxWnd: 112_500, BaseRTT: 6_000})
	w.OnACK(p, 0, nscc.Ack{Bytes: 4_096, Pend: 64})
	require.EqualValues(t, []int64{73_728, 75_776}, []int64{w.Cwnd(), w.Inflight()})
	sent := int64(75_776)
	for !w.CanSend(p, 4_096) {
		sent -= 256
		w.OnACK(p, 0, nscc.Ack{Bytes: 256})
	}
	require.EqualValues(t, 73_728-4_096, w.Inflight())
	require.Equal(t, sent, w.Inflight())
}

// One penalised round trip of a full window, in both readings of the penalty.
func TestPenaltyRoundTrip(t *testing.T) {
	for _, tc := range []struct {
		rule  bool // PenaltyShareOnly
		pend  uint8
		first []int64
		last  int64
	}{
		{false, 64, []int64{69_632, 65_536, 61_440}, 4_096},
		{true, 64, []int64{73_728, 71_680, 69_632}, 36_864}, // "halves the window"
		{true, 127, []int64{71_712, 67_648, 63_584}, 4_096}, // "one packet a round trip"
	} {
		t.Run(fmt.Sprintf("share-only %v %d", tc.rule, tc.pend), func(t *testing.T) {
			p := must(t, chapterFabric(tc.rule))
			var w nscc.Window
			w.Resume(p, nscc.Snapshot{Cwnd: 75_776, Inflight: 75_776, MaxWnd: 112_500, BaseRTT: 6_000})
			var got []int64
			for w.Inflight() >= 4_096 {
				w.OnACK(p, 0, nscc.Ack{Bytes: 4_096, Pend: tc.pend})
				got = append(got, w.Cwnd())
			}
			if len(got) < 19 { // 75,776 = 18.5 packets; 19 acknowledgements in all
				w.OnACK(p, 0, nscc.Ack{Bytes: 4_096, Pend: tc.pend})
				got = append(got, w.Cwnd())
			}
			require.Len(t, got, 19)
			require.Equal(t, tc.first, got[:3])
			require.Equal(t, tc.last, got[18])
		})
	}
}

func TestPenaltySavesOnceAndRestores(t *testing.T) {
	p := must(t, chapterFabric(true))
	var w nscc.Window
	w.Resume(p, nscc.Snapshot{Cwnd: 75_776, Inflight: 75_776, MaxWnd: 112_500, BaseRTT: 6_000})
	w.OnACK(p, 0, nscc.Ack{Bytes: 4_096, Restore: true})
	require.EqualValues(t, 75_776, w.Cwnd(), "nothing was saved")
	w.OnACK(p, 0, nscc.Ack{Bytes: 4_096, Pend: 64, Restore: true})
	require.EqualValues(t, 73_728, w.Cwnd(), "a penalty is stronger than the restore flag")
	w.OnACK(p, 0, nscc.Ack{Bytes: 4_096, Pend: 64})
	w.OnACK(p, 0, nscc.Ack{Bytes: 4_096})
	require.EqualValues(t, 71_680, w.Cwnd(), "the end of the penalty alone restores nothing")
	w.OnACK(p, 0, nscc.Ack{Bytes: 4_096, Restore: true})
	require.EqualValues(t, 75_776, w.Cwnd())
	w.OnNACK(p, 0, nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmed})
	w.OnACK(p, 0, nscc.Ack{Bytes: 4_096, Restore: true})
	require.Less(t, w.Cwnd(), int64(75_776), "restored once")
}

// Pitfall: the saved window may be from before the ceiling came down.
func TestPenaltyRestoreIsClamped(t *testing.T) {
	p := must(t, chapterFabric(false))
	var w nscc.Window
	w.Init(p, 0, 0)
	w.OnSend(112_500)
	w.OnACK(p, 0, nscc.Ack{Bytes: 4_096, Pend: 127})
	w.SampleBase(p, 3_000)
	w.OnACK(p, 0, nscc.Ack{Bytes: 4_096, Restore: true})
	require.EqualValues(t, 56_250, w.Cwnd())
}

// The field has seven bits.
func TestPenaltyIgnoresEighthBit(t *testing.T) {
	p, w := started(t, chapterFabric(true))
	w.OnACK(p, 0, nscc.Ack{Bytes: 4_096, Pend: 0x80})
	require.EqualValues(t, 112_500, w.Cwnd())
	require.Zero(t, w.Snapshot().SavedCwnd)
}
