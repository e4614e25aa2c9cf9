// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// plainly acknowledges the next few packets of PDC id, as most acknowledgements do.
func (s *sourcePeer) plainly(id int) Datagram {
	rng := s.rng
	k := min(uint32(s.next[id]-1-s.cack[id]), 1+rng.Uint32N(4))
	s.cack[id] += pds.PSN(k)
	a := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: pds.PDCID(id + 100), DPDCID: pds.PDCID(id), CACK: s.cack[id]}, SACK: pds.SACK{MPR: 8}}
	if rng.IntN(16) == 0 {
		a.Flags = pds.FlagM
	}
	s.tells(&a, pds.NSCCState{ServiceTime: uint16(rng.Uint32N(20)), OOOCount: s.overtaken(8)})
	y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, JobID: 1, MessageID: s.sent[id][s.cack[id]]}
	return Datagram{Src: s.addr[id], Size: 116, Packet: y.AppendTo(a.AppendTo(nil))}
}

// together returns how many packets in begins with ExchangeBatch takes in together.
func together(in []Datagram) int {
	name := func(d *Datagram) (x struct{ src, pdcs, state, response string }, ok bool) {
		var a pds.AckCC
		b := d.Packet
		if n, err := a.Decode(b); err != nil || d.Trimmed != 0 || len(b)-n < ses.ResponseLen || !(*view.AckCC)(b).Plain() || !(*view.AckCC)(b).Cumulative() {
			return x, false
		}
		x.src, x.pdcs, x.state, x.response = fmt.Sprint(d.Src), string(b[8:12]), a.CCType.String(), string(b[pds.AckCCLen:][:8])
		return x, true
	}
	n := 1
	for first, ok := name(&in[0]); ok && n < min(len(in), 32); n++ {
		if x, ok := name(&in[n]); !ok || x != first {
			break
		}
	}
	return n
}

