// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/json"
	"io/fs"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/rccc"
)

// sliceRun is the description of a run of the time-slice model.
type sliceRun struct {
	Rate    int64 `json:"rate_bytes_per_s"`
	Slice   int64 `json:"slice_ns"`
	Initial int64 `json:"initial_credit_bytes"`
	Carry   bool  `json:"carry_remainder"`
	Grants  int   `json:"total_grants"`
	Last    int64 `json:"last_slice"`
	Rows    int   `json:"rows_total"`
	Flows   []struct {
		Flow int64 `json:"flow"`
		CCC  uint8 `json:"ccc_id"`
		Size int64 `json:"size"`
		Join int64 `json:"join_slice"`
	} `json:"flows"`
}

// sliceRow is one line of a slice trace.
type sliceRow struct {
	slice, t, flow, ccc, active, bytes, cum, before, after int64
	event                                                  string
}

// replaySlices runs the model from its description and compares every line that
// the trace kept; long runs kept a part.
func replaySlices(t *testing.T, dir fs.FS, name string) {
	var run sliceRun
	require.NoError(t, json.Unmarshal(readRecorded(t, dir, name+".json"), &run))
	sub, err := fs.Sub(dir, path.Dir(name))
	require.NoError(t, err)
	tb := openRecording(t, sub, path.Base(name)+".csv", sliceColumns)
	got := runSlices(t, &run)
	require.Len(t, got, run.Rows)
	require.Equal(t, run.Last, got[len(got)-1].slice)
	next := 0
	for i := range tb.rows {
		want := sliceRow{
			tb.number(i, "slice"), tb.number(i, "t_ns"), tb.number(i, "flow"), tb.number(i, "ccc_id"), tb.number(i, "n_active"),
			tb.number(i, "bytes"), tb.number(i, "cum_bytes"), tb.number(i, "backlog_before"),
			tb.number(i, "backlog_after"), tb.text(i, "event"),
		}
		for next < len(got) && (got[next].slice != want.slice || got[next].flow != want.flow) {
			next++
		}
		require.Less(t, next, len(got), "line %d: no such decision", i+2)
		require.Equal(t, want, got[next], "line %d", i+2)
	}
}

// runSlices runs the receiver and one source for each flow.
func runSlices(t *testing.T, run *sliceRun) []sliceRow {
	policy, err := rccc.NewSlicePolicy(rccc.SliceConfig{Slice: run.Slice, Carry: run.Carry})
	require.NoError(t, err)
	const window = 1 << 29
	r, err := rccc.NewReceiver(rccc.ReceiverConfig{
		Senders: len(run.Flows), Rate: run.Rate, Utilisation: 1, MaxCredit: window, Policy: policy,
	})
	require.NoError(t, err)
	p, err := rccc.NewParams(rccc.Config{
		MaxCredit: window, InitialCredit: run.Initial, CountInitial: true, MTU: 4150, RTT: run.Slice,
	})
	require.NoError(t, err)

	var rows []sliceRow
	backlog := make([]int64, len(run.Flows))
	sources := make([]rccc.Source, len(run.Flows))
	flowOf := map[rccc.Handle]int{}
	for now := int64(0); len(rows) < run.Rows; now += run.Slice {
		active := int64(r.Senders().Len(rccc.ListActive))
		for g, ok := r.Poll(now); ok; g, ok = r.Poll(now) {
			f := flowOf[g.Sender]
			require.Equal(t, g.Bytes, sources[f].OnCreditUpdate(&p, g.Cum))
			sources[f].OnSend(g.Bytes)
			backlog[f] -= g.Bytes
			rows = append(rows, sliceRow{now / run.Slice, now, run.Flows[f].Flow, int64(run.Flows[f].CCC), active, g.Bytes, g.Cum,
				backlog[f] + g.Bytes, backlog[f], "GRANT"})
		}
		for f, flow := range run.Flows {
			if flow.Join*run.Slice != now {
				continue
			}
			sources[f].Init(&p)
			sent := min(flow.Size, run.Initial)
			sources[f].OnSend(sent)
			backlog[f] = flow.Size - sent
			rows = append(rows, sliceRow{flow.Join, now, flow.Flow, int64(flow.CCC), 0, sent, run.Initial, flow.Size, backlog[f], "INITIAL"})
			h, err := r.Add(now, 1, run.Initial)
			require.NoError(t, err)
			flowOf[h] = f
			require.True(t, r.OnArrival(h, now, rccc.ArrivalData, run.Initial+backlog[f]))
		}
	}
	due, awake := r.Deadline()
	if awake {
		_, more := r.Poll(due)
		require.False(t, more, "grants after the last one recorded")
	}
	return rows
}
