// SPDX-License-Identifier: Apache-2.0

package goal

import "slices"

// A Host does the work for a [Machine]. The methods must not call back into the machine.
type Host interface {
	// Compute has [Machine.Computed] called when op has had so many ns.
	Compute(op uint32, ns int64)
	// Send has the message of op, a send to another rank, leave now. Call [Machine.Delivered]
	// and [Machine.Acknowledged] for op once each, in any order.
	Send(op uint32)
}

// A Machine executes a schedule. Operations have one numbering: the operations of rank 0 from 0
// on, then of rank 1, and so on. Times are the host's, in any unit. Single writer.
//
// An operation is ready when all operations waited for have ended, or begun. A calc and a send
// begin when the CPU is free: a calc occupies the CPU for the calc's length, a send for no
// time. A recv is posted when ready, counting as the begin, and ends with a matching message,
// as soon as the CPU is free. Operations get a CPU in the order of becoming ready, and after
// the same event in the order of the numbers.
//
// A message leaves when the send begins, regardless of the receiver. Messages with the same
// source, destination and tag are taken in the order of sending, by the receives in the order
// of posting; where a rank receives with any tag, messages with the same source and
// destination. A send ends when the message is acknowledged and, unless the message is eager,
// the recv has ended. A rank's message to the same rank is there at once.
type Machine struct {
	host  Host
	s     *Schedule
	eager int64

	first []uint32 // operation of each rank, and one more
	rank  []uint32 // by operation
	next  []followers
	ops   []opState
	cpus  []cpu // of each rank CPUs
	per   int   // CPUs of a rank
	boxes map[boxKey]*box
	any   []wild // by rank

	now   int64
	ready []uint32 // operations to be posted, or to have their CPU, in their order
	ended int
}

// opState is where an operation stands.
type opState struct {
	waits uint32 // dependencies not yet met
	other uint32 // of a message: the operation at the other side
	flags opFlags
	end   int64
}

type opFlags uint8

const (
	opBegun opFlags = 1 << iota
	opDelivered
	opAcknowledged
	opMatched // with other
	opTaken   // the recv of a send has ended
	opEnded
)

// A cpu does one operation at a time.
type cpu struct {
	busy bool
	want []uint32 // operations that wait for it
}

// wild is what a rank's receives leave open.
type wild struct{ source, tag bool }

// A boxKey is the common key of messages kept in order.
type boxKey struct{ src, dst, tag uint32 }

// A box is where messages and receives meet.
type box struct {
	sent   []uint32 // sends, in order, of which an earlier one is not delivered
	here   []uint32 // sends that were delivered, and wait for a recv
	posted []uint32 // receives that wait for a message
}

// NewMachine makes a machine for a schedule that has passed [Schedule.Check]. Messages of up to
// eager bytes are eager; below 0 no message is.
func NewMachine(s *Schedule, eager int64, h Host) *Machine {
	m := &Machine{host: h, s: s, eager: eager, per: s.CPUs(), boxes: map[boxKey]*box{}}
	m.cpus = make([]cpu, m.per*len(s.Ranks))
	m.any = make([]wild, len(s.Ranks))
	n := uint32(0)
	for i := range s.Ranks {
		r := &s.Ranks[i]
		m.first = append(m.first, n)
		m.next = append(m.next, dependents(r))
		n += uint32(len(r.Ops))
		for _, o := range r.Ops {
			m.rank = append(m.rank, uint32(i))
			if o.Kind == KindRecv {
				m.any[i].source = m.any[i].source || o.Peer == Any
				m.any[i].tag = m.any[i].tag || o.Tag == Any
			}
		}
	}
	m.first = append(m.first, n)
	m.ops = make([]opState, n)
	for i := range s.Ranks {
		for _, d := range s.Ranks[i].Deps {
			m.ops[m.first[i]+d.Op].waits++
		}
	}
	return m
}

// Start begins the operations without dependencies.
func (m *Machine) Start(now int64) {
	m.now = now
	for op := range m.ops {
		if m.ops[op].waits == 0 {
			m.ready = append(m.ready, uint32(op))
		}
	}
	m.run()
}

// Computed ends a calc.
func (m *Machine) Computed(now int64, op uint32) {
	m.now = now
	m.end(op)
	c := m.cpuOf(op)
	c.busy = false
	m.serve(c)
	m.run()
}

// Delivered reports the message of a send at the destination.
func (m *Machine) Delivered(now int64, send uint32) {
	m.now = now
	m.deliver(send)
	m.run()
}