// Exchange and ExchangeBatch leave behind, and say, what Receive and TransmitBatch do,
// while windows are full and messages long, and with everything that may come between.
func TestExchangeIsReceiveAndTransmit(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"small window":              func(*Config) {},
		"defaults":                  func(c *Config) { c.CC.NSCC.LinkRate = 40e10 },
		"infer losses":              func(c *Config) { c.PDS.InferLoss = true },
		"infer losses, other draws": func(c *Config) { c.PDS.InferLoss = true },
		"unknown network": func(c *Config) {
			c.CC.NSCC.Trimming, c.CC.NSCC.InitialCwnd = false, 24_000
		},
		"bitmap":    func(c *Config) { c.CC.Entropy.Scheme = ccc.SchemeBitmap },
		"reps":      func(c *Config) { c.CC.Entropy.Scheme = ccc.SchemeREPS },
		"mixed":     func(c *Config) { c.CC.Entropy.Scheme = ccc.SchemeMixed },
		"adaptive":  func(c *Config) { c.CC.NSCC.Profile = nscc.ProfileAdaptive },
		"only full": func(c *Config) { c.CC.NSCC.GrowOnlyFull = true },
		"algorithm": func(c *Config) {
			c.Algorithm = func(ccc.Key) ccc.Algorithm { return &quota{window: 26_000} }
		},
		"algorithm alone": func(c *Config) {
			c.CC.Control = ccc.ControlNone
			c.Algorithm = func(ccc.Key) ccc.Algorithm { return &quota{window: 26_000} }
		},
		"credit":            func(c *Config) { c.CC.Control = ccc.ControlRCCC },
		"credit and window": func(c *Config) { c.CC.Control, c.CC.NSCC.LinkRate = ccc.ControlBoth, 40e10 },
		"ordered":           func(*Config) {},
		"observe":           func(c *Config) { c.CC.Mode = ccc.ModeObserve },
		"few chunks":        func(c *Config) { c.CC.NSCC.LinkRate, c.Memory.Chunks = 40e10, 8 },
		"batches":           func(c *Config) { c.CC.NSCC.LinkRate = 160e10 },
		"sprayed":           func(c *Config) { c.CC.NSCC.LinkRate = 160e10 },
		"tapped":            func(c *Config) { c.Tap = func(int64, bool, Datagram) {} }, // the short ways are taken all the same
		"short":             func(c *Config) { c.CC.NSCC.LinkRate = 160e10 },
	} {
		t.Run(name, func(t *testing.T) {
			rng, steps, pause := rand.New(rand.NewPCG(7, 8)), 8_000, 300
			infers := strings.HasPrefix(name, "infer losses")
			if name == "infer losses, other draws" {
				rng = rand.New(rand.NewPCG(7, 11))
			}
			if infers || name == "unknown network" {
				steps, pause = 32_000, 1000 // few packets are overtaken by so much that they are lost
			}
			a, b := newSourceTwin(t, edit), newSourceTwin(t, edit)
			a.e.loader.prefetched = 0 // as with many PDCs
			peer := sourcePeer{rng: rng, lends: strings.HasPrefix(name, "credit")}
			sprays, short := name == "sprayed", name == "short"
			if sprays {
				steps = 32_000 // a run seldom ends where a row does, with what is behind acknowledged
			}
			exchanged, runs, ahead, ended := 0, 0, 0, 0
			var got [40]Received // more than are taken in together
			var reply [40]Datagram
			for i := range reply {
				reply[i].Packet = make([]byte, 0, HeaderMax)
			}
			for now, step := int64(1000), 0; step < steps; step++ {
				now += int64(rng.IntN(pause))
				for short && a.e.source.sender.Messages() < 10 && rng.IntN(4) != 0 {
					m := Message{To: Destination{Address: sourceAddr(1), Job: 1}, Length: rng.Uint32N(2) * 64, Cookie: rng.Uint64()}
					_, errA := a.e.Write(now, &m)
					_, errB := b.e.Write(now, &m)
					require.Equal(t, errB, errA)
				}
				if a.e.source.sender.Messages() < 4 {
					m := Message{To: Destination{Address: sourceAddr(1 + rng.IntN(3)), Job: 1}, Length: rng.Uint32N(1 << uint(12+rng.IntN(9))), Cookie: rng.Uint64()}
					if name == "ordered" {
						m.Mode = ses.ModeROD
					}
					ha, errA := a.e.Write(now, &m)
					hb, errB := b.e.Write(now, &m)
					require.Equal(t, errB, errA)
					require.Equal(t, hb, ha)
				}
				if rng.IntN(64) == 0 {
					m := Message{To: Destination{Address: sourceAddr(1), Job: 1}, Mode: ses.ModeUUD, Length: 100}
					_, errA := a.e.Send(now, &m)
					_, errB := b.e.Send(now, &m)
					require.Equal(t, errB, errA)
				}
				id, most := 1+rng.IntN(3), rng.IntN(len(a.out))
				n := a.e.TransmitBatch(now, a.out[:most])
				require.Equal(t, n, b.e.TransmitBatch(now, b.out[:most]))
				peer.both(t, a, b, n)
				if rng.IntN(2) != 0 && peer.sent[id] != nil {
					in := peer.several(id, 8, sprays)
					if rng.IntN(64) == 0 {
						in = slices.Repeat([]Datagram{peer.plainly(id)}, len(reply))
					}
					for i := range in {
						got[i], reply[i].Packet, reply[i].Payload = dirtyReceived(), reply[i].Packet[:1], Payload{Length: 1}
					}
					now += 3000 // more than any service time
					run := a.e.pds.Fast().Run()
					run.Most, a.e.loader.ahead.end = 0, 0
					if n = 0; len(in) == 1 {
						n = a.e.Exchange(now, &in[0], &reply[0], &got[0], a.out[:most])
					} else {
						n = a.e.ExchangeBatch(now, in, reply[:], got[:], a.out[:most])
					}
					if run.Most != 0 && most == 1 { // a run of one is no run
						exchanged++
					}
					if run.Acks > 1 && run.Most == 0 && n == 0 {
						ended++
					}
					if a.e.loader.ahead.end != 0 {
						ahead++
						require.Equal(t, a.e.loader.ahead.end, a.e.loader.ahead.next)
					}
					sent := 0
					for i := 0; i < len(in); {
						k := together(in[i:])
						for range k {
							b.e.Receive(now, &in[i], &b.reply, &b.r)
							require.Equal(t, b.r, got[i])
							require.Equal(t, b.reply, reply[i])
							i++
						}
						if k > 1 && n > 0 {
							runs++
						}
						sent += b.e.TransmitBatch(now, b.out[sent:most])
					}
					require.Equal(t, sent, n)
					peer.both(t, a, b, n)
				}
				if rng.IntN(100) == 0 {
					a.e.Tick(now)
					b.e.Tick(now)
				}
				requireSources(t, a.e, b.e, step%128 == 0)
			}
			if short {
				require.Greater(t, ended, 50)
				return
			}
			require.Greater(t, exchanged, 20)
			require.Equal(t, infers || name == "unknown network", a.e.PDS().Stats().Inferred > 20, "recoveries are part of it")
			require.Greater(t, runs, 20)
			require.Greater(t, ahead, 20)
		})
	}
}

