// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"strconv"

	"github.com/uetcc/uetcc/bench/fabric"
)

// traceColumns are the columns of -trace, explained in uetsim's package
// comment.
const traceColumns = "time_us,connection,src,dst,state,held_by,cwnd,max_cwnd,inflight,waiting,credit," +
	"rtt_ns,base_rtt_ns,queue_delay_ns,average_delay_ns,action\n"

// A trace writes how the congestion control of a run goes, as CSV.
type trace struct {
	*output
	filter *traceFilter
	line   []byte
}

// event is called for each event of a connection.
func (t *trace) event(s *fabric.ContextState) {
	if !t.filter.passes(s) {
		return
	}
	if t.file == nil {
		if t.open(); t.err == nil {
			_, t.err = t.buffer.WriteString(traceColumns)
		}
	}
	if t.err == nil {
		t.line = appendState(t.line[:0], s)
		_, t.err = t.buffer.Write(t.line)
	}
}

// appendState appends the line of s to b.
func appendState(b []byte, s *fabric.ContextState) []byte {
	b = strconv.AppendFloat(b, float64(s.Now)/1e6, 'f', 6, 64)
	for _, n := range []uint32{s.Conn, s.Src, s.Dst} {
		b = strconv.AppendUint(append(b, ','), uint64(n), 10)
	}
	b = append(append(append(append(b, ','), s.State.String()...), ','), s.Reason.String()...)
	w := &s.Window
	for _, n := range []int64{w.Cwnd, w.MaxWnd, w.Inflight, s.Waiting, s.Credit, w.BaseRTT + w.QDelay, w.BaseRTT, w.QDelay, w.AvgDelay} {
		b = strconv.AppendInt(append(b, ','), n, 10)
	}
	return append(append(append(b, ','), w.Action.String()...), '\n')
}
