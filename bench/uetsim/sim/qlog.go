// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/nscc"
)

// qlogHead begins a file of -qlog: JSON text sequences (RFC 7464) of qlog 0.3
// (draft-ietf-quic-qlog-main-schema-03), whose events have group_ids. Viewers such as qvis show each
// group as a connection.
const qlogHead = "\x1e" + `{"qlog_version":"0.3","qlog_format":"JSON-SEQ","title":"uetsim","trace":{"vantage_point":{"name":"sources","type":"client"},` +
	`"common_fields":{"time_format":"relative","reference_time":0,"protocol_type":["UET"]}}}` + "\n"

// psPerMillisecond is for the unit of time of qlog.
const psPerMillisecond = 1e9

// A qlog writes the packets and states of the sources of flows, under the names of
// draft-ietf-quic-qlog-quic-events-02.
type qlog struct {
	streamed
	flows map[pdcKey]*qlogFlow
	last  map[flowKey]nscc.Snapshot
}

// A pdcKey is a delivery context of a flow, whose packets have numbers of their own.
type pdcKey struct {
	flowKey
	pdc uint16
}

// A qlogFlow is the record of a flow of packets.
type qlogFlow struct {
	first   uint32              // PSN, which has number 0 here
	next    uint32              // PSN before which all is acknowledged
	answers int64               // that have come
	refused map[uint32]struct{} // PSNs that are known as lost
}

func newQlog(f *output) *qlog {
	return &qlog{streamed: streamed{output: f}, flows: map[pdcKey]*qlogFlow{}, last: map[flowKey]nscc.Snapshot{}}
}

// Port implements [fabric.Watcher].
func (q *qlog) Port(*fabric.PortState) {}

// Packet implements [fabric.Watcher].
func (q *qlog) Packet(p *fabric.PacketState) {
	to := p.Dst
	if p.From == p.Dst {
		to = p.Src
	}
	if p.Kind == fabric.PacketControl || (p.Event == fabric.PacketSent) != (p.Kind == fabric.PacketData) || p.Event == fabric.PacketLost {
		return
	}
	k := pdcKey{flowKey{p.Conn, p.From}, p.PDC}
	f := q.flows[k]
	if f == nil {
		f = &qlogFlow{first: p.PSN, next: p.PSN, refused: map[uint32]struct{}{}}
		q.flows[k] = f
	}
	group := flowName(int(p.From), int(to))
	switch p.Kind {
	case fabric.PacketData:
		q.data(p, f, group)
	case fabric.PacketAck:
		q.ack(p, f, group)
	default:
		f.refused[p.PSN] = struct{}{}
		q.lost(p, f, group, `,"trigger":"trimmed"`)
	}
}

// event begins an event.
func (q *qlog) event(p *fabric.PacketState, group, name string) *streamed {
	q.begin(qlogHead)
	return q.add("\x1e{\"time\":").time(p.Now, psPerMillisecond).add(`,"group_id":`).name(group).add(`,"name":`).name(name).add(`,"data":{`)
}

// data is a packet sent; a packet sent again was lost before.
func (q *qlog) data(p *fabric.PacketState, f *qlogFlow, group string) {
	if _, known := f.refused[p.PSN]; p.Retx && !known {
		q.lost(p, f, group, "")
	}
	delete(f.refused, p.PSN)
	q.event(p, group, "transport:packet_sent").add(`"header":{"packet_type":"1RTT","packet_number":`).int(int64(p.PSN - f.first)).
		add(`},"raw":{"length":`).int(p.Size).add(`,"payload_length":`).int(p.Payload).add("}}}\n").end()
}

// lost is a packet the source knows or takes as lost.
func (q *qlog) lost(p *fabric.PacketState, f *qlogFlow, group, trigger string) {
	q.event(p, group, "recovery:packet_lost").add(`"header":{"packet_type":"1RTT","packet_number":`).int(int64(p.PSN - f.first)).add("}").
		add(trigger).add("}}\n").end()
}

// ack is an acknowledgement received: the news is all packets before Next, or a single packet.
func (q *qlog) ack(p *fabric.PacketState, f *qlogFlow, group string) {
	first, last := p.PSN, p.PSN
	if int32(p.Next-f.next) > 0 {
		first, last, f.next = f.next, p.Next-1, p.Next
	}
	q.event(p, group, "transport:packet_received").add(`"header":{"packet_type":"1RTT","packet_number":`).int(f.answers).
		add(`},"raw":{"length":`).int(p.Size).add(`},"frames":[{"frame_type":"ack","acked_ranges":[[`).int(int64(first - f.first)).add(",").int(int64(last - f.first)).
		add("]]}]}}\n").end()
	f.answers++
}

// context is the new state of congestion control, if changed.
func (q *qlog) context(s *fabric.ContextState) {
	k, w := flowKey{s.Conn, s.Src}, &s.Window
	was, ok := q.last[k]
	if ok && was.Cwnd == w.Cwnd && was.Inflight == w.Inflight && was.QDelay == w.QDelay && was.BaseRTT == w.BaseRTT && was.AvgDelay == w.AvgDelay {
		return
	}
	q.last[k] = *w
	p := fabric.PacketState{Now: s.Now}
	q.event(&p, flowName(int(s.Src), int(s.Dst)), "recovery:metrics_updated").add(`"congestion_window":`).int(w.Cwnd).
		add(`,"bytes_in_flight":`).int(w.Inflight).add(`,"min_rtt":`).time(link.Ps(w.BaseRTT)*link.Nanosecond, psPerMillisecond).
		add(`,"smoothed_rtt":`).time(link.Ps(w.BaseRTT+w.AvgDelay)*link.Nanosecond, psPerMillisecond).
		add(`,"latest_rtt":`).time(link.Ps(w.BaseRTT+w.QDelay)*link.Nanosecond, psPerMillisecond).add("}}\n").end()
}
