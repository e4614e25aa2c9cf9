// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/pcc"
)

// csvNames lists the traces of a folder that holds nothing but NAME.csv or
// NAME.csv.gz.
func csvNames(dir fs.FS) ([]string, error) { return namesWith(dir, ".csv") }

// TestZTRLineEnds: a trace may end its lines as the other kinds do, and have empty ones.
func TestZTRLineEnds(t *testing.T) {
	text := readRecorded(t, os.DirFS("testdata/traces/ztr"), "edges.csv")
	text = append(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), "\r\n\r\n"...)
	replayZTR(t, fstest.MapFS{"edges.csv": {Data: text}}, "edges")
}

// replayZTR replays a recorded run of the public sample algorithm and compares
// every column of every row. Besides rows, a file has lines that choose the mode
// (#M), set the parameters (#P) and forget all flows (#R).
func replayZTR(t *testing.T, dir fs.FS, name string) {
	var p pcc.TemplateParams
	var counters pcc.TemplateCounters
	flows := map[int64]*pcc.Template{}
	var column map[string]int
	for i, line := range strings.Split(string(readRecorded(t, dir, name+".csv")), "\n") {
		line = strings.TrimSpace(line)
		fields := strings.Split(line, ",")
		switch {
		case line == "":
		case fields[0] == "#M":
			require.Contains(t, []string{"rtt", "owd"}, fields[1])
			p.OneWay = fields[1] == "owd"
		case fields[0] == "#P":
			p = ztrParams(t, fields[1:], p.OneWay)
		case fields[0] == "#R":
			clear(flows)
			counters = pcc.TemplateCounters{}
		case slices.Contains(fields, "n"):
			column = columnsOf(t, fields, ztrInputs+","+ztrOutputs)
		default:
			require.Len(t, fields, len(column), "line %d", i+1)
			row := csvRow{t, column, fields}
			flow := flows[row.num("flow")]
			if flow == nil {
				flow = new(pcc.Template)
				flows[row.num("flow")] = flow
			}
			e := ztrEvent(row)
			d := flow.OnEvent(&p, &e, &counters)
			require.Equal(t, ztrWant(row), ztrGot(flow, d, counters), "line %d: %s", i+1, line)
		}
	}
	require.NotEmpty(t, flows)
}

// ztrParams reads a #P line. The recorded sets include ones that a validated
// constructor refuses.
func ztrParams(t *testing.T, fields []string, oneWay bool) pcc.TemplateParams {
	var v [6]uint32
	for i := range v {
		n, err := strconv.ParseUint(fields[i], 10, 32)
		require.NoError(t, err)
		v[i] = uint32(n)
	}
	return pcc.TemplateParams{
		UpdateFactor: v[0], AI: pcc.Rate(v[1]), Threshold: v[2],
		NewFlowRate: pcc.Rate(v[3]), MinRate: pcc.Rate(v[4]), MaxDelay: v[5], OneWay: oneWay,
	}
}

func ztrEvent(row csvRow) pcc.Event {
	return pcc.Event{
		Type: pcc.EventType(row.num("ev")), Subtype: uint8(row.num("sub")), Flags: uint8(row.num("flags")),
		Utilisation: uint32(row.num("util")), Time: uint32(row.num("ts")),
		Stamps: pcc.Stamps{
			ReqSend: uint32(row.num("req_send")), ReqRecv: uint32(row.num("req_recv")), RespSend: uint32(row.num("resp_send")),
		},
	}
}

// The columns that the algorithm is given, and those that it determines, in the file's order.
const (
	ztrInputs  = "n,flow,ev,sub,flags,util,ts,req_send,req_recv,resp_send"
	ztrOutputs = "rate,req,rtt,min_rtt,sent_at,nack,cnp,backoff,in_flight,wait,tx_count,rtt_count"
)

func ztrWant(row csvRow) (want [12]int64) {
	for i, c := range strings.Split(ztrOutputs, ",") {
		want[i] = row.num(c)
	}
	return want
}

func ztrGot(f *pcc.Template, d pcc.Decision, n pcc.TemplateCounters) [12]int64 {
	bit := map[bool]int64{true: 1}
	return [12]int64{
		int64(d.Rate), bit[d.Probe], int64(f.RTT), int64(f.MinRTT), int64(f.SentAt), bit[f.Nack], bit[f.CNP],
		int64(f.Backoff), bit[f.InFlight], int64(f.Wait), int64(n.TX), int64(n.RTT),
	}
}
