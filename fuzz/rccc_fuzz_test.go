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
	f.Add([]byte{2, 0, 0, 0, 0, 255, 255, 0, 2, 1, 0, 0, 5, 255, 255, 9}) // no context there, overdrawn
	f.Fuzz(func(t *testing.T, script []byte) {
		p, err := rccc.NewParams(rccc.Config{MaxCredit: creditW, MTU: creditMTU, RTT: creditRTT})
		require.NoError(t, err)
		var s rccc.Source
		s.Init(&p)
		credit, cum, startup := int64(creditW), uint32(0), true
		leave := func() {
			if startup {
				startup, credit = false, min(credit, 0)
			}
		}
		now := int64(0)
		for ; len(script) >= 4; script = script[4:] {
			v := binary.LittleEndian.Uint32(script) >> 8
			now += int64(v)
			switch script[0] % 7 {
			case 0:
				size := int64(v%creditMTU) + 1
				if s.CanSend() {
					s.OnSend(size)
					credit -= size
				}
			case 1:
				s.OnACK()
				leave()
			case 2, 3:
				present, size := v&1 == 0, int64(v%creditMTU)
				s.OnLoss(&p, size, present)
				if present {
					leave()
				} else if startup {
					credit = min(credit+size, creditW)
				} else {
					credit = max(credit, min(credit+size, 0))
				}
			case 4:
				s.OnCreditUpdate(&p, rccc.Quanta(v).Extend(s.Cum()))
				leave()
				diff := (v - cum) & 0xff_ffff
				if diff > 0 && diff < 1<<23 && int64(diff)*256 <= 4*creditW {
					credit, cum = min(creditW, credit+256*int64(diff)), v
				}
			case 5:
				d := rccc.Demand{Backlog: int64(v) << 20, Rtx: int64(v), Cwnd: int64(v & 0xffff), Ports: int64(v & 7)}
				ahead := s.Target(&p, d) - s.Cum()
				if ahead > creditW+creditMTU+255 || ahead < -creditW-255 {
					t.Fatalf("target %d ahead", ahead)
				}
			case 6:
				s.Settle(&p, now, int64(v&1))
				if due, armed := s.Deadline(); armed && (s.Credit() > 0 || due > now+64*creditRTT) {
					t.Fatalf("timer at %d, now %d, credit %d", due, now, s.Credit())
				}
				s.RequestDue(&p, now)
			}
			if s.Credit() != credit || rccc.QuantaOf(s.Cum()) != rccc.Quanta(cum) || s.Startup() != startup {
				t.Fatalf("%+v, want credit %d cum %d startup %v", s, credit, cum, startup)
			}
			if credit > creditW || credit <= -creditMTU {
				t.Fatalf("credit %d", credit)
			}
		}
	})
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
		m := plainPull{senders: map[rccc.Handle]*plainSender{}}
		var handles []rccc.Handle
		now, busy := int64(0), int64(0) // busy is when the credit granted will have been used, ps
		for ; len(script) >= 2; script = script[2:] {
			op, v := script[0], int64(script[1])
			switch {
			case op >= 0x80 && len(handles) > 0:
				h := handles[int(op>>5&3)%len(handles)]
				kind := rccc.Arrival(op % 3)
				target := m.senders[h].cum + (v-64)*1024
				require.True(t, r.OnArrival(h, now, kind, target))
				m.arrive(h, min(target, r.Target(h)), kind != rccc.ArrivalData)
			case op%8 == 0:
				weight := v%3 + 1
				h, err := r.Add(now, uint16(weight), (v-128)*256)
				if len(handles) == 4 {
					require.ErrorIs(t, err, rccc.ErrFull)
					continue
				}
				require.NoError(t, err)
				handles = append(handles, h)
				m.senders[h] = &plainSender{cum: (v - 128) * 256, target: (v - 128) * 256, weight: weight, left: weight}
			case op%8 == 1 && len(handles) > 0:
				i := int(v) % len(handles)
				require.True(t, r.Remove(handles[i]))
				require.False(t, r.Remove(handles[i]))
				m.remove(handles[i])
				handles = slices.Delete(handles, i, i+1)
			case op%8 == 4:
				r.SetFactor(float64(v) / 200)
			default:
				now += v * 16
				pace := r.Pace()
				for g, ok := r.Poll(now); ok; g, ok = r.Poll(now) {
					h, bytes, cum := m.grant()
					if g.Sender != h || g.Bytes != bytes || g.Cum != cum || g.Wait != pace.TimeFor(bytes) {
						t.Fatalf("%+v, want %v %d %d", g, h, bytes, cum)
					}
					if now*1000 < busy {
						t.Fatalf("granted at %d ns, busy until %d ps", now, busy)
					}
					busy = now*1000 + g.Wait - 999
				}
			}
			if a, i := r.Senders().Len(rccc.ListActive), r.Senders().Len(rccc.ListIdle); a != len(m.active) || i != len(m.idle) {
				t.Fatalf("%d active, %d idle, want %v and %v", a, i, m.active, m.idle)
			}
			if _, awake := r.Deadline(); !awake && len(m.active) > 0 {
				t.Fatal("asleep with work to do")
			}
		}
	})
}
