// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// nsccState is the state before or after a step of nscc_steps.json. Times are
// nanoseconds.
type nsccState struct {
	Cwnd     float64 `json:"cwnd"`
	Inflight int64   `json:"inflight"`
	Saved    float64 `json:"saved_cwnd"`
	Base     int64   `json:"base_rtt_ns"`
	Achieved int64   `json:"achieved_bytes"`
	Received int64   `json:"received_bytes"`
	FI       int64   `json:"fi_count"`
	Trigger  bool    `json:"trigger_qa"`
	QAEnd    float64 `json:"qa_endtime_ns"`
	Ignore   int64   `json:"bytes_to_ignore"`
	Ignored  int64   `json:"bytes_ignored"`
	Inc      float64 `json:"inc_bytes"`
	Adjust   int64   `json:"last_adjust_ns"`
	Fast     bool    `json:"increase"`
	Dec      int64   `json:"last_dec_ns"`
	MaxWnd   float64 `json:"max_wnd"`
	Avg      float64 `json:"avg_delay_ns"`
}

// nsccStep is one vector: a configuration with the constants that follow from it,
// an event, and the whole state around it.
type nsccStep struct {
	Name   string `json:"name"`
	Config struct {
		Gbps        int64    `json:"link_gbps"`
		BaseRTT     int64    `json:"config_base_rtt_ns"`
		MTU         int64    `json:"mtu"`
		Trimming    bool     `json:"trimming"`
		RCCC        bool     `json:"rccc"`
		BDP         float64  `json:"bdp"`
		A           float64  `json:"scaling_a"`
		B           float64  `json:"scaling_b"`
		Target      float64  `json:"target_qdelay_ns"`
		MaxWnd      float64  `json:"max_wnd"`
		Alpha       float64  `json:"alpha_bytes_per_ns"`
		FI          float64  `json:"fi"`
		FIScale     float64  `json:"fi_scale"`
		Eta         float64  `json:"eta"`
		Gamma       float64  `json:"gamma"`
		MaxMDJump   float64  `json:"max_md_jump"`
		QAGate      *int     `json:"qa_gate"`
		QAThreshold *float64 `json:"qa_threshold_ns"`
		AdjustBytes int64    `json:"adjust_bytes"`
		Period      int64    `json:"adjust_period_ns"`
		FastDelay   int64    `json:"fast_increase_delay_ns"`
	} `json:"config"`
	Before nsccState `json:"before"`
	After  nsccState `json:"after"`
	Event  struct {
		Kind    string   `json:"kind"`
		Now     int64    `json:"now_ns"`
		Bytes   int64    `json:"bytes"`
		ECN     bool     `json:"ecn"`
		RTT     int64    `json:"rtt_ns"` // null: none
		Pend    uint8    `json:"pend"`
		Restore bool     `json:"restore"`
		Reason  string   `json:"reason"`
		Avg     *float64 `json:"avg_delay_ns"` // what the filter says at this step
	} `json:"event"`
}

// UnmarshalJSON refuses state that no field of s has, which would not be compared.
func (s *nsccState) UnmarshalJSON(b []byte) error {
	type plain nsccState
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(s))
}

const nsccStepsFile = "nscc_steps.json"

// TestNSCCSteps applies each vector of nscc_steps.json to a window of the
// specification's profile. The vectors carry fractions of a byte; the window
// counts whole ones.
func TestNSCCSteps(t *testing.T) {
	var file struct {
		Format  int        `json:"format"`
		Vectors []nsccStep `json:"vectors"`
	}
	dir := vectorsDir()
	if found, _ := fs.Glob(dir, nsccStepsFile+"*"); len(found) == 0 {
		t.Skip("UETCC_VECTORS has no steps")
	}
	require.NoError(t, json.Unmarshal(readRecorded(t, dir, nsccStepsFile), &file))
	require.Equal(t, 1, file.Format)
	require.NotEmpty(t, file.Vectors)
	for _, v := range file.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			p := nsccStepParams(t, &v)
			before := v.Before.snapshot()
			if v.Event.Avg != nil {
				before.AvgDelay, before.LastSample = int64(*v.Event.Avg), v.Event.Now
			}
			var w nscc.Window
			w.Resume(&p, before)
			v.apply(&w, &p)
			checkNSCCState(t, &v, w.Snapshot())
		})
	}
}

