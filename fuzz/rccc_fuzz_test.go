// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/rccc"
)

// FuzzRCCCSource compares a Source with the credit rule in the wire's own
// arithmetic, modulo 2^24 quanta, whatever a peer sends.
func FuzzRCCCSource(f *testing.F) {
	f.Add([]byte{0, 16, 54, 0, 1, 0, 0, 0, 4, 81, 0, 0})                  // send, ACK, credit
	f.Add([]byte{1, 0, 0, 0, 4, 0xf0, 0xff, 0xff, 4, 48, 0, 0})           // old value, far value
	f.Add([]byte{4, 0x30, 0x0b, 0})                                       // as far as only a large grant gets
	f.Add([]byte{2, 0, 0, 0, 0, 255, 255, 0, 2, 1, 0, 0, 5, 255, 255, 9}) // no context there, overdrawn
	f.Add([]byte{3, 16, 54, 0, 1, 0, 0, 0, 3, 16, 54, 0, 6, 16, 0, 0})    // no PDC, at the start and later; what is settled
	f.Fuzz(func(t *testing.T, script []byte) {
		p, err := rccc.NewParams(rccc.Config{MaxCredit: creditW, MTU: creditMTU, RTT: creditRTT})
		require.NoError(t, err)
		var s rccc.Source
		s.Init(&p)
		m := plainSource{credit: creditW, startup: true}
		now := int64(0)
		for ; len(script) >= 4; script = script[4:] {
			op, v := script[0]%7, binary.LittleEndian.Uint32(script)>>8
			now += int64(v)
			switch {
			case op <= 4:
				m.step(&s, &p, op, v)
			case op == 5:
				askSource(t, &s, &p, v)
			default:
				m.settle(t, &s, &p, now, v)
			}
			if s.Credit() != m.credit || rccc.QuantaOf(s.Cum()) != rccc.Quanta(m.cum) || s.Startup() != m.startup {
				t.Fatalf("%+v, want %+v", s, m)
			}
			if m.credit > creditW || m.credit <= -creditMTU {
				t.Fatalf("credit %d", m.credit)
			}
		}
	})
}

// A plainSource is the credit rule, with totals as they are on the wire.
type plainSource struct {
	credit  int64
	cum     uint32 // quanta
	startup bool
	asked   int // requests since the last newer credit
}

// step does to s and to m what op says with v: send, an ACK, a loss, a credit.
func (m *plainSource) step(s *rccc.Source, p *rccc.Params, op uint8, v uint32) {
	size := int64(v % creditMTU)
	switch op {
	case 0:
		if s.CanSend() {
			s.OnSend(size + 1)
			m.credit -= size + 1
		}
	case 1:
		s.OnACK()
		m.leaveStartup()
	case 2:
		s.OnLoss()
		m.leaveStartup()
	case 3:
		s.OnNoPDC(p, size)
		if m.startup {
			m.credit = min(m.credit+size, creditW)
		} else {
			m.credit = max(m.credit, min(m.credit+size, 0))
		}
	case 4:
		s.OnCreditUpdate(p, rccc.Quanta(v).Extend(s.Cum()))
		m.leaveStartup()
		diff := (v - m.cum) & 0xff_ffff
		if diff > 0 && diff < 1<<23 && (m.asked >= 2 || int64(diff)*256 <= 4*creditW+1<<18) { // the largest grant
			m.credit, m.cum, m.asked = min(creditW, m.credit+256*int64(diff)), v, 0
		}
	}
}

func (m *plainSource) leaveStartup() {
	if m.startup {
		m.startup, m.credit = false, min(m.credit, 0)
	}
}

// askSource asks s what it wants of its destination.
func askSource(t *testing.T, s *rccc.Source, p *rccc.Params, v uint32) {
	d := rccc.Demand{Backlog: int64(v) << 20, Rtx: int64(v), Cwnd: int64(v & 0xffff), Contexts: int64(v & 7)}
	if ahead := s.Target(p, d) - s.Cum(); ahead > creditW+creditMTU+255 || ahead < -creditW-255 {
		t.Fatalf("target %d ahead", ahead)
	}
}

// settle has s look at its timer. Requests that nobody answers come at least each 64 round
// trips, after 249 of them half as often with each further one, five times.
func (m *plainSource) settle(t *testing.T, s *rccc.Source, p *rccc.Params, now int64, v uint32) {
	s.Settle(p, now, int64(v&1))
	if due, armed := s.Deadline(); armed && (s.Credit() > 0 || due > now+32*64*creditRTT) {
		t.Fatalf("timer at %d, now %d, credit %d", due, now, s.Credit())
	}
	if s.RequestDue(p, now) {
		m.asked++
	}
}

// plainSender and plainPull are round robin with spare credit, written for
// reading: slices, no links.
type plainSender struct {
	cum, target  int64
	weight, left int64
	owed         bool
}

type plainPull struct {
	active, idle []rccc.Handle
	senders      map[rccc.Handle]*plainSender
}

func without(list []rccc.Handle, h rccc.Handle) []rccc.Handle {
	return slices.DeleteFunc(slices.Clone(list), func(x rccc.Handle) bool { return x == h })
}

func (m *plainPull) remove(h rccc.Handle) {
	m.active, m.idle = without(m.active, h), without(m.idle, h)
	delete(m.senders, h)
}

