// SPDX-License-Identifier: Apache-2.0

// Package hol models head-of-line blocking between two switches: the scenario in
// the ZTR-RTT description for the need of congestion control even for flows
// whose own path is free.
//
// Switch S1 forwards a blue and a purple flow over one link to S2. Blue leaves S2
// by a port for which four more blue flows compete, purple by an idle port.
// Without congestion control blue backs up into S2's ingress queue and purple
// waits behind it.
//
//	b1 --\                                    b2 b3 b4 b5 (an ingress FIFO each)
//	      S1 ==(one link, FIFO 192)==> S2 FIFO 0 --\  |  |  |  |
//	p  --/                                      >-- egress of blue (128 packets)
//	                                            \-- egress of purple (128 packets)
//
// Time is slotted: a slot carries one packet of 4,096 bytes at 100 Gb/s, 327.68
// ns. All links have the same rate, and no packet is ever dropped: full queues
// pause the feeding link.
package hol

import (
	"math/rand/v2"

	"github.com/uetcc/uetcc/hw/pcc"
)

// Sizes of the model, in packets, and delays in nanoseconds.
const (
	flows  = 6 // blue 0..4, of which 0 crosses S1; purple 5
	purple = 5

	slotPs      = 327_680
	hostDepth   = 4   // token bucket
	inputPause  = 32  // S1 input above which its host pauses
	trunkDepth  = 192 // S1's queue to the link
	ingressOff  = 192 // S2 ingress above which the link pauses
	ingressOn   = 160 // and below which it goes on
	egressDepth = 128
	fabricSpeed = 2 // packets a slot from each input

	forwardNs   = 3000
	residenceNs = 600
	backNs      = 4500
)

// Control answers an event of a flow. nil means no congestion control: line rate
// always.
type Control func(flow int, e *pcc.Event) pcc.Decision

// Template returns NVIDIA's sample algorithm as a control.
func Template(p pcc.TemplateParams) Control {
	var contexts [flows]pcc.Template
	var n pcc.TemplateCounters
	return func(flow int, e *pcc.Event) pcc.Decision { return contexts[flow].OnEvent(&p, e, &n) }
}

// ZTR returns our ZTR-RTT as a control.
func ZTR(p pcc.ZTRParams) Control {
	var contexts [flows]pcc.ZTR
	return func(flow int, e *pcc.Event) pcc.Decision { return contexts[flow].OnEvent(&p, e) }
}

// Config describes a run.
type Config struct {
	Slots   int    // length; the second half is measured
	Burst   int    // packets of a burst
	Seed    uint64 // of the flows' start times
	Control Control
}

// Result is the outcome of the second half of a run.
type Result struct {
	Blue        float64 // share of the line rate, of all blue flows together
	Purple      float64 // share of the purple one
	IngressMean float64 // packets in S2's ingress FIFO 0
	IngressMax  int
	Paused      float64 // fraction of the time that the link S1-S2 was paused
	PurpleNs    float64 // mean queueing delay of purple
	BlueQueue   float64 // mean packets in the egress queue of blue
}

// packet is a packet in a queue.
type packet struct {
	flow  uint8
	probe bool
	born  int32 // slot
}

// fifo is a queue of packets in a ring.
type fifo struct {
	ring    [256]packet
	head, n int
}

func (q *fifo) push(p packet) {
	q.ring[(q.head+q.n)&255] = p
	q.n++
}

func (q *fifo) pop() packet {
	p := q.ring[q.head]
	q.head = (q.head + 1) & 255
	q.n--
	return p
}

// host is the sender of a flow.
type host struct {
	start  int
	rate   pcc.Rate
	tokens int64 // packets * 2^20
	sent   int   // packets of the current burst
	probe  bool  // the burst is to carry a probe
	answer []answer
}

// answer is a probe on the way back.
type answer struct {
	at     int64 // ns
	stamps pcc.Stamps
}

type model struct {
	cfg     Config
	hosts   [flows]host
	input   [2]fifo // S1: from blue 0 and from purple
	trunk   fifo
	ingress [5]fifo // S2: from S1, and from blue 1..4
	paused  bool    // the link S1-S2
	egress  [2]fifo // blue, purple
	res     Result

	measured bool // the present slot
	slots    int  // measured so far
	count    [flows]int
	wait     int64
}

// Run runs the model.
func Run(cfg Config) Result {
	m := &model{cfg: cfg}
	r := rand.New(rand.NewPCG(cfg.Seed, 0))
	for i := range m.hosts {
		m.hosts[i].start, m.hosts[i].rate = r.IntN(256), pcc.LineRate
	}
	for slot := range cfg.Slots {
		m.measured = slot >= cfg.Slots/2
		m.step(slot)
	}
	return m.result()
}

