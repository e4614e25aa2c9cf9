// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io/fs"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/cbfc"
)

// A csvRow is a row of a recorded table; fields are named by the header line.
type csvRow struct {
	t      *testing.T
	column map[string]int
	fields []string
}

// text returns the field of the given column.
func (r csvRow) text(column string) string {
	i, ok := r.column[column]
	require.True(r.t, ok, "no column %s", column)
	return r.fields[i]
}

// num returns the field of the given column as a number; an empty field is 0.
func (r csvRow) num(column string) int64 {
	s := r.text(column)
	if s == "" {
		return 0
	}
	v, err := strconv.ParseInt(s, 10, 64)
	require.NoError(r.t, err, "column %s", column)
	return v
}

// readTable reads the recorded table name, which has the given columns.
func readTable(t *testing.T, dir fs.FS, name, columns string) []csvRow {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(readRecorded(t, dir, name))).ReadAll()
	require.NoError(t, err)
	require.NotEmpty(t, lines)
	column := columnsOf(t, lines[0], columns)
	rows := make([]csvRow, len(lines)-1)
	for i := range rows {
		rows[i] = csvRow{t, column, lines[i+1]}
	}
	return rows
}

// ibNames lists the port traces, and the vectors of the send rule if the folder
// has them.
func ibNames(dir fs.FS) ([]string, error) {
	names, err := jsonNames(dir)
	if found, _ := fs.Glob(dir, "decision_vectors.csv*"); len(found) > 0 {
		names = append(names, "decision_vectors")
	}
	return names, err
}

// ibParams describe a port trace.
type ibParams struct {
	VLs       int   `json:"vls"`
	CapA      int64 `json:"cap_a"`
	CapB      int64 `json:"cap_b"`
	Threshold int   `json:"overrun_threshold"`
}

const ibColumns = "step,t_sym,node,vl,event,blocks,pkt,ok,op,p_fctbs,p_fccl," +
	"fctbs,fccl_rx,credits,abr,occupied,free,limit,overruns"

// replayIBFC replays a recorded run of InfiniBand flow control on both ends of a
// link and compares every column of every row.
func replayIBFC(t *testing.T, dir fs.FS, name string) {
	if name == "decision_vectors" {
		replayIBDecisions(t, dir)
		return
	}
	var p ibParams
	require.NoError(t, json.Unmarshal(readRecorded(t, dir, name+".json"), &p))
	ports := make(map[string]*cbfc.Port)
	for node, blocks := range map[string]int64{"A": p.CapA, "B": p.CapB} {
		buffers := make([]int64, p.VLs)
		for i := range buffers {
			buffers[i] = blocks
		}
		port, err := cbfc.NewPort(buffers, p.Threshold)
		require.NoError(t, err)
		ports[node] = port
	}
	for _, row := range readTable(t, dir, name+".csv", ibColumns) {
		port, vl := ports[row.text("node")], uint8(row.num("vl"))
		ibEvent(row, port, vl)
		ibCompare(row, port, vl)
	}
}

// ibEvent applies a row's event and compares what it returned.
func ibEvent(row csvRow, port *cbfc.Port, vl uint8) {
	t, step, now, n := row.t, row.num("step"), row.num("t_sym"), row.num("blocks")
	ok := row.num("ok") == 1
	switch event := row.text("event"); event {
	case "SEND":
		require.Equal(t, ok, port.Send(vl, n), "step %d", step)
	case "FORCE_SEND":
		port.Lane(vl).OnSend(n)
	case "RECV":
		require.Equal(t, ok, port.Receive(vl, n), "step %d", step)
	case "DRAIN":
		port.Lane(vl).Release(n)
	case "FC_TX":
		f := port.FlowControl(vl, now)
		require.Equal(t, ibPacket(row, vl), f, "step %d", step)
		var back cbfc.FlowControl
		require.NoError(t, back.Decode(f.AppendTo(nil)))
		require.Equal(t, f, back)
	case "FC_RX":
		port.OnFlowControl(ibPacket(row, vl), now)
	case "REINIT":
		if vl == 0 { // the trace has a row for each lane of the port
			port.Reinit(now)
		}
	case "PERIOD":
		require.Equal(t, ok, port.EndPeriod(), "step %d", step)
	case "WATCHDOG":
		require.Equal(t, ok, port.Alive(vl, now), "step %d", step)
	case "DATA_LOST", "FC_LOST":
	default:
		require.Fail(t, "unknown event", "step %d: %s", step, event)
	}
}

func ibPacket(row csvRow, vl uint8) cbfc.FlowControl {
	return cbfc.FlowControl{
		Init: row.num("op") != 0, VL: vl,
		FCTBS: uint16(row.num("p_fctbs")), FCCL: uint16(row.num("p_fccl")),
	}
}