// Acknowledged reports the delivery of a message known to the source.
func (m *Machine) Acknowledged(now int64, send uint32) {
	m.now = now
	m.ops[send].flags |= opAcknowledged
	m.endSend(send)
	m.run()
}

// Rank is the rank of an operation.
func (m *Machine) Rank(op uint32) int { return int(m.rank[op]) }

// Op returns an operation.
func (m *Machine) Op(op uint32) *Op {
	r := m.Rank(op)
	return &m.s.Ranks[r].Ops[op-m.first[r]]
}

// Done reports whether all operations have ended.
func (m *Machine) Done() bool { return m.ended == len(m.ops) }

// Ended is how many operations have.
func (m *Machine) Ended() int { return m.ended }

// End is the time of the last end of an operation of a rank, 0 before the first.
func (m *Machine) End(rank int) (end int64) {
	for _, o := range m.ops[m.first[rank]:m.first[rank+1]] {
		end = max(end, o.end)
	}
	return end
}

// Left calls f with each operation not ended, and the reason, up to the first false.
func (m *Machine) Left(f func(rank int, op uint32, why string) bool) {
	for r := range m.s.Ranks {
		for i := m.first[r]; i < m.first[r+1]; i++ {
			if o := &m.ops[i]; o.flags&opEnded == 0 && !f(r, i-m.first[r], o.why(&m.s.Ranks[r].Ops[i-m.first[r]])) {
				return
			}
		}
	}
}

// why returns the reason that an operation has not ended.
func (o *opState) why(is *Op) string {
	switch {
	case o.waits > 0:
		return "waits for another operation"
	case o.flags&opBegun == 0:
		return "waits for its CPU"
	case is.Kind == KindCalc:
		return "computes"
	case o.flags&opMatched != 0:
		return "waits for the CPU of the recv"
	case is.Kind == KindRecv:
		return "has no message"
	case o.flags&(opDelivered|opAcknowledged) == 0:
		return "is under way"
	default:
		return "has no recv"
	}
}

// run handles ready operations, and operations becoming ready thereby.
func (m *Machine) run() {
	for i := 0; i < len(m.ready); i++ {
		op := m.ready[i]
		if m.Op(op).Kind == KindRecv && m.ops[op].flags&opMatched == 0 {
			m.begin(op)
			m.post(op)
			continue
		}
		c := m.cpuOf(op)
		c.want = append(c.want, op)
		m.serve(c)
	}
	m.ready = m.ready[:0]
}

func (m *Machine) cpuOf(op uint32) *cpu {
	r := m.Rank(op)
	return &m.cpus[r*m.per+int(m.s.Ranks[r].Ops[op-m.first[r]].CPU)]
}

// serve gives a CPU the next possible work.
func (m *Machine) serve(c *cpu) {
	for !c.busy && len(c.want) > 0 {
		op := c.want[0]
		c.want = c.want[1:]
		switch o := m.Op(op); {
		case o.Kind == KindCalc:
			c.busy = true
			m.begin(op)
			m.host.Compute(op, o.Size)
		case o.Kind == KindSend:
			m.begin(op)
			m.send(op, o)
		default:
			send := m.ops[op].other
			m.ops[send].flags |= opTaken
			m.end(op)
			m.endSend(send)
		}
	}
}

// begin notes an operation has begun.
func (m *Machine) begin(op uint32) {
	m.ops[op].flags |= opBegun
	m.release(op, true)
}

func (m *Machine) end(op uint32) {
	m.ops[op].flags |= opEnded
	m.ops[op].end = m.now
	m.ended++
	m.release(op, false)
}

// release releases the followers of the begin or the end of an operation.
func (m *Machine) release(op uint32, started bool) {
	r := m.Rank(op)
	first, from := m.first[r], len(m.ready)
	for _, f := range m.next[r].of(op - first) {
		if f.Started != started {
			continue
		}
		o := &m.ops[first+f.Op]
		if o.waits--; o.waits == 0 {
			m.ready = append(m.ready, first+f.Op)
		}
	}
	slices.Sort(m.ready[from:])
}

// endSend ends a send nothing keeps any more.
func (m *Machine) endSend(op uint32) {
	o := &m.ops[op]
	taken := o.flags&opTaken != 0 || m.Op(op).Size <= m.eager
	if o.flags&opEnded == 0 && o.flags&opAcknowledged != 0 && taken {
		m.end(op)
	}
}
