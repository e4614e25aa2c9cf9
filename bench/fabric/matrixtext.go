// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"strconv"
)

// AppendMatrix appends m in the form of [ParseMatrix].
func AppendMatrix(b []byte, m *Matrix) []byte {
	b = fmt.Appendf(b, "Nodes %d\nConnections %d\n", m.Nodes, len(m.Flows))
	if len(m.Triggers) > 0 {
		b = fmt.Appendf(b, "Triggers %d\n", len(m.Triggers))
	}
	if len(m.Failures) > 0 {
		b = fmt.Appendf(b, "Failures %d\n", len(m.Failures))
	}
	for i := range m.Flows {
		b = m.Flows[i].appendText(b)
	}
	for _, t := range m.Triggers {
		b = fmt.Appendf(b, "trigger id %d %v", t.ID, t.Kind)
		if t.Kind == TriggerBarrier {
			b = fmt.Appendf(b, " count %d", t.Count)
		}
		b = append(b, '\n')
	}
	for _, f := range m.Failures {
		b = fmt.Appendf(b, "failure switch_type %s switch_id %d link_id %d\n", tierWords[f.Tier], f.Switch, f.Link)
	}
	return b
}

func (f *Flow) appendText(b []byte) []byte {
	b = fmt.Appendf(b, "%d->%d", f.Src, f.Dst)
	if f.ID != 0 {
		b = fmt.Appendf(b, " id %d", f.ID)
	}
	if f.Message {
		b = append(b, " msg"...)
	}
	if f.Trigger != 0 {
		b = fmt.Appendf(b, " trigger %d", f.Trigger)
	} else {
		b = append(b, " start "...)
		b = strconv.AppendFloat(b, us(int64(f.Start)), 'f', -1, 64)
	}
	b = fmt.Appendf(b, " size %d", f.Size)
	if f.SendDone != 0 {
		b = fmt.Appendf(b, " send_done_trigger %d", f.SendDone)
	}
	if f.RecvDone != 0 {
		b = fmt.Appendf(b, " recv_done_trigger %d", f.RecvDone)
	}
	return append(b, '\n')
}
