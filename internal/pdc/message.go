// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// Packet is one packet of a message as handed down by the layer above.
type Packet struct {
	Handle uint64      // names the packet in events
	Size   uint16      // nominal, bytes
	Next   pds.NextHdr // a request, or read data
	EOM    bool        // the last packet of the message
	AR     bool        // ask for an acknowledgement at once
	Asks   bool        // the packet asks for data, see memory.keep
}

// Begin takes a message onto h: the PDC is not closed before the message's EOM has been
// submitted. Messages do not interleave: the caller submits all packets of a message
// before the next. The errors are [ErrUnknown], [ErrState] and [ErrNoMemory].
func (m *Manager) Begin(h Handle) error {
	p, err := m.taking(h)
	if err != nil {
		return err
	}
	return countUp(&p.openMsgs)
}

// countUp adds 1 to a number of open messages or of locks: on an overflow the PDC would
// close before the last has ended.
func countUp(n *uint16) error {
	if *n == math.MaxUint16 {
		return ErrNoMemory
	}
	*n++
	return nil
}

// takes is taking without an error: nil.
func (m *Manager) takes(h Handle) *PDC {
	if id := int(h.ID()); id < len(m.pdc) {
		if p := &m.pdc[id]; p.handle == h && takesMessages(p.state) {
			return p
		}
	}
	return nil
}

// taking returns the PDC of h, required to take messages.
func (m *Manager) taking(h Handle) (*PDC, error) {
	if p := m.takes(h); p != nil {
		return p, nil
	}
	if m.get(h) == nil {
		return nil, ErrUnknown
	}
	return nil, ErrState
}

// Announce tells congestion control of nominal bytes, 0 or more, to be submitted on h;
// packets not announced are counted when submitted. By Announce a receiver granting
// credit learns of a whole message at once. The errors are [ErrUnknown] and, of a
// target's PDC, [ErrNoMemory].
func (m *Manager) Announce(now int64, h Handle, bytes int64) error {
	p := m.get(h)
	if p == nil {
		return ErrUnknown
	}
	if !m.life.ensureBound(now, p) {
		return ErrNoMemory
	}
	p.unsubmitted += bytes
	m.cc.OnNewData(ccc.Handle(h), now, bytes)
	m.sched.release(p)
	return nil
}

// Submit queues a packet on h and returns the packet's PSN. The errors are
// [ErrUnknown], [ErrState], [ErrWindowFull] and [ErrNoMemory]; the last two pass
// when packets are released, or other PDCs end.
func (m *Manager) Submit(now int64, h Handle, pkt Packet) (pds.PSN, error) {
	if _, err := m.SubmitRun(now, h, &pkt, 1); err != nil {
		return 0, err
	}
	w := &m.pdc[h.ID()].tx
	return w.psn(w.tail - 1), nil
}

// SubmitRun queues n packets alike but for the handles, which count up from first's.
// Results are the number taken and, if not all, the error of [Manager.Submit] for the
// next.
//
//uetcc:hot
func (m *Manager) SubmitRun(now int64, h Handle, first *Packet, n int) (taken int, err error) {
	p := m.get(h)
	switch {
	case p == nil:
		return 0, ErrUnknown
	case !sendsData(p.state):
		return 0, ErrState
	}
	return m.submit(now, p, first, n)
}

// A Batch is the only packets of messages for one PDC, behind standard headers.
type Batch struct {
	N       int
	Bytes   int64 // of all packets, nominal
	Handles [ccc.RunMax]uint64
	Sizes   [ccc.RunMax]uint16 // nominal, bytes
}

// Room returns the PDC of h, and how many packets [FastPath.SubmitBatch] may have: of messages to
// peer, in a traffic class, ordered or not. None where anything is unusual.
//
//uetcc:hot
func (f *FastPath) Room(h Handle) (p *PDC, most int) {
	m := (*Manager)(f)
	if p = m.takes(h); p == nil {
		return nil, 0
	}
	w := &p.tx
	if !p.is(flagInitiator) || m.mem.freeChunks() < ccc.RunMax/chunkLen+1 || w.tail >= psnClose-ccc.RunMax && m.p.c.LimitPSNRange {
		return nil, 0
	}
	return p, int(m.p.room - (w.tail - w.base))
}