func (m *model) result() Result {
	for _, n := range m.count[:purple] {
		m.res.Blue += float64(n) / float64(m.slots)
	}
	m.res.Purple = float64(m.count[purple]) / float64(m.slots)
	m.res.PurpleNs = float64(m.wait) / float64(max(m.count[purple], 1)) * slotPs / 1000
	m.res.IngressMean /= float64(m.slots)
	m.res.Paused /= float64(m.slots)
	m.res.BlueQueue /= float64(m.slots)
	return m.res
}

// step lets a slot pass, from the sinks to the sources so a packet takes at
// least a slot for each hop.
func (m *model) step(slot int) {
	for i := range m.egress {
		if m.egress[i].n > 0 {
			m.leave(slot, m.egress[i].pop())
		}
	}
	m.crossS2(slot)
	m.link()
	m.crossS1(slot)
	for i := range m.hosts {
		m.answers(slot, i)
		m.send(slot, i)
	}
	if !m.measured {
		return
	}
	m.slots++
	m.res.IngressMean += float64(m.ingress[0].n)
	m.res.IngressMax = max(m.res.IngressMax, m.ingress[0].n)
	m.res.BlueQueue += float64(m.egress[0].n)
	if m.paused {
		m.res.Paused++
	}
}

// leave takes a packet to the sink. A probe turns around there.
func (m *model) leave(slot int, p packet) {
	if m.measured {
		m.count[p.flow]++
		if p.flow == purple {
			m.wait += int64(slot) - int64(p.born)
		}
	}
	if !p.probe {
		return
	}
	born, now := ns(int(p.born)), ns(slot)
	const clockOffset = 12345 // the receiver's clock is another one
	arrival := uint32(now + forwardNs + clockOffset)
	m.hosts[p.flow].answer = append(m.hosts[p.flow].answer, answer{
		at:     now + forwardNs + residenceNs + backNs,
		stamps: pcc.Stamps{ReqSend: uint32(born), ReqRecv: arrival, RespSend: arrival + residenceNs},
	})
}

// crossS2 moves packets from S2's inputs to its outputs, starting with the next
// input in each slot. A head whose output is full blocks its input.
func (m *model) crossS2(slot int) {
	for range fabricSpeed {
		for k := range m.ingress {
			in := &m.ingress[(k+slot)%len(m.ingress)]
			if in.n == 0 {
				continue
			}
			out := &m.egress[0]
			if in.ring[in.head].flow == purple {
				out = &m.egress[1]
			}
			if out.n < egressDepth {
				out.push(in.pop())
			}
		}
	}
}

// link moves a packet from S1 to S2 unless S2 pauses it.
func (m *model) link() {
	switch n := m.ingress[0].n; {
	case n > ingressOff:
		m.paused = true
	case n < ingressOn:
		m.paused = false
	}
	if !m.paused && m.trunk.n > 0 {
		m.ingress[0].push(m.trunk.pop())
	}
}

// crossS1 moves packets from S1's inputs to S1's queue, in turn.
func (m *model) crossS1(slot int) {
	for k := range fabricSpeed {
		in := &m.input[(k+slot)&1]
		if in.n > 0 && m.trunk.n < trunkDepth {
			m.trunk.push(in.pop())
		}
	}
}

// answers hands the returned probes to the flow's control.
func (m *model) answers(slot, i int) {
	h := &m.hosts[i]
	for len(h.answer) > 0 && h.answer[0].at <= ns(slot) {
		a := h.answer[0]
		h.answer = h.answer[1:]
		m.event(i, &pcc.Event{Type: pcc.EventRTT, Time: uint32(a.at), Stamps: a.stamps})
	}
}

// send sends a packet of flow i if its bucket and the queue it enters
// allow.
func (m *model) send(slot, i int) {
	h := &m.hosts[i]
	if slot < h.start {
		return
	}
	h.tokens = min(h.tokens+int64(h.rate), hostDepth<<20)
	queue, limit := m.entry(i)
	if h.tokens < 1<<20 || queue.n > limit {
		return
	}
	h.tokens -= 1 << 20
	h.sent++
	last := h.sent == m.cfg.Burst
	queue.push(packet{flow: uint8(i), probe: last && h.probe, born: int32(slot)})
	if !last {
		return
	}
	h.sent = 0
	flags := uint8(0)
	if h.probe {
		flags, h.probe = pcc.ProbeSent, false
	}
	m.event(i, &pcc.Event{Type: pcc.EventTX, Flags: flags, Time: uint32(ns(slot))})
}

// entry returns the queue of flow i, and the length above which the flow is
// paused.
func (m *model) entry(i int) (queue *fifo, limit int) {
	switch i {
	case 0:
		return &m.input[0], inputPause
	case purple:
		return &m.input[1], inputPause
	}
	return &m.ingress[i], ingressOff
}

func (m *model) event(i int, e *pcc.Event) {
	if m.cfg.Control == nil {
		return
	}
	d := m.cfg.Control(i, e)
	m.hosts[i].rate = d.Rate
	m.hosts[i].probe = m.hosts[i].probe || d.Probe
}

// ns returns the time at which a slot begins.
func ns(slot int) int64 { return int64(slot) * slotPs / 1000 }