func (m *plainPull) arrive(h rccc.Handle, target int64, owed bool) {
	s := m.senders[h]
	newer := target > s.target
	s.target = max(s.target, target)
	s.owed = s.owed || owed
	switch {
	case !newer && !owed, slices.Contains(m.active, h):
	case s.owed || s.target > s.cum:
		m.idle = without(m.idle, h)
		m.active = append(m.active, h)
		s.left = s.weight
	case !slices.Contains(m.idle, h) && s.cum-s.target < creditW/256*256:
		m.idle = append(m.idle, h)
	}
}

func (m *plainPull) grant() (h rccc.Handle, bytes, cum int64) {
	const w = creditW / 256 * 256
	if len(m.active) > 0 {
		h = m.active[0]
		s := m.senders[h]
		bytes = min(rccc.DefaultGrant, max(0, s.target-s.cum))
		s.cum += bytes
		s.owed = false
		s.left--
		if s.target <= s.cum {
			m.active = m.active[1:]
			if s.cum-s.target < w {
				m.idle = append(m.idle, h)
			}
		} else if s.left == 0 {
			m.active = append(m.active[1:], h)
			s.left = s.weight
		}
		return h, bytes, s.cum
	}
	h = m.idle[0]
	s := m.senders[h]
	s.cum += rccc.DefaultGrant
	m.idle = m.idle[1:]
	if s.cum-s.target < w {
		m.idle = append(m.idle, h)
	}
	return h, rccc.DefaultGrant, s.cum
}

// FuzzRCCCReceiver compares every decision of the receiver with the plain twin's,
// and holds the pace, under any order of joins, departures and targets.
func FuzzRCCCReceiver(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 0x80, 9, 0xc0, 9, 3, 200, 3, 200, 3, 200})
	f.Add([]byte{0, 1, 0x81, 0, 3, 255, 3, 255, 1, 0, 0, 1, 0x82, 200, 3, 9})
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0x80, 255, 0xa0, 255, 0xc0, 255, 4, 7, 3, 200, 1, 1, 3, 200, 3, 200})
	f.Fuzz(func(t *testing.T, script []byte) {
		r, err := rccc.NewReceiver(rccc.ReceiverConfig{
			Senders: 4, Rate: linkRate, MaxCredit: creditW, Timeout: 1 << 50, Policy: newPull(t),
		})
		require.NoError(t, err)
		x := receiverTwins{r: r, m: plainPull{senders: map[rccc.Handle]*plainSender{}}}
		for ; len(script) >= 2; script = script[2:] {
			x.step(t, script[0], int64(script[1]))
			m := &x.m
			if a, i := r.Senders().Len(rccc.ListActive), r.Senders().Len(rccc.ListIdle); a != len(m.active) || i != len(m.idle) {
				t.Fatalf("%d active, %d idle, want %v and %v", a, i, m.active, m.idle)
			}
			if _, awake := r.Deadline(); !awake && len(m.active) > 0 {
				t.Fatal("asleep with work to do")
			}
		}
	})
}

// receiverTwins are a receiver and its plain twin, and what both have been told.
type receiverTwins struct {
	r       *rccc.Receiver
	m       plainPull
	handles []rccc.Handle
	now     int64 // ns
	busy    int64 // when the credit granted will have been used, ps
}

// step does what op says with v: a packet, a join, a departure, another rate, time.
func (x *receiverTwins) step(t *testing.T, op uint8, v int64) {
	switch n := len(x.handles); {
	case op >= 0x80 && n > 0:
		h, kind := x.handles[int(op>>5&3)%n], rccc.Arrival(op%3)
		target := x.m.senders[h].cum + (v-64)*1024
		require.True(t, x.r.OnArrival(h, x.now, kind, target))
		x.m.arrive(h, min(target, x.r.Target(h)), kind != rccc.ArrivalData)
	case op%8 == 0:
		x.join(t, v%3+1, (v-128)*256)
	case op%8 == 1 && n > 0:
		h := x.handles[int(v)%n]
		require.True(t, x.r.Remove(h))
		require.False(t, x.r.Remove(h))
		x.m.remove(h)
		x.handles = without(x.handles, h)
	case op%8 == 4:
		x.r.SetFactor(float64(v) / 200)
	default:
		x.now += v * 16
		x.grant(t)
	}
}

func (x *receiverTwins) join(t *testing.T, weight, start int64) {
	h, err := x.r.Add(x.now, uint16(weight), start)
	if len(x.handles) == 4 {
		require.ErrorIs(t, err, rccc.ErrFull)
		return
	}
	require.NoError(t, err)
	x.handles = append(x.handles, h)
	x.m.senders[h] = &plainSender{cum: start, target: start, weight: weight, left: weight}
}

// grant has both grant what is due.
func (x *receiverTwins) grant(t *testing.T) {
	pace := x.r.Pace()
	for g, ok := x.r.Poll(x.now); ok; g, ok = x.r.Poll(x.now) {
		h, bytes, cum := x.m.grant()
		if g.Sender != h || g.Bytes != bytes || g.Cum != cum || g.Wait != pace.TimeFor(bytes) {
			t.Fatalf("%+v, want %v %d %d", g, h, bytes, cum)
		}
		if x.now*1000 < x.busy {
			t.Fatalf("granted at %d ns, busy until %d ps", x.now, x.busy)
		}
		x.busy = x.now*1000 + g.Wait - 999
	}
}
