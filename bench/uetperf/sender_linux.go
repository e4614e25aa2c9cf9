// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ses"
)

// A sender is a host that writes messages to a peer, some at a time, until enough is
// written or the sender is told to stop.
type sender struct {
	*host
	message uetcc.Message
	base    uint64   // of the peer's memory that is this sender's
	slots   []uint64 // offsets in the memory of messages that are not under way
	depth   int      // slots in all
	left    int64    // bytes that are still to be written

	view              ccc.View
	context           ccc.Handle
	acks              int64 // when the last round trip was measured
	rtt               histogram
	windows           int64 // summed over the samples of rtt
	began, ended      int64
	delivered         int64 // bytes of completed messages
	messages, retries int64
	failed            error // of the first message that failed
}

// newSender makes a sender on h, whose memory is depth messages, of total bytes to a peer.
func newSender(h *host, to netip.Addr, depth int, base, total int64) *sender {
	s := &sender{host: h, base: uint64(base), depth: depth, left: total}
	s.message.To = uetcc.Destination{Address: to, Job: job, PID: pid, Index: index}
	s.message.Length = uint32(len(h.memory) / depth)
	for i := range depth {
		s.slots = append(s.slots, uint64(i)*uint64(s.message.Length))
	}
	return s
}

// stop lets no new message begin.
func (s *sender) stop() { s.left = 0 }

// done reports whether all has been written and acknowledged.
func (s *sender) done() bool { return s.left <= 0 && len(s.slots) == s.depth }

func (s *sender) step(now int64) error {
	if err := s.host.step(now); err != nil {
		return err
	}
	s.sample()
	for ev, ok := s.Poll(); ok; ev, ok = s.Poll() {
		s.complete(now, &ev)
	}
	for s.left > 0 && len(s.slots) > 0 {
		if err := s.write(now); err != nil {
			return err
		}
	}
	return s.flush(now)
}

func (s *sender) write(now int64) error {
	last := len(s.slots) - 1
	m := s.message
	m.Cookie, m.Offset = s.slots[last], s.base+s.slots[last]
	m.Length = uint32(min(int64(m.Length), s.left))
	if _, err := s.Write(now, &m); err != nil {
		return fmt.Errorf("write to %v: %w", m.To.Address, err)
	}
	s.slots = s.slots[:last]
	s.left -= int64(m.Length)
	if s.began == 0 {
		s.began = now
	}
	return nil
}

func (s *sender) complete(now int64, ev *uetcc.Event) {
	if ev.Message == 0 { // nothing of ours
		return
	}
	s.slots = append(s.slots, ev.Cookie)
	s.messages++
	s.retries += int64(ev.Outcome.Retries)
	s.delivered += int64(ev.Outcome.Length)
	s.ended = now
	if ev.Outcome.Status != ses.StatusOK && s.failed == nil {
		s.failed = fmt.Errorf("message failed: %v", reason(ev))
		s.stop()
	}
}

// reason returns the cause of a message's failure: the target's code, or the failure of
// delivery.
func reason(ev *uetcc.Event) fmt.Stringer {
	if ev.Outcome.Status == ses.StatusFailed {
		return ev.Outcome.Code
	}
	return ev.Cause
}

// sample notes the round trip the newest acknowledgement has measured, and the window.
func (s *sender) sample() {
	if v := s.snapshot(); v.Acks != s.acks {
		s.acks = v.Acks
		s.rtt.add(v.BaseRTT + v.QDelay)
		s.windows += v.Cwnd
	}
}

// meanWindow is the congestion window when an acknowledgement came, bytes.
func (s *sender) meanWindow() int64 {
	if s.rtt.n == 0 {
		return s.snapshot().Cwnd
	}
	return s.windows / s.rtt.n
}

// snapshot looks at congestion control towards the peer: all PDCs to the peer share a
// context.
func (s *sender) snapshot() ccc.Snapshot {
	if s.context == 0 || !s.CC().Refresh(s.context, &s.view) {
		for h := range s.PDS().All() {
			info, _ := s.PDS().PDC(h)
			s.context = info.Context
			s.CC().Refresh(s.context, &s.view)
		}
	}
	return s.view.Snapshot()
}
