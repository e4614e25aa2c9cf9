// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/fabric"
)

// A qlogRecord is an event as viewers read it.
type qlogRecord struct {
	Time  float64 `json:"time"` // ms
	Group string  `json:"group_id"`
	Name  string  `json:"name"`
	Data  struct {
		Header struct {
			Type   string `json:"packet_type"`
			Number int64  `json:"packet_number"`
		} `json:"header"`
		Raw struct {
			Length int64 `json:"length"`
		} `json:"raw"`
		Frames []struct {
			Type   string    `json:"frame_type"`
			Ranges [][]int64 `json:"acked_ranges"`
		} `json:"frames"`
		Window   int64   `json:"congestion_window"`
		Inflight int64   `json:"bytes_in_flight"`
		Least    float64 `json:"min_rtt"`
		Latest   float64 `json:"latest_rtt"`
	} `json:"data"`
}

// smallIncast writes a matrix of seven transfers to one host, and returns its name.
func smallIncast(t *testing.T, dir string) string {
	t.Helper()
	text := "Nodes 16\nConnections 7\n"
	for i := 1; i <= 7; i++ {
		text += fmt.Sprintf("%d->0 id %d start 0 size %d\n", 2*i, i, 100_000*i)
	}
	file := filepath.Join(dir, "small.cm")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// watchedRun is the result of a run of an incast, and the files that it left.
func watchedRun(t *testing.T, node string) (res *fabric.Result, qlog, perfetto []byte) {
	t.Helper()
	dir := t.TempDir()
	matrix := smallIncast(t, dir)
	status, out, errs := uetsim("-json", "-matrix", matrix, "-cc", "none,nscc", "-node", node, "-qlog", filepath.Join(dir, "q.sqlog"),
		"-perfetto", filepath.Join(dir, "p.json"))
	require.Zero(t, status, errs)
	var r report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	qlog, err := os.ReadFile(filepath.Join(dir, "q.sqlog"))
	require.NoError(t, err)
	perfetto, err = os.ReadFile(filepath.Join(dir, "p.json"))
	require.NoError(t, err)
	return r.Runs[1].Result, qlog, perfetto
}

// A qlog is a sequence of JSON texts in order of time, a group for each flow: what was sent adds up
// to the result, each packet is acknowledged, and the last metrics have nothing in flight.
func TestQlog(t *testing.T) {
	for _, node := range []string{"endpoint", "light"} {
		res, file, _ := watchedRun(t, node)
		texts := strings.Split(string(file), "\x1e")
		require.Empty(t, texts[0])
		var head struct {
			Version string `json:"qlog_version"`
			Format  string `json:"qlog_format"`
		}
		require.NoError(t, json.Unmarshal([]byte(texts[1]), &head))
		require.Equal(t, "0.3 JSON-SEQ", head.Version+" "+head.Format)
		sent, lost, last := int64(0), int64(0), 0.0
		acked, final := map[string]map[int64]bool{}, map[string]qlogRecord{}
		for _, text := range texts[2:] {
			require.True(t, strings.HasSuffix(text, "\n"))
			var r qlogRecord
			require.NoError(t, json.Unmarshal([]byte(text), &r), text)
			require.GreaterOrEqual(t, r.Time, last)
			last = r.Time
			if acked[r.Group] == nil {
				acked[r.Group] = map[int64]bool{}
			}
			switch r.Name {
			case "transport:packet_sent":
				sent++
				require.Equal(t, "1RTT", r.Data.Header.Type)
				require.Positive(t, r.Data.Raw.Length)
			case "recovery:packet_lost":
				lost++
			case "transport:packet_received":
				for _, x := range r.Data.Frames[0].Ranges {
					for n := x[0]; n <= x[1]; n++ {
						acked[r.Group][n] = true
					}
				}
			case "recovery:metrics_updated":
				require.LessOrEqual(t, r.Data.Least, r.Data.Latest)
				final[r.Group] = r
			default:
				require.Fail(t, r.Name)
			}
		}
		require.Equal(t, res.Totals.New+res.Totals.Retransmitted, sent)
		require.GreaterOrEqual(t, lost, res.Totals.Retransmitted)
		require.Positive(t, lost)
		require.Len(t, acked, len(res.Transfers))
		packets := int64(0)
		for _, x := range acked {
			packets += int64(len(x))
		}
		require.Equal(t, res.Totals.New, packets)
		for _, x := range res.Transfers {
			require.InDelta(t, 0, final[flowName(x.Src, x.Dst)].Data.Inflight, 255, "what comes back is counted in 256 bytes")
			require.LessOrEqual(t, x.Finished, last*1000+1e-6)
		}
	}
}

// The file of -perfetto is one JSON object: its counters come to the peaks of the result, slices
// of time that a flow was held back last as long as the result says, and transfers as they did.
func TestPerfetto(t *testing.T) {
	for _, node := range []string{"endpoint", "light"} {
		res, _, file := watchedRun(t, node)
		var all struct {
			Events []struct {
				Kind string         `json:"ph"`
				Name string         `json:"name"`
				PID  int64          `json:"pid"`
				TID  int64          `json:"tid"`
				Time float64        `json:"ts"` // us
				ID   int64          `json:"id"`
				Args map[string]any `json:"args"`
			} `json:"traceEvents"`
		}
		require.NoError(t, json.Unmarshal(file, &all))
		type track struct {
			pid  int64
			name string
		}
		process, peak, since, held, transfer := map[int64]string{}, map[string]int64{}, map[track]float64{}, map[string]float64{}, map[int64]float64{}
		trims := int64(0)
		for _, e := range all.Events {
			switch e.Kind {
			case "M":
				if e.Name == "process_name" {
					process[e.PID] = e.Args["name"].(string)
				}
			case "C":
				if e.Name == "waiting" {
					peak[process[e.PID]] = max(peak[process[e.PID]], int64(e.Args["bytes"].(float64)))
				}
			case "B":
				_, open := since[track{e.PID, ""}]
				require.False(t, open, "one reason at a time")
				since[track{e.PID, ""}], since[track{e.PID, e.Name}] = e.Time, e.Time
			case "E":
				held[process[e.PID]+" "+e.Name] += e.Time - since[track{e.PID, e.Name}]
				delete(since, track{e.PID, ""})
			case "i":
				if e.Name == "trimmed" {
					trims++
				}
			case "b":
				transfer[e.ID] = -e.Time
			case "e":
				transfer[e.ID] += e.Time
			}
		}
		for k := range since {
			require.NotEmpty(t, k.name, "slices end")
		}
		require.Equal(t, res.Totals.HeadersDelivered, trims)
		for _, q := range res.Queues {
			require.Equal(t, q.Peak, peak[q.Name], q.Name)
		}
		for i, x := range res.Transfers {
			require.InDelta(t, x.FCT, transfer[int64(i)], 1e-6)
			if node == "light" { // endpoints tell of a flow when something has arrived for it
				require.InDelta(t, x.Held["window"], held["flow "+flowName(x.Src, x.Dst)+" window"], 1)
			}
		}
	}
}
