// SPDX-License-Identifier: Apache-2.0

// Package quicsender lets the window of package nscc govern a QUIC connection: a [Sender]
// is a congestion control for sagernet's fork of quic-go, where a congestion control can be
// set at run time.
//
//	connection.SetCongestionControl(quicsender.New(&params, time.Now()))
//
// The package shows how little a foreign transport has to tell the window. Missing facts make
// the control coarse: an acknowledgement covers tens of packets and brings a single round
// trip for all of them, and marks are counted by acknowledgement, not by packet.
//
// The package is a separate module, so users of the engine do not depend on QUIC.
package quicsender

import (
	"time"

	"github.com/sagernet/quic-go/congestion"

	"github.com/uetcc/uetcc/nscc"
)

// A Sender is the congestion control of one connection, and implements
// congestion.CongestionControlEx. The connection calls the methods, never concurrently.
type Sender struct {
	p      *nscc.Params
	w      nscc.Window
	rtt    congestion.RTTStatsProvider
	began  time.Time
	first  congestion.PacketNumber // what was sent before is not counted in flight here
	counts bool                    // first is known
	marked bool                    // the acknowledgement that is being taken in brings marks
}

var _ congestion.CongestionControlEx = (*Sender)(nil)

// New returns a sender with a first window of p, whose Profile ought to be
// [nscc.ProfileAdaptive]: the networks of QUIC do not trim. Times of p are nanoseconds; p's
// MTU is at least the largest datagram.
func New(p *nscc.Params, now time.Time) *Sender {
	s := &Sender{p: p, began: now}
	s.w.Init(p, 0, 0)
	return s
}

// Window reads the state of the window. Only the connection's goroutine may call Window,
// unless the connection rests.
func (s *Sender) Window() nscc.Snapshot { return s.w.Snapshot() }

// SetRTTStatsProvider takes the source of round trips.
func (s *Sender) SetRTTStatsProvider(p congestion.RTTStatsProvider) { s.rtt = p }

// CanSend reports whether the window has room for one more packet. The connection gives the
// bytes in flight, including bytes sent before the window began.
func (s *Sender) CanSend(inFlight congestion.ByteCount) bool {
	return inFlight+congestion.ByteCount(s.p.MTU()) <= s.GetCongestionWindow()
}

// OnPacketSent counts a packet. Packets never acknowledged do not count.
func (s *Sender) OnPacketSent(
	_ time.Time, _ congestion.ByteCount, n congestion.PacketNumber, size congestion.ByteCount, answered bool,
) {
	if !answered {
		return
	}
	if !s.counts {
		s.first, s.counts = n, true
	}
	s.w.OnSend(int64(size))
}

// OnCongestionEvent takes in a lost packet, or notes a mark, reported by the connection as a
// loss of 0 bytes.
func (s *Sender) OnCongestionEvent(n congestion.PacketNumber, lost, _ congestion.ByteCount) {
	switch {
	case lost == 0:
		s.marked = true
	case s.knows(n):
		s.w.OnInferredLoss(s.p, int64(lost))
	}
}

// OnCongestionEventEx takes in an acknowledgement. OnCongestionEvent has reported the losses
// already, including losses found by a timer, but not probes of the path's MTU.
func (s *Sender) OnCongestionEventEx(
	inFlight congestion.ByteCount, t time.Time, acked []congestion.AckedPacketInfo, _ []congestion.LostPacketInfo,
) {
	s.forget(s.w.Inflight() - int64(inFlight))
	a := nscc.Ack{RTT: int64(s.rtt.LatestRTT()), ECN: s.marked}
	for _, k := range acked {
		if s.knows(k.PacketNumber) {
			a.Bytes += int64(k.BytesAcked)
		}
	}
	if len(acked) > 0 {
		s.marked = false
		s.w.OnACK(s.p, int64(t.Sub(s.began)), a)
	}
}

// forget takes bytes out of flight unreported by the connection: lost probes of the
// path's MTU, and packets whose data a probe time-out has sent again.
func (s *Sender) forget(bytes int64) {
	if bytes > 0 {
		v := s.w.Snapshot()
		v.Inflight -= bytes
		s.w.Resume(s.p, v)
	}
}

func (s *Sender) knows(n congestion.PacketNumber) bool { return s.counts && n >= s.first }

// GetCongestionWindow returns the window in bytes, at least two datagrams (RFC 9002, section
// 7.2): a receiver acknowledges every second packet at once, and a lone packet after 25 ms.
func (s *Sender) GetCongestionWindow() congestion.ByteCount {
	return congestion.ByteCount(max(s.w.Cwnd(), 2*s.p.MTU()))
}

// TimeUntilSend returns no time: the window does not pace.
func (s *Sender) TimeUntilSend(congestion.ByteCount) time.Time { return time.Time{} }

// HasPacingBudget is always true.
func (s *Sender) HasPacingBudget(time.Time) bool { return true }

// InSlowStart is never true: the window knows no such phase.
func (s *Sender) InSlowStart() bool { return false }

// InRecovery is never true.
func (s *Sender) InRecovery() bool { return false }

// MaybeExitSlowStart does nothing.
func (s *Sender) MaybeExitSlowStart() {}

// OnPacketAcked does nothing: OnCongestionEventEx reports whole acknowledgements.
func (s *Sender) OnPacketAcked(congestion.PacketNumber, congestion.ByteCount, congestion.ByteCount, time.Time) {
}

// OnRetransmissionTimeout does nothing: the connection makes no such call.
func (s *Sender) OnRetransmissionTimeout(bool) {}

// SetMaxDatagramSize does nothing: the largest datagram is part of the parameters.
func (s *Sender) SetMaxDatagramSize(congestion.ByteCount) {}