// ibCompare compares the state of a lane with the row's columns.
func ibCompare(row csvRow, port *cbfc.Port, vl uint8) {
	lane := port.Lane(vl)
	want := map[string]int64{}
	for _, c := range []string{"fctbs", "abr", "occupied", "free", "limit", "overruns"} {
		want[c] = row.num(c)
	}
	got := map[string]int64{
		"fctbs": int64(lane.FCTBS), "abr": int64(lane.ABR), "occupied": lane.Occupied,
		"free": lane.Buffer - lane.Occupied, "limit": int64(lane.FCCL()), "overruns": lane.Overruns,
	}
	require.Equal(row.t, want, got, "step %d", row.num("step"))
	fccl, ok := lane.Limit, lane.Open
	require.Equal(row.t, row.text("fccl_rx") != "", ok, "step %d", row.num("step"))
	require.Equal(row.t, row.text("credits") != "", ok, "step %d", row.num("step"))
	if ok {
		require.Equal(row.t, row.num("fccl_rx"), int64(fccl), "step %d", row.num("step"))
		require.Equal(row.t, row.num("credits"), int64(lane.Credits()), "step %d", row.num("step"))
	}
}

func replayIBDecisions(t *testing.T, dir fs.FS) {
	for i, row := range readTable(t, dir, "decision_vectors.csv", "fctbs,fccl,blocks,allowed,credits") {
		var tx cbfc.Tx
		tx.OnSend(row.num("fctbs"))
		tx.OnFlowControl(uint16(row.num("fccl")))
		require.Equal(t, row.num("allowed") == 1, tx.CanSend(row.num("blocks")), "row %d", i)
		require.Equal(t, row.num("credits"), int64(tx.Credits()), "row %d", i)
	}
}

// ueParams describe a trace of UE CBFC.
type ueParams struct {
	VCs        int    `json:"vcs"`
	Limit      int64  `json:"limit"`
	PortLimit  int64  `json:"port_limit"`
	CreditSize int64  `json:"credit_size"`
	Overhead   int64  `json:"packet_overhead"`
	Start      uint32 `json:"start"`
}

const ueColumns = "step,vc,event,bytes,credits,frame,ok,payload,s_cc,s_cf,s_cu,s_cl,port_cu,port_cl,r_cc,r_cf,r_held"

// replayCBFC replays a recorded run of UE CBFC and compares every column of
// every row.
func replayCBFC(t *testing.T, dir fs.FS, name string) {
	var p ueParams
	require.NoError(t, json.Unmarshal(readRecorded(t, dir, name+".json"), &p))
	limits := make([]int64, p.VCs)
	for i := range limits {
		limits[i] = p.Limit
	}
	sender, err := cbfc.NewSender(limits, p.PortLimit)
	require.NoError(t, err)
	receivers := make([]cbfc.Receiver, p.VCs)
	cost := cbfc.Cost{CreditSize: p.CreditSize, Overhead: p.Overhead}
	require.NoError(t, cost.Validate())
	for _, row := range readTable(t, dir, name+".csv", ueColumns) {
		if vc := row.num("vc"); row.text("event") == "INIT" {
			sender.Up(int(vc), p.Start, p.Limit)
			receivers[vc].Up(p.Start)
		}
		ueEvent(row, cost, sender, &receivers[row.num("vc")])
		ueCompare(row, sender, &receivers[row.num("vc")])
	}
}

// ueEvent applies a row's event and compares what it returned.
func ueEvent(row csvRow, cost cbfc.Cost, s *cbfc.Sender, r *cbfc.Receiver) {
	t, step, vc, credits := row.t, row.num("step"), int(row.num("vc")), row.num("credits")
	if row.text("bytes") != "" {
		require.Equal(t, credits, cost.Credits(row.num("bytes")), "step %d", step)
	}
	switch event := row.text("event"); event {
	case "SEND":
		require.Equal(t, row.num("ok") == 1, s.CanSend(vc, credits), "step %d", step)
		if row.num("ok") == 1 {
			s.OnSend(vc, credits)
		}
	case "RECV":
		r.OnFrame(credits)
	case "DRAIN":
		r.OnDrain(credits)
	case "CF_TX":
		require.Equal(t, row.num("payload"), int64(r.Freed), "step %d", step)
	case "CF_RX":
		require.True(t, s.OnCFUpdate(vc, uint32(row.num("payload"))), "step %d", step)
	case "CC_TX":
		require.Equal(t, row.num("payload"), int64(s.VCs[vc].Consumed), "step %d", step)
	case "CC_RX":
		require.Equal(t, credits, r.OnCCUpdate(uint32(row.num("payload"))), "step %d", step)
	case "INIT", "DATA_LOST", "CF_LOST", "CC_LOST":
	default:
		require.Fail(t, "unknown event", "step %d: %s", step, event)
	}
}

// ueCompare compares both ends of a channel with the row's columns.
func ueCompare(row csvRow, s *cbfc.Sender, r *cbfc.Receiver) {
	v := s.VCs[row.num("vc")]
	want := map[string]int64{}
	got := map[string]int64{
		"s_cc": int64(v.Consumed), "s_cf": int64(v.Freed), "s_cu": v.InUse(), "s_cl": v.Limit,
		"port_cu": s.InUse,
		"r_cc":    int64(r.Consumed), "r_cf": int64(r.Freed), "r_held": r.Held(),
	}
	for c := range got {
		want[c] = row.num(c)
	}
	require.Equal(row.t, want, got, "step %d", row.num("step"))
}
