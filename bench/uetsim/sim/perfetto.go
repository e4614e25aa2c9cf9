// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// perfettoHead begins a file of -perfetto: the JSON of Chrome's trace event format, for
// ui.perfetto.dev and chrome://tracing.
const perfettoHead = `{"displayTimeUnit":"ns","traceEvents":[` + "\n" + `{"ph":"M","name":"process_name","pid":0,"args":{"name":"uetsim"}}`

// psPerMicrosecond is for the unit of time of the format.
const psPerMicrosecond = 1e6

// The threads of a flow's process.
const (
	heldThread   = 1
	packetThread = 2
)

// A perfetto writes a process for each flow and each port: counters of a flow's congestion control and
// of a port's queue, slices of time for the causes that keep a flow from sending, and for transfers.
type perfetto struct {
	streamed
	flows map[flowKey]*perfettoFlow
	order []*perfettoFlow
	ports map[uint32]*fabric.PortState // as they were
}

// A perfettoFlow is the state of a flow as last written.
type perfettoFlow struct {
	pid                   int64
	window, inflight, rtt int64
	held                  ccc.Reason // ReasonBacklog: by nothing
}

func newPerfetto(f *output) *perfetto {
	return &perfetto{streamed: streamed{output: f}, flows: map[flowKey]*perfettoFlow{}, ports: map[uint32]*fabric.PortState{}}
}

// event begins an event of a kind, in the format's terms.
func (f *perfetto) event(kind, name string, pid, tid int64, at link.Ps) *streamed {
	f.begin(perfettoHead)
	return f.add(",\n{\"ph\":").name(kind).add(`,"name":`).name(name).add(`,"pid":`).int(pid).add(`,"tid":`).int(tid).add(`,"ts":`).time(at, psPerMicrosecond)
}

// process names a process and the place in the list.
func (f *perfetto) process(pid int64, name string) {
	f.event("M", "process_name", pid, 0, 0).add(`,"args":{"name":`).name(name).add("}}").end()
	f.event("M", "process_sort_index", pid, 0, 0).add(`,"args":{"sort_index":`).int(pid).add("}}").end()
}

// counter writes a value.
func (f *perfetto) counter(name, unit string, pid int64, at link.Ps, v int64) {
	f.event("C", name, pid, 0, at).add(`,"args":{`).name(unit).add(":").int(v).add("}}").end()
}

// portProcess is the process of the first port; flows come before.
const portProcess = 1 << 24

// flow is the record of a flow; the first event names the flow's tracks.
func (f *perfetto) flow(conn, src, dst uint32) *perfettoFlow {
	k := flowKey{conn, src}
	x := f.flows[k]
	if x == nil {
		x = &perfettoFlow{pid: int64(len(f.flows)) + 1, window: -1, inflight: -1, rtt: -1, held: ccc.ReasonBacklog}
		f.flows[k] = x
		f.order = append(f.order, x)
		f.process(x.pid, "flow "+flowName(int(src), int(dst)))
		f.event("M", "thread_name", x.pid, heldThread, 0).add(`,"args":{"name":"held by"}}`).end()
		f.event("M", "thread_name", x.pid, packetThread, 0).add(`,"args":{"name":"packets cut or lost"}}`).end()
	}
	return x
}

// context writes the changes in a flow.
func (f *perfetto) context(s *fabric.ContextState) {
	x, w := f.flow(s.Conn, s.Src, s.Dst), &s.Window
	for _, c := range []struct {
		name, unit string
		was        *int64
		v          int64
	}{{"window", "bytes", &x.window, w.Cwnd}, {"in flight", "bytes", &x.inflight, w.Inflight}, {"round trip", "ns", &x.rtt, w.BaseRTT + w.QDelay}} {
		if *c.was != c.v {
			*c.was = c.v
			f.counter(c.name, c.unit, x.pid, s.Now, c.v)
		}
	}
	held := ccc.ReasonBacklog
	if s.State == ccc.StateActive {
		held = s.Reason
	}
	f.hold(x, s.Now, held)
}

// hold ends the slice of a flow's last cause of waiting, and begins the slice of the new cause.
func (f *perfetto) hold(x *perfettoFlow, at link.Ps, by ccc.Reason) {
	if x.held == by {
		return
	}
	if x.held != ccc.ReasonBacklog {
		f.event("E", x.held.String(), x.pid, heldThread, at).add("}").end()
	}
	if x.held = by; by != ccc.ReasonBacklog {
		f.event("B", by.String(), x.pid, heldThread, at).add("}").end()
	}
}

// Packet implements [fabric.Watcher]: packets cut or lost are instants of the flow.
func (f *perfetto) Packet(p *fabric.PacketState) {
	name := ""
	switch {
	case p.Kind != fabric.PacketData || p.Event == fabric.PacketSent:
		return
	case p.Event == fabric.PacketLost:
		name = "lost"
	case p.Trimmed:
		name = "trimmed"
	default:
		return
	}
	x := f.flow(p.Conn, p.Src, p.Dst)
	f.event("i", name, x.pid, packetThread, p.Now).add(`,"s":"t","args":{"psn":`).int(int64(p.PSN)).add("}}").end()
}

// Port implements [fabric.Watcher].
func (f *perfetto) Port(p *fabric.PortState) {
	was := f.ports[p.Port]
	pid := portProcess + int64(p.Port)
	if was == nil {
		was = &fabric.PortState{}
		f.ports[p.Port] = was
		f.process(pid, p.Name())
	}
	if p.Waiting != was.Waiting {
		f.counter("waiting", "bytes", pid, p.Now, p.Waiting)
	}
	if p.Marked != was.Marked {
		f.counter("marked so far", "packets", pid, p.Now, p.Marked)
	}
	if p.Trimmed != was.Trimmed {
		f.counter("trimmed so far", "packets", pid, p.Now, p.Trimmed)
	}
	*was = *p
}

// over writes the transfers, ends slices and closes the list.
func (f *perfetto) over(r *fabric.Result) {
	end := link.Ps(r.SimTime * psPerMicrosecond)
	for i := range r.Transfers {
		t := &r.Transfers[i]
		if t.Start < 0 {
			continue
		}
		x := f.flow(uint32(t.Connection), uint32(t.Src), uint32(t.Dst))
		from, to := link.Ps(t.Start*psPerMicrosecond), end
		if t.Finished >= 0 {
			to = link.Ps(t.Finished * psPerMicrosecond)
		}
		f.event("b", "transfer", x.pid, 0, from).add(`,"cat":"transfer","id":`).int(int64(i)).add(`,"args":{"bytes":`).int(t.Bytes).add("}}").end()
		f.event("e", "transfer", x.pid, 0, to).add(`,"cat":"transfer","id":`).int(int64(i)).add("}").end()
	}
	for _, x := range f.order {
		f.hold(x, end, ccc.ReasonBacklog)
	}
	f.begin(perfettoHead)
	f.add("\n]}\n").end()
}
