package uetcc

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/alloctest"
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
	a.SetNSCC(&pds.NSCCState{ServiceTime: uint16(rng.Uint32N(20))})
	y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, JobID: 1, MessageID: s.sent[id][s.cack[id]]}
	return Datagram{Src: s.addr[id], Size: 116, Packet: y.AppendTo(a.AppendTo(nil))}
}

// Exchange leaves behind, and says, what Receive and TransmitBatch do, while windows are
// full and messages long, and with everything that may come between.
func TestExchangeIsReceiveAndTransmit(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"small window": func(*Config) {},
		"defaults":     func(c *Config) { c.CC.NSCC.LinkRate = 40e10 },
		"infer losses": func(c *Config) { c.PDS.InferLoss = true },
		"bitmap":       func(c *Config) { c.CC.Entropy.Scheme = ccc.SchemeBitmap },
		"observe":      func(c *Config) { c.CC.Mode = ccc.ModeObserve },
		"few chunks":   func(c *Config) { c.CC.NSCC.LinkRate, c.Memory.Chunks = 40e10, 8 },
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 8))
			a, b := newSourceTwin(t, edit), newSourceTwin(t, edit)
			peer := sourcePeer{rng: rng}
			exchanged := 0
			for now, step := int64(1000), 0; step < 8_000; step++ {
				now += int64(rng.IntN(300))
				if a.e.sender.Messages() < 4 {
					m := Message{To: Destination{Address: sourceAddr(1 + rng.IntN(3)), Job: 1}, Length: rng.Uint32N(1 << uint(12+rng.IntN(9))), Cookie: rng.Uint64()}
					ha, errA := a.e.Write(now, &m)
					hb, errB := b.e.Write(now, &m)
					require.Equal(t, errB, errA)
					require.Equal(t, hb, ha)
				}
				say, id, most := peer.plainly, 1+rng.IntN(3), rng.IntN(len(a.out))
				if rng.IntN(20) == 0 {
					say = peer.answer
				}
				if n := a.e.TransmitBatch(now, a.out[:most]); rng.IntN(2) == 0 || peer.sent[id] == nil {
					require.Equal(t, n, b.e.TransmitBatch(now, b.out[:most]))
					peer.both(t, a, b, n)
				} else {
					require.Equal(t, n, b.e.TransmitBatch(now, b.out[:most]))
					peer.both(t, a, b, n)
					in := say(id)
					now += 3000 // more than any service time
					const none = 99
					a.e.run.N = none
					n := a.e.Exchange(now, &in, &a.reply, &a.r, a.out[:most])
					if a.e.run.N != none && most == 1 { // a run of one is no run
						exchanged++
					}
					b.e.Receive(now, &in, &b.reply, &b.r)
					require.Equal(t, n, b.e.TransmitBatch(now, b.out[:most]))
					require.Equal(t, b.r, a.r)
					require.Equal(t, b.reply, a.reply)
					peer.both(t, a, b, n)
				}
				if rng.IntN(100) == 0 {
					a.e.Tick(now)
					b.e.Tick(now)
				}
				requireSources(t, a.e, b.e, step%32 == 0)
			}
			general := name == "infer losses" || name == "bitmap" || name == "observe"
			require.Equal(t, !general, exchanged > 20, exchanged)
		})
	}
}

// both takes note of n packets that both twins have sent.
func (s *sourcePeer) both(t *testing.T, a, b *sourceTwin, n int) {
	t.Helper()
	for i := range n {
		require.Equal(t, b.out[i], a.out[i])
		s.sees(&a.out[i])
	}
}

func TestExchangeAllocatesNothing(t *testing.T) {
	w, in := longWrite(t)
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
			binary.BigEndian.PutUint32(in.Packet[4:], sent-1)
			count(w.e.Exchange(now, &in, &w.reply, &w.r, w.out[:1+most]))
			if w.r.Err != nil {
				panic(w.r.Err)
			}
		})
	}
	require.Greater(t, sent, uint32(2000))
}
