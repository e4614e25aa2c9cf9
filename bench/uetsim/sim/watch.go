// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/goal"
	"github.com/uetcc/uetcc/bench/page"
	"github.com/uetcc/uetcc/hw/link"
)

// watchers are told of a run in turn.
type watchers []fabric.Watcher

// Packet implements [fabric.Watcher].
func (w watchers) Packet(p *fabric.PacketState) {
	for _, x := range w {
		x.Packet(p)
	}
}

// Port implements [fabric.Watcher].
func (w watchers) Port(p *fabric.PortState) {
	for _, x := range w {
		x.Port(p)
	}
}

// A watcher is told of packets, ports and congestion control.
type watcher interface {
	fabric.Watcher
	context(*fabric.ContextState)
}

// watch has a watcher told of a run, after the present watchers.
func watch(c *fabric.Config, w watcher) {
	all, _ := c.Watch.(watchers)
	c.Watch = append(all, w)
	first := c.Context
	c.Context = func(s *fabric.ContextState) {
		if first != nil {
			first(s)
		}
		w.context(s)
	}
}

// A recorder keeps the data for pictures of a run, in memory that depends on the number of
// flows and ports and not on the time.
type recorder struct {
	fine   page.Clock // of what has a value at all times; ps
	coarse page.Clock // of amounts in each step
	flows  map[flowKey]*flowRecord
	order  []*flowRecord
	ports  []*portRecord     // by number; nil: nothing happened there
	most   int               // packets of a flow to keep
	flying map[uint64]flying // by the ID of packets that are under way
}

// A flowKey is a connection in one direction.
type flowKey struct{ conn, src uint32 }

// A flowRecord is the record of a flow.
type flowRecord struct {
	flowKey
	dst                   uint32
	window, inflight, rtt page.Track // bytes, bytes, ns
	arrived               page.Sum   // bytes of data
	packets               []packetRecord
	pdc                   uint16 // whose packets are kept
	first                 uint32 // PSN
}

// A packetRecord is a packet of a flow.
type packetRecord struct {
	sent, end link.Ps // end: when it arrived or was lost; -1: neither until the run was over
	number    int32   // PSN from that of the first on
	flags     uint8   // of package page
}

// A flying packet is a packet whose end is still to be noted.
type flying struct {
	flow   *flowRecord
	record int
}

// A portRecord is the record of a port.
type portRecord struct {
	name    string
	rate    float64    // bits a second
	lastHop bool       //
	waiting page.Track // bytes
	marked  page.Sum   // packets
	sent    page.Sum   // bytes
	marks   int64      // so far
}

// messages is how many a run has: flows are no more.
func messages(c *fabric.Config) int {
	if c.Matrix == nil {
		return c.Application.Schedule.Count(goal.KindSend)
	}
	return len(c.Matrix.Flows)
}

// leastStep is the least of an amount, as a power of two, ps: some packets at usual rates.
const leastStep = 22

// recordedPackets is the most packets kept by a recorder.
const recordedPackets = 1 << 20

// recorderOf is the recorder of a configuration, or nil.
func recorderOf(c *fabric.Config) *recorder {
	all, _ := c.Watch.(watchers)
	for _, w := range all {
		if r, ok := w.(*recorder); ok {
			return r
		}
	}
	return nil
}

// newRecorder makes a recorder of a run with so many flows.
func newRecorder(flows int) *recorder {
	steps := 64
	for steps < 512 && steps*flows < 1<<16 {
		steps *= 2
	}
	return &recorder{
		fine: page.Clock{Steps: steps}, coarse: page.Clock{Steps: min(steps, 128), Shift: leastStep},
		flows: map[flowKey]*flowRecord{}, flying: map[uint64]flying{}, most: max(min(recordedPackets/max(flows, 1), 3000), 50),
	}
}

func (r *recorder) flow(conn, src, dst uint32) *flowRecord {
	k := flowKey{conn, src}
	f := r.flows[k]
	if f == nil {
		f = &flowRecord{flowKey: k, dst: dst}
		r.flows[k] = f
		r.order = append(r.order, f)
	}
	return f
}

// Packet implements [fabric.Watcher].
func (r *recorder) Packet(p *fabric.PacketState) {
	if p.Kind == fabric.PacketControl {
		return
	}
	if p.Event == fabric.PacketSent {
		r.sent(p)
		return
	}
	if p.Event == fabric.PacketArrived && p.Payload > 0 {
		r.flow(p.Conn, p.Src, p.Dst).arrived.Add(&r.coarse, int64(p.Now), p.Payload)
	}
	if x, ok := r.flying[p.ID]; ok {
		k := &x.flow.packets[x.record]
		k.end = p.Now
		k.flags |= packetFlags(p)
		delete(r.flying, p.ID)
	}
}

// sent notes a leaving packet, if the recorder has room.
func (r *recorder) sent(p *fabric.PacketState) {
	to := p.Dst
	if p.From == p.Dst {
		to = p.Src
	}
	f := r.flow(p.Conn, p.From, to)
	if len(f.packets) == 0 {
		f.pdc, f.first = p.PDC, p.PSN
	}
	if len(f.packets) == r.most || p.PDC != f.pdc {
		return
	}
	number := p.PSN
	if p.Kind == fabric.PacketAck {
		number = p.Next
	}
	f.packets = append(f.packets, packetRecord{sent: p.Now, end: -1, number: int32(number - f.first), flags: packetFlags(p)})
	r.flying[p.ID] = flying{f, len(f.packets) - 1}
}

func packetFlags(p *fabric.PacketState) (f uint8) {
	for _, x := range []struct {
		set  bool
		flag uint8
	}{
		{p.Kind == fabric.PacketAck, page.FlagAck}, {p.Kind == fabric.PacketNack, page.FlagNack}, {p.CE, page.FlagCE},
		{p.Trimmed, page.FlagTrimmed}, {p.Retx, page.FlagRetx}, {p.Event == fabric.PacketLost, page.FlagLost},
	} {
		if x.set {
			f |= x.flag
		}
	}
	return f
}

// Port implements [fabric.Watcher].
func (r *recorder) Port(p *fabric.PortState) {
	for int(p.Port) >= len(r.ports) {
		r.ports = append(r.ports, nil)
	}
	x, at := r.ports[p.Port], int64(p.Now)
	if x == nil {
		x = &portRecord{name: p.Name(), rate: p.Rate(), lastHop: p.LastHop()}
		x.waiting.Set(&r.fine, 0, 0)
		r.ports[p.Port] = x
	}
	x.waiting.Set(&r.fine, at, p.Waiting)
	if p.Sent > 0 {
		x.sent.Add(&r.coarse, at, p.Sent)
	}
	if p.Marked > x.marks {
		x.marked.Add(&r.coarse, at, p.Marked-x.marks)
		x.marks = p.Marked
	}
}

// context takes in the state of a flow's congestion control.
func (r *recorder) context(s *fabric.ContextState) {
	f, at := r.flow(s.Conn, s.Src, s.Dst), int64(s.Now)
	f.window.Set(&r.fine, at, s.Window.Cwnd)
	f.inflight.Set(&r.fine, at, s.Window.Inflight)
	f.rtt.Set(&r.fine, at, s.Window.BaseRTT+s.Window.QDelay)
}
