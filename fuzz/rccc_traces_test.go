// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/rccc"
)

// rcccNames lists the traces of receiver credits: a folder with a params.json is
// one, and each NAME.json of the folder slice_model.
func rcccNames(dir fs.FS) ([]string, error) {
	folders, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range folders {
		if !f.IsDir() {
			continue
		}
		sub, err := fs.Sub(dir, f.Name())
		if err != nil {
			return nil, err
		}
		inside, err := jsonNames(sub)
		if err != nil {
			return nil, err
		}
		for _, name := range inside {
			if name != "params" {
				names = append(names, path.Join(f.Name(), name))
			} else {
				names = append(names, f.Name())
			}
		}
	}
	return names, nil
}

// rcccFiles are the files of a run of the simulator.
var rcccFiles = []string{"params.json", "src.csv", "rcv.csv", "os.csv"}

// The columns of these files.
const (
	sourceColumns   = "t_ps,src,dst,flow,event,bytes,credit,pull_q,target_q,backlog,rtx_backlog,inflight,spec,nic_active,rx_cum_q,cwnd"
	receiverColumns = "t_ps,rcv,src,flow,event,grant_q,cum_q,target_q,n_active,n_idle,n_idle_entries,tpq_ps,wait_ps,size,ecn,lasthop,dup,lost"
	fabricColumns   = "t_ps,rcv,packets,ecn,trim_lasthop,trim_other,g,inc_count,rate"
	sliceColumns    = "slice,t_ns,flow,ccc_id,event,n_active,bytes,cum_bytes,backlog_before,backlog_after"
)

// replayRCCC compares the recorded run of the simulator or of the time-slice
// model with ours.
func replayRCCC(t *testing.T, dir fs.FS, name string) {
	if strings.Contains(name, "/") {
		replaySlices(t, dir, name)
		return
	}
	sub, err := fs.Sub(dir, name)
	require.NoError(t, err)
	var run rcccRun
	require.NoError(t, json.Unmarshal(readRecorded(t, sub, "params.json"), &run))
	t.Run("source", func(t *testing.T) { replaySources(t, &run, openRecording(t, sub, "src.csv", sourceColumns)) })
	t.Run("receiver", func(t *testing.T) { replayReceivers(t, sub, &run, openRecording(t, sub, "rcv.csv", receiverColumns)) })
}

// rcccRun is what params.json says.
type rcccRun struct {
	LinkGbps       float64 `json:"link_gbps"`
	BaseRTT        float64 `json:"base_rtt_us"`
	MaxWindow      int64   `json:"max_window_bytes"`
	Grant          int64   `json:"grant_quanta"`
	PullRateFactor float64 `json:"pull_rate_factor"`
	Quantum        int64   `json:"time_per_quantum_ps"`
	MTU            int64   `json:"mtu"`
	IdleList       string  `json:"idle_list"`
	Oversubscribed *struct {
		Target   float64 `json:"target_congestion"`
		Increase float64 `json:"ai"`
		Decrease float64 `json:"md"`
		Gain     float64 `json:"alpha"`
		MinRate  float64 `json:"min_rate"`
	} `json:"oversubscribed"`
}

// recording is a recorded CSV file.
type recording struct {
	t       *testing.T
	name    string
	columns map[string]int
	rows    [][]string
}

func openRecording(t *testing.T, dir fs.FS, name, columns string) *recording {
	rows, err := csv.NewReader(bytes.NewReader(readRecorded(t, dir, name))).ReadAll()
	require.NoError(t, err)
	require.Greater(t, len(rows), 1)
	return &recording{t: t, name: name, columns: columnsOf(t, rows[0], columns), rows: rows[1:]}
}

// text returns the field of column c in row i.
func (tb *recording) text(i int, c string) string {
	n, ok := tb.columns[c]
	require.True(tb.t, ok, "%s has no column %s", tb.name, c)
	return tb.rows[i][n]
}

// number returns a whole number; an empty field is 0.
func (tb *recording) number(i int, c string) int64 {
	s := tb.text(i, c)
	if s == "" {
		return 0
	}
	v, err := strconv.ParseInt(s, 0, 64)
	require.NoError(tb.t, err, "%s line %d column %s", tb.name, i+2, c)
	return v
}