// several acknowledges packets of PDC id, and perhaps of others, at most so many times.
func (s *sourcePeer) several(id, most int, sprays bool) (in []Datagram) {
	for range 1 + s.rng.IntN(2)*s.rng.IntN(most) {
		say := s.plainly
		if sprays && s.rng.IntN(4) == 0 {
			say = s.ahead
		}
		if s.rng.IntN(20) == 0 {
			say = s.answer
		}
		in = append(in, say(id))
		if k := 1 + s.rng.IntN(3); s.rng.IntN(4) == 0 && s.sent[k] != nil {
			id = k
		}
	}
	return in
}

// both takes note of n packets that both twins have sent.
func (s *sourcePeer) both(t *testing.T, a, b *sourceTwin, n int) {
	t.Helper()
	for i := range n {
		require.Equal(t, b.out[i], a.out[i])
		s.sees(&a.out[i])
	}
}

// ahead acknowledges one packet of PDC id by itself, a few in front of the others.
func (s *sourcePeer) ahead(id int) Datagram {
	k := pds.PSN(1 + s.rng.Uint32N(6))
	if s.next[id]-s.cack[id] <= k+1 {
		return s.plainly(id)
	}
	psn := s.cack[id] + 1 + k
	a := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: pds.PDCID(id + 100), DPDCID: pds.PDCID(id), CACK: s.cack[id], Offset: int16(psn - s.cack[id])}, SACK: pds.SACK{MPR: 8}}
	a.SACKOffset, a.Bitmap = int16(psn-s.cack[id]), 1
	s.tells(&a, pds.NSCCState{ServiceTime: uint16(s.rng.Uint32N(20))})
	y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, JobID: 1, MessageID: s.sent[id][psn]}
	return Datagram{Src: s.addr[id], Size: 116, Packet: y.AppendTo(a.AppendTo(nil))}
}

func newRoom() Datagram { return Datagram{Packet: make([]byte, 0, HeaderMax)} }

func TestExchangeAllocatesNothing(t *testing.T) {
	t.Run("window", func(t *testing.T) { exchangeAllocatesNothing(t, ccc.ControlNSCC) })
	t.Run("credit", func(t *testing.T) { exchangeAllocatesNothing(t, ccc.ControlRCCC) })
}

func exchangeAllocatesNothing(t *testing.T, control ccc.Control) {
	w, in := longWrite(t, func(c *Config) { c.CC.Control = control })
	acknowledge := func(in *Datagram, cack uint32) {
		binary.BigEndian.PutUint32(in.Packet[4:], cack)
		if v := (*view.AckCC)(in.Packet); control == ccc.ControlRCCC {
			v.SetSACK(pds.CCCredit, 8, 0, 0)
			v.SetCredit(&pds.CreditState{Credit: (cack + 8) * nextMTU / 128})
		}
	}
	sent, now := uint32(0), int64(0)
	count := func(n int) {
		for i := range n {
			if pds.Type(w.out[i].Packet[0] >> 3).IsRequest() {
				sent++
			}
		}
	}
	count(w.e.TransmitBatch(0, w.out[:]))
	for most := range w.out {
		alloctest.Zero(t, "exchange", func() {
			now += 100
			acknowledge(&in, sent-1)
			count(w.e.Exchange(now, &in, &w.reply, &w.r, w.out[:1+most]))
			if w.r.Err != nil {
				panic(w.r.Err)
			}
		})
	}
	batch, reply := [2]Datagram{in, in}, [2]Datagram{newRoom(), newRoom()}
	batch[1].Packet = bytes.Clone(in.Packet)
	var got [2]Received
	for most := range w.out {
		alloctest.Zero(t, "exchange of a batch", func() {
			now += 100
			acknowledge(&batch[0], sent-2)
			acknowledge(&batch[1], sent-1)
			count(w.e.ExchangeBatch(now, batch[:], reply[:], got[:], w.out[:1+most]))
			if got[1].Err != nil {
				panic(got[1].Err)
			}
		})
	}
	require.Greater(t, sent, uint32(2000))
}
