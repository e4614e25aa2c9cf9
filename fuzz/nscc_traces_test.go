// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

func init() {
	traceKinds = append(traceKinds, traceKind{name: "nscc", replay: replayNSCC})
}

// nsccTrace is NAME.json of a recorded window: the simulator's parameters. Times
// are picoseconds.
type nsccTrace struct {
	MTU         int64 `json:"mtu"`
	LinkBits    int64 `json:"linkspeed_bps"`
	BaseRTT     int64 `json:"network_rtt_ps"`
	Target      int64 `json:"target_qdelay_ps"`
	QAThreshold int64 `json:"qa_threshold_ps"`
	QAGate      int   `json:"qa_gate"`
	QADisabled  bool  `json:"qa_disabled"`
	AdjustBytes int64 `json:"adjust_bytes"`
	Period      int64 `json:"adjust_period_ps"`
	RCCC        bool  `json:"rccc"`
	IncBits     int   `json:"inc_bytes_bits"`

	Gamma     float64 `json:"gamma"`
	MaxMDJump float64 `json:"max_md_jump"`

	Header     int64   `json:"hdr"`
	MinCwnd    int64   `json:"min_cwnd"`
	DelayAlpha float64 `json:"delay_alpha"`

	Flows map[string]struct {
		BaseRTT int64 `json:"base_rtt_ps"`
		MaxWnd  int64 `json:"max_wnd"`
		Cwnd    int64 `json:"cwnd"`
	} `json:"flows"`

	// Derived by the simulator; ours must be the same to the last bit.
	BDP      int64   `json:"network_bdp"`
	ScalingA float64 `json:"scaling_a"`
	ScalingB float64 `json:"scaling_b"`
	Alpha    float64 `json:"alpha"`
	FI       float64 `json:"fi"`
	FIScale  float64 `json:"fi_scale"`
	Eta      float64 `json:"eta"`
}

// config is the configuration of the flows that start with a window of cwnd.
func (d *nsccTrace) config(cwnd int64) nscc.Config {
	c := nscc.Config{
		LinkRate: d.LinkBits / 8, BaseRTT: d.BaseRTT, MTU: d.MTU, RCCC: d.RCCC,
		InitialCwnd: cwnd, Profile: nscc.ProfileHTSim, Picoseconds: true,
		Tuning: nscc.Tuning{
			TargetQdelay: d.Target, QAThreshold: d.QAThreshold, QAGate: d.QAGate, NoQuickAdapt: d.QADisabled,
			AdjustBytes: d.AdjustBytes, AdjustPeriod: d.Period, Gamma: d.Gamma, MaxMDJump: d.MaxMDJump,
		},
	}
	if d.QAGate == 0 {
		c.Tuning.QAGate = -1
	}
	if d.IncBits == 64 {
		c.Profile = nscc.ProfileHTSimWide
	}
	return c
}

// nsccColumns are the columns of a row in the order of nsccFlow.row.
var nsccColumns = []string{"flow", "ev", "t_ps", "bytes", "ecn", "last_hop", "rtt_kind", "rtt_ps", "delay_ps",
	"inflight_before", "inflight_fix", "inflight_after", "base_rtt_ps", "max_wnd", "avg_delay_ps",
	"achieved_bytes", "received_bytes", "inc_bytes", "fi_count", "increase", "trigger_qa", "qa_endtime_ps",
	"bytes_to_ignore", "bytes_ignored", "last_adjust_ps", "last_dec_ps", "action", "fulfilled",
	"cwnd_before", "cwnd_after"}

// replayNSCC feeds the events of a trace to windows of the htsim profile and
// compares every state column of every row.
func replayNSCC(t *testing.T, dir fs.FS, name string) {
	var d nsccTrace
	require.NoError(t, json.Unmarshal(readRecorded(t, dir, name+".json"), &d))
	require.Equal(t, []any{int64(64), d.MTU, 0.0125}, []any{d.Header, d.MinCwnd, d.DelayAlpha}, "what the profile takes as given")
	r := csv.NewReader(bytes.NewReader(readRecorded(t, dir, name+".csv")))
	rows, err := r.ReadAll()
	require.NoError(t, err)
	column := columnsOf(t, rows[0], strings.Join(nsccColumns, ","))
	require.NotEmpty(t, rows[1:])
	flows := map[string]*nsccFlow{}
	row := make([]string, len(nsccColumns))
	for i, recorded := range rows[1:] {
		for c, name := range nsccColumns {
			row[c] = recorded[column[name]]
		}
		f := flows[row[0]]
		if f == nil {
			f = newNSCCFlow(t, &d, row[0])
			flows[row[0]] = f
		}
		got := f.row(t, row)
		for c := range row {
			if got[c] != row[c] {
				require.Failf(t, "first difference", "row %d, column %s: got %s, recorded %s\n%v", i+2, nsccColumns[c], got[c], row[c], row)
			}
		}
	}
	require.Len(t, flows, len(d.Flows))
}

