// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// A slot is an operation the endpoint knows of, until released by the endpoint: for an operation
// given up maybe later than the end.
type slot struct {
	op     *Op        // nil: given up
	data   []byte     // nil: as well
	handle ses.Handle // of the message, or of the receive buffer
	gen    uint32     // of the present use, part of cookies
	recv   bool
	used   bool
	orphan bool // a Recv given up half way
}

// slotOf is the slot a cookie names, nil if the slot has been reused.
func (s *shard) slotOf(cookie uint64) *slot {
	i := uint32(cookie)
	if cookie&cookieRegion != 0 || int(i) >= len(s.slots) || s.slots[i].gen != uint32(cookie>>32) || !s.slots[i].used {
		return nil
	}
	return &s.slots[i]
}

// begin begins op, whose place is taken already.
func (s *shard) begin(op *Op) error {
	s.mu.Lock()
	if s.over != nil {
		s.mu.Unlock()
		return s.over
	}
	op.sh = s
	now := s.node.now()
	s.counts.begun++
	room, err := s.start(now, op)
	if !room {
		s.stall(op)
	}
	if err == nil && op.Kind != OpRecv || s.ep.Target().HasErrand() {
		if s.begun = s.telling; !s.telling {
			s.launch(now)
		}
	}
	wake := !s.telling && s.arms(now)
	s.mu.Unlock()
	if wake {
		s.port.Wake()
	}
	return err
}

// launch sends the packets released by a new operation.
func (s *shard) launch(now int64) {
	if broken := s.flush(now); broken != nil {
		s.over = broken // the goroutine meets it, too
	}
}

// arms reports whether the goroutine has to look at the clock earlier than planned.
func (s *shard) arms(now int64) bool {
	if !s.waits {
		return false
	}
	was := s.armed
	if s.arm(now); s.armed < was || len(s.waiting) > 0 {
		s.waits = false
		return true
	}
	s.armed = was
	return false
}

// stall has op wait for room.
func (s *shard) stall(op *Op) {
	if op.Kind == OpRecv {
		s.queued = append(s.queued, op)
	} else {
		s.stalled = append(s.stalled, op)
	}
}

// start gives op to the endpoint, and reports whether there was room. An error is permanent.
func (s *shard) start(now int64, op *Op) (room bool, err error) {
	if len(s.free) == 0 { // as many were given up, and are not over for the endpoint
		return false, nil
	}
	i := s.free[len(s.free)-1]
	x := &s.slots[i]
	gen := (x.gen + 1) & (1<<31 - 1) // the cookie of a region has the highest bit
	*x = slot{op: op, gen: gen, data: op.Data, recv: op.Kind == OpRecv}
	if op.Kind == OpAtomic {
		x.data = op.old[:]
		binary.BigEndian.PutUint64(x.data, op.Operand)
	}
	cookie := uint64(gen)<<32 | uint64(i)
	h, err := s.ask(now, op, cookie)
	if err == nil {
		op.slot, op.gen = i, gen
		x.handle, x.used = h, true
		s.free = s.free[:len(s.free)-1]
		return true, nil
	}
	x.op, x.data = nil, nil // or fail would end op a second time
	switch {
	case errors.Is(err, ses.ErrFull), errors.Is(err, uetcc.ErrEvents), errors.Is(err, pdc.ErrPaused), errors.Is(err, pdc.ErrTableFull):
		op.gen = 0
		return false, nil
	}
	return true, err
}

// ask makes the call for op.
func (s *shard) ask(now int64, op *Op, cookie uint64) (ses.Handle, error) {
	n := s.node
	if op.Kind == OpRecv {
		r := ses.Receive{Length: uint32(len(op.Data)), Match: match(op.Peer, op.Tag), Cookie: cookie}
		if op.Peer == (netip.AddrPort{}) {
			r.Match, r.Ignore = uint64(op.Tag), 0xffffffff_00000000
		}
		return s.ep.Target().PostReceive(s.process, queueIndex, r)
	}
	m := uetcc.Message{
		To:     uetcc.Destination{Address: n.scheme.fep(op.Peer).Netip(), Job: job, Index: memoryIndex},
		Length: uint32(len(op.Data)), Cookie: cookie, Key: uint64(op.At.Region), Offset: op.At.Offset,
	}
	var h ses.Handle
	var err error
	switch op.Kind {
	case OpWrite:
		h, err = s.ep.Write(now, &m)
	case OpRead:
		h, err = s.ep.Read(now, &m)
	case OpSend:
		m.To.Index, m.Key, m.Offset, m.Tagged, m.Deferrable = queueIndex, match(n.local, op.Tag), 0, true, true
		h, err = s.ep.Send(now, &m)
	case OpAtomic:
		m.Length, m.Fetch = 8, true
		m.Swap.Atomic = ses.Atomic{Opcode: op.Atomic, Type: ses.TypeUint64}
		if op.Atomic.IsSwap() {
			m.Swap.Compare, m.Swap.Swap = ses.Operand{Lo: op.Compare}, ses.Operand{Lo: op.Operand}
		}
		h, err = s.ep.Atomic(now, &m)
	}
	return h, err
}