// nsccStepParams builds the constants and compares each with the vector's. The
// filter forgets by the time since the last sample: where there is none, the average
// stays what the vector says it is at this step.
func nsccStepParams(t *testing.T, v *nsccStep) nscc.Params {
	c := &v.Config
	gate := 0 // the default
	if c.QAGate != nil {
		gate = cmp.Or(*c.QAGate, -1)
	}
	p, err := nscc.NewParams(nscc.Config{
		LinkRate: c.Gbps * 1e9 / 8, BaseRTT: c.BaseRTT, MTU: c.MTU, Trimming: c.Trimming, RCCC: c.RCCC,
		ForgettingFilter: true, Tuning: nscc.Tuning{QAGate: gate},
	})
	require.NoError(t, err)
	k := p.Constants()
	require.InDeltaSlice(t,
		[]float64{c.A, c.Alpha, c.FI, c.FIScale, c.Eta, c.Gamma, c.MaxMDJump},
		[]float64{k.ScalingA, k.Alpha / 1e9, k.FairIncrease, k.FastScale, k.Eta, k.Gamma, k.MaxMDJump}, 1e-9)
	require.EqualValues(t, math.Ceil(c.Target), k.TargetQdelay, "whole nanoseconds")
	require.InDelta(t, c.B, k.ScalingB, (math.Ceil(c.Target)-c.Target)/12000+1e-9)
	require.Equal(t, []int64{int64(c.BDP), int64(c.MaxWnd)}, []int64{k.BDP, k.MaxWnd}, "whole bytes")
	require.Equal(t, []int64{c.AdjustBytes, c.Period, c.FastDelay}, []int64{k.AdjustBytes, k.AdjustPeriod, k.FastDelay})
	if c.QAThreshold == nil {
		require.Greater(t, k.QAThreshold, int64(1e15))
	} else {
		require.EqualValues(t, *c.QAThreshold, k.QAThreshold)
	}
	return p
}

func (s nsccState) snapshot() nscc.Snapshot {
	return nscc.Snapshot{
		Cwnd: int64(s.Cwnd), Inflight: s.Inflight, MaxWnd: int64(s.MaxWnd), SavedCwnd: int64(s.Saved), BaseRTT: s.Base,
		AvgDelay: int64(s.Avg), AchievedBytes: s.Achieved, ReceivedBytes: s.Received, IncBytes: s.Inc,
		FastCount: s.FI, Fast: s.Fast, TriggerQA: s.Trigger, QAEnd: int64(math.Ceil(s.QAEnd)),
		BytesToIgnore: s.Ignore, BytesIgnored: s.Ignored, LastAdjust: s.Adjust, LastDecrease: s.Dec,
	}
}

func (v *nsccStep) apply(w *nscc.Window, p *nscc.Params) {
	e := &v.Event
	reason := map[string]nscc.NackReason{"trimmed": nscc.ReasonTrimmed, "trimmed_lasthop": nscc.ReasonTrimmedLastHop}
	switch e.Kind {
	case "ack":
		w.OnACK(p, e.Now, nscc.Ack{Bytes: e.Bytes, RTT: e.RTT, ECN: e.ECN, Pend: e.Pend, Restore: e.Restore})
	case "nack":
		w.OnNACK(p, e.Now, nscc.Nack{Size: e.Bytes, RTT: e.RTT, Reason: reason[e.Reason]})
	case "loss":
		w.OnInferredLoss(p, e.Bytes)
	case "send":
		w.OnSend(e.Bytes)
	default:
		panic("unknown kind " + e.Kind)
	}
}

// checkNSCCState compares all but the filter's state, which the vectors leave
// open. They ask for a byte at most; where the target is no whole number of nanoseconds,
// what ours is longer comes on top.
func checkNSCCState(t *testing.T, v *nsccStep, got nscc.Snapshot) {
	want := v.After
	want.QAEnd = math.Ceil(want.QAEnd)
	late := math.Ceil(v.Config.Target) - v.Config.Target // ns that our target is longer: mostly 0
	inc := late * v.Config.Alpha * float64(v.Event.Bytes)
	cut := late / v.Config.Target * v.Before.Cwnd
	require.InDelta(t, want.Cwnd, got.Cwnd, 1+cut+inc/v.Before.Cwnd, "cwnd")
	require.InDelta(t, want.MaxWnd, got.MaxWnd, 1, "max_wnd")
	require.InDelta(t, want.Inc, got.IncBytes, 1+inc, "inc_bytes")
	have := nsccState{
		Cwnd: want.Cwnd, MaxWnd: want.MaxWnd, Inc: want.Inc, Avg: want.Avg,
		Inflight: got.Inflight, Saved: float64(got.SavedCwnd), Base: got.BaseRTT,
		Achieved: got.AchievedBytes, Received: got.ReceivedBytes, FI: got.FastCount, Trigger: got.TriggerQA,
		QAEnd: float64(got.QAEnd), Ignore: got.BytesToIgnore, Ignored: got.BytesIgnored,
		Adjust: got.LastAdjust, Fast: got.Fast, Dec: got.LastDecrease,
	}
	require.Equal(t, want, have)
}