// nsccFlow is one recorded flow and the window that follows it.
type nsccFlow struct {
	w nscc.Window
	p nscc.Params
}

func newNSCCFlow(t *testing.T, d *nsccTrace, id string) *nsccFlow {
	start, ok := d.Flows[id]
	require.True(t, ok, "flow %s is not in the description", id)
	c := d.config(0)
	if start.Cwnd != start.MaxWnd {
		c = d.config(start.Cwnd)
	}
	p, err := nscc.NewParams(c)
	require.NoError(t, err)
	k := p.Constants()
	require.Equal(t, d.BDP, k.BDP)
	require.Equal(t, []float64{d.ScalingA, d.ScalingB, d.FI, d.FIScale, d.Eta},
		[]float64{k.ScalingA, k.ScalingB, k.FairIncrease, k.FastScale, k.Eta})
	require.InEpsilon(t, d.Alpha*1e12, k.Alpha, 1e-15)
	f := &nsccFlow{p: p}
	f.w.Init(&f.p, 0, start.BaseRTT)
	return f
}

// nsccLetters are the actions as the traces name them.
var nsccLetters = map[nscc.Action]string{
	nscc.ActionNone: "-", nscc.ActionProportional: "P", nscc.ActionFair: "F", nscc.ActionHold: "H", nscc.ActionConsidered: "m",
	nscc.ActionDecrease: "M", nscc.ActionFast: "X", nscc.ActionQuickAdapt: "Q", nscc.ActionIgnore: "I", nscc.ActionReduce: "D",
}

// row applies the event of a recorded row and returns the row that we would have
// written.
func (f *nsccFlow) row(t *testing.T, in []string) []string {
	num := func(column int) int64 {
		v, err := strconv.ParseInt(in[column], 10, 64)
		require.NoError(t, err, nsccColumns[column])
		return v
	}
	before := f.w.Snapshot()
	f.apply(t, in, num)
	after := f.w.Snapshot()
	action, fulfilled, delay := nsccLetters[after.Action], after.Fulfilled, int64(0)
	switch in[1] {
	case "ack":
		delay = after.QDelay
	case "init", "send", "rtx": // no verdict: what the window shows is the event before
		action, fulfilled = "-", false
	}
	bit := map[bool]int64{true: 1}
	out := append([]string{}, in[:8]...)
	for _, v := range []int64{delay, before.Inflight, num(10), after.Inflight, after.BaseRTT, after.MaxWnd, after.AvgDelay,
		after.AchievedBytes, after.ReceivedBytes, int64(after.IncBytes), after.FastCount, bit[after.Fast], bit[after.TriggerQA],
		after.QAEnd, after.BytesToIgnore, after.BytesIgnored, after.LastAdjust, after.LastDecrease} {
		out = append(out, fmt.Sprint(v))
	}
	return append(out, action, fmt.Sprint(bit[fulfilled]), fmt.Sprint(before.Cwnd), fmt.Sprint(after.Cwnd))
}

// apply feeds one recorded event to the window.
func (f *nsccFlow) apply(t *testing.T, in []string, num func(int) int64) {
	now, size := num(2), num(3)
	switch in[1] {
	case "init":
	case "send", "rtx":
		f.w.OnSend(size)
	case "loss":
		f.w.OnInferredLoss(&f.p, size)
	case "sleek":
		f.w.OnNACK(&f.p, now, nscc.Nack{Size: size})
	case "nack":
		n := nscc.Nack{Size: size, Reason: nscc.ReasonTrimmed}
		if in[6] == "S" {
			n.RTT = num(7)
		}
		if in[5] == "1" {
			n.Reason = nscc.ReasonTrimmedLastHop
		}
		f.w.OnNACK(&f.p, now, n)
	case "ack":
		if fix := num(10); fix != 0 {
			f.w.OnUnmark(fix)
		}
		kind, ok := map[string]nscc.SampleKind{"S": nscc.SampleNormal, "R": nscc.SampleKeepBase, "P": nscc.SampleProbe, "N": nscc.SampleNormal}[in[6]]
		require.True(t, ok, "rtt_kind %q", in[6])
		a := nscc.Ack{Bytes: size, RTT: num(7), ECN: in[4] == "1", Kind: kind}
		if in[6] == "N" {
			a.RTT = 0
		}
		f.w.OnACK(&f.p, now, a)
	default:
		require.Failf(t, "unknown event", "%q", in[1])
	}
}