// SubmitBatch queues the packets of b on p, which has room: Begin and Submit of [Manager] for each. Those
// in one chunk are written together.
//
//uetcc:hot
func (f *FastPath) SubmitBatch(now int64, p *PDC, b *Batch) {
	const k = kind(pds.NextRequestStd) | kindEOM | kindAR
	m, w := (*Manager)(f), &p.tx
	for i, n := 0, min(uint(b.N), ccc.RunMax); ; {
		if w.push(m.p, m.mem, b.Handles[i], b.Sizes[i], k) != nil {
			panic("pdc: more packets than Room tells of")
		}
		if i++; uint(i) >= n {
			break
		}
		r, at := w.at(m.mem, w.tail)
		if at%chunkLen == 0 || r.size != 0 {
			continue
		}
		c := m.mem.in(r, at)
		for at %= chunkLen; at < chunkLen && uint(i) < n; at, i = at+1, i+1 {
			c.handle[at], c.packet[at].label = b.Handles[i], label{size: b.Sizes[i], kind: k}
			w.tail++
		}
		if uint(i) >= n {
			break
		}
	}
	m.sched.submitted(now, p, b.Bytes, b.N)
}

// submit is SubmitRun for a PDC in a state to send.
//
//uetcc:hot
func (m *Manager) submit(now int64, p *PDC, first *Packet, n int) (taken int, err error) {
	if p.cc == 0 && !m.life.ensureBound(now, p) {
		return 0, ErrNoMemory
	}
	if p.tx.tail == 0 && m.reply.doubts(p) {
		if err := m.source.queueControl(p, pds.CtlNOOP); err != nil {
			return 0, err
		}
	}
	k := first.kind()
	m.mem.kept = m.mem.keep(first)
	for taken < n {
		if err = p.tx.push(m.p, m.mem, first.Handle+uint64(taken), first.Size, k); err != nil {
			break
		}
		if taken++; taken < n {
			taken += int(p.tx.more(m.p, m.mem, uint32(n-taken)))
		}
	}
	m.mem.kept = m.mem.reserved()
	if taken > 0 {
		ends := 0
		if first.EOM {
			ends = taken
		}
		m.sched.submitted(now, p, int64(first.Size)*int64(taken), ends)
	}
	return taken, err
}

func (p *Packet) kind() kind {
	k := kind(p.Next)
	if p.AR {
		k |= kindAR
	}
	if p.EOM {
		k |= kindEOM | kindAR
	}
	return k
}

// submitted accounts for packets given to p, which end so many messages.
func (s *scheduler) submitted(now int64, p *PDC, bytes int64, ends int) {
	p.openMsgs -= min(p.openMsgs, uint16(ends))
	if p.unsubmitted -= bytes; p.unsubmitted < 0 {
		s.cc.OnNewData(ccc.Handle(p.handle), now, -p.unsubmitted)
		s.release(p)
		p.unsubmitted = 0
	}
	s.wake(p)
}

// Lock (lock_pdc) keeps h from closing until as many calls of [Manager.Unlock]: more is to come than
// shown by the open messages, such as the data of a read. The errors are [ErrUnknown] and
// [ErrNoMemory].
func (m *Manager) Lock(h Handle) error {
	p := m.get(h)
	if p == nil {
		return ErrUnknown
	}
	return countUp(&p.locks)
}

// Unlock (ses_pds_unlock) takes one [Manager.Lock] back. Without a lock Unlock does nothing. The only
// error is [ErrUnknown].
func (m *Manager) Unlock(now int64, h Handle) error {
	p := m.get(h)
	if p == nil {
		return ErrUnknown
	}
	p.locks -= min(p.locks, 1)
	m.life.progressIfRoom(now, p)
	m.life.relieve(now, 0)
	return nil
}

// EndMessage closes a failed message whose EOM is never submitted. unsent is the bytes
// announced for the message and not submitted. The only error is [ErrUnknown].
func (m *Manager) EndMessage(now int64, h Handle, unsent int64) error {
	p := m.get(h)
	if p == nil {
		return ErrUnknown
	}
	p.openMsgs -= min(p.openMsgs, 1)
	m.sched.withdraw(now, p, unsent)
	m.life.progressIfRoom(now, p)
	return nil
}

// Withdraw takes back bytes announced for h and never to be submitted, while the message
// goes on: the rest is a notice of failure. The only error is [ErrUnknown].
func (m *Manager) Withdraw(now int64, h Handle, bytes int64) error {
	p := m.get(h)
	if p == nil {
		return ErrUnknown
	}
	m.sched.withdraw(now, p, bytes)
	return nil
}

func (s *scheduler) withdraw(now int64, p *PDC, bytes int64) {
	if bytes = min(bytes, p.unsubmitted); bytes > 0 {
		p.unsubmitted -= bytes
		s.cc.OnWithdraw(ccc.Handle(p.handle), now, bytes)
		s.release(p)
	}
}