// cancel ends op for its caller.
func (s *shard) cancel(op *Op, err error) {
	s.mu.Lock()
	if why := s.silent.of(s.node.scheme.fep(op.Peer)); why != nil {
		err = fmt.Errorf("%w, after the answer of the network: %w", err, why.fault.Err)
	}
	if i := slices.Index(s.stalled, op); i >= 0 {
		s.stalled = slices.Delete(s.stalled, i, i+1)
		s.settle(op, err)
	} else if i := slices.Index(s.queued, op); i >= 0 {
		s.queued = slices.Delete(s.queued, i, i+1)
		s.settle(op, err)
	} else if x := &s.slots[op.slot]; x.op == op && x.gen == op.gen {
		if !x.recv {
			_ = s.ep.Cancel(s.node.now(), x.handle)
			s.finish(x, err)
		} else if s.ep.Target().CancelReceive(x.handle) == nil {
			s.finish(x, err)
			s.vacate(op.slot)
		} else { // a message is on the way into the memory
			s.finish(x, err)
			x.orphan = true
			s.orphans++
		}
		s.forget()
		_ = s.flush(s.node.now())
	}
	wake := s.arms(s.node.now())
	s.mu.Unlock()
	if wake {
		s.port.Wake()
	}
	s.tell()
}

// finish ends the operation of a slot; the endpoint may still use the slot.
func (s *shard) finish(x *slot, err error) {
	op := x.op
	x.op, x.data = nil, nil
	s.settle(op, err)
}

// settle notes the end of op, for tell.
func (s *shard) settle(op *Op, err error) {
	s.counts.ended++
	if err != nil {
		s.counts.failed++
		op.Err = &Error{op.Kind, op.Peer, err}
	}
	s.done = append(s.done, op)
}

// vacate frees slot i, released by the endpoint.
func (s *shard) vacate(i uint32) {
	x := &s.slots[i]
	if x.orphan {
		s.orphans--
	}
	x.used, x.orphan, x.op, x.data = false, false, nil, nil
	s.free = append(s.free, i)
}

// tell tells the callers of operations that are over and reports whether goroutines waited. The
// callers may begin more operations.
func (s *shard) tell() (waited bool) {
	for {
		s.mu.Lock()
		s.telling = len(s.done) > 0
		if !s.telling {
			wake := false
			if s.begun { // callers just told of ends have begun operations
				s.begun = false
				now := s.node.now()
				s.launch(now)
				wake = s.arms(now)
			}
			s.mu.Unlock()
			if wake {
				s.port.Wake()
			}
			return waited
		}
		last := len(s.done) - 1
		op := s.done[last]
		s.done = s.done[:last]
		s.mu.Unlock()
		s.leave()
		if op.Done != nil {
			op.Done(op)
		} else {
			op.over <- struct{}{}
			waited = true
		}
	}
}

// poll takes completions, and begins operations that waited for room.
func (s *shard) poll(now int64) {
	some := false
	for ev, ok := s.ep.Poll(); ok; ev, ok = s.ep.Poll() {
		some = true
		if x := s.slotOf(ev.Cookie); x != nil && !ev.Unpaused && (ev.Message != 0 || ev.Received && x.recv) {
			s.complete(x, &ev)
		}
	}
	if len(s.stalled) > 0 && (some || len(s.free) > 0) {
		all := s.stalled
		s.stalled = s.spare[:0]
		for i, op := range all {
			if room, err := s.start(now, op); !room {
				s.stall(op)
			} else if err != nil {
				s.settle(op, err)
			}
			all[i] = nil
		}
		s.spare = all[:0]
	}
	begun := 0
	for _, op := range s.queued { // none has a buffer before the first
		room, err := s.start(now, op)
		if !room {
			break
		}
		if begun++; err != nil {
			s.settle(op, err)
		}
	}
	s.queued = slices.Delete(s.queued, 0, begun)
}

// complete ends the operation of a slot as an event says.
func (s *shard) complete(x *slot, ev *uetcc.Event) {
	i := uint32(ev.Cookie)
	if op := x.op; op != nil && op.Kind == OpSend && unmatched(ev) {
		op.gen = 0
		s.stalled = append(s.stalled, op) // from the start, since a peer that has begun again remembers no send
	} else if op != nil {
		switch {
		case ev.Outcome.Status == ses.StatusOK && op.Kind == OpAtomic:
			op.Old = binary.BigEndian.Uint64(op.old[:])
		case op.Kind == OpRead:
			op.N = int(ev.Outcome.Length)
		}
		ev.Peer, ev.Cookie = op.Peer.Addr(), 0 // not the endpoint's number, nor ours
		err := ev.Err()
		if op.Kind == OpSend && ev.Outcome.Code == ses.RCHostUnsuccessCmpl {
			err = fmt.Errorf("%w by the receiver", uetcc.ErrCancelled)
		}
		if full := min(len(op.Data), s.node.options.MTU); full > 1024 && errors.Is(err, uetcc.ErrNoAnswer) {
			err = fmt.Errorf("%w, and Options.MTU if the path may not take packets with %d bytes of payload", err, full)
		}
		s.finish(x, err)
	}
	s.vacate(i)
}

// unmatched reports whether a send has ended for want of a Recv: none came for too long, or the peer
// remembers no more sends.
func unmatched(ev *uetcc.Event) bool {
	return ev.Cause == pdc.CauseMessageTimeout || ev.Outcome.Status == ses.StatusFailed && ev.Outcome.Code == ses.RCNoMatch
}