// real returns a number with a fraction.
func (tb *recording) real(i int, c string) float64 {
	v, err := strconv.ParseFloat(tb.text(i, c), 64)
	require.NoError(tb.t, err, "%s line %d column %s", tb.name, i+2, c)
	return v
}

// equal fails the test unless the field of column c in row i is got.
func (tb *recording) equal(i int, c string, got int64) {
	if want := tb.number(i, c); want != got {
		require.Failf(tb.t, "trace differs", "%s line %d: %s is %d, recorded %d\n%s",
			tb.name, i+2, c, got, want, strings.Join(tb.rows[i], ","))
	}
}

// replaySources drives one Source for each flow by the recorded events.
func replaySources(t *testing.T, run *rcccRun, tb *recording) {
	p, err := rccc.NewParams(rccc.Config{MaxCredit: run.MaxWindow, MTU: run.MTU, RTT: int64(run.BaseRTT * 1000)})
	require.NoError(t, err)
	sources := map[int64]*rcccSource{}
	for i := range tb.rows {
		flow := tb.number(i, "flow")
		if sources[flow] == nil {
			sources[flow] = new(rcccSource)
		}
		if !causedByNext(tb, i) {
			sources[flow].replay(tb, i, &p)
		}
	}
}

// rcccSource replays one flow of src.csv.
type rcccSource struct {
	rccc.Source
	target int64 // computed last, quanta
}

// causedByNext reports whether row i announces the end of the startup that the
// event of the next row brings about.
func causedByNext(tb *recording, i int) bool {
	if tb.text(i, "event") != "STOPSPEC" || i+1 == len(tb.rows) ||
		tb.text(i, "t_ps") != tb.text(i+1, "t_ps") || tb.text(i, "flow") != tb.text(i+1, "flow") {
		return false
	}
	switch tb.text(i+1, "event") {
	case "CREDIT", "STALE":
		return true
	}
	return false
}

func (s *rcccSource) replay(tb *recording, i int, p *rccc.Params) {
	size := tb.number(i, "bytes")
	switch event := tb.text(i, "event"); event {
	case "START":
		s.Init(p)
	case "SEND", "SEND_SPEC", "SEND_RTX":
		require.True(tb.t, s.CanSend(), "line %d: sent without credit", i+2)
		s.OnSend(size)
		s.target = s.Target(p, rccc.Demand{
			Backlog: tb.number(i, "backlog"), Rtx: tb.number(i, "rtx_backlog"),
			Cwnd: tb.number(i, "cwnd"), Contexts: tb.number(i, "nic_active"),
		}) / rccc.QuantumBytes
	case "STOPSPEC": // an ACK, which has no row of its own
		s.OnACK()
	case "CREDIT":
		tb.equal(i, "bytes", s.OnCreditUpdate(p, received(tb, i, &s.Source)))
	case "STALE":
		require.Zero(tb.t, s.OnCreditUpdate(p, received(tb, i, &s.Source)), "line %d", i+2)
	case "NACK", "NACK_LH": // these rows come before their effect
		defer s.OnLoss()
	case "RTO": // it ends the simulator's startup only where another packet waits to be sent again
		if tb.number(i, "rtx_backlog") > 0 {
			defer s.OnLoss()
		}
	case "RTX_CANCEL", "CONT", "RTS":
	default:
		require.Failf(tb.t, "unknown event", "line %d: %s", i+2, event)
	}
	startup := int64(0)
	if s.Startup() {
		startup = 1
	}
	tb.equal(i, "spec", startup)
	tb.equal(i, "credit", s.Credit())
	tb.equal(i, "pull_q", s.Cum()/rccc.QuantumBytes)
	tb.equal(i, "target_q", s.target)
}

// received is the credit of a message, through the wire's 24 bits.
func received(tb *recording, i int, s *rccc.Source) int64 {
	return rccc.QuantaOf(tb.number(i, "rx_cum_q") * rccc.QuantumBytes).Extend(s.Cum())
}
