// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// Messages that begin in runs leave behind what they do one by one the general way, whatever lies
// between them: several packets, other destinations, errors, and no room of any kind.
func TestRunsOfMessagesAreMessages(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"defaults":     func(c *Config) { c.CC.NSCC.LinkRate = 40e10 },
		"small window": func(*Config) {},
		"few chunks":   func(c *Config) { c.Memory.Chunks = 7 },
		"many":         func(c *Config) { c.Messages, c.Memory.Chunks, c.CC.NSCC.LinkRate = 80, 200, 160e10 },
		"credit":       func(c *Config) { c.CC.Control = ccc.ControlRCCC },
		"observe":      func(c *Config) { c.CC.Mode = ccc.ModeObserve },
		"algorithm": func(c *Config) {
			c.Algorithm = func(ccc.Key) ccc.Algorithm { return &quota{window: 26_000} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 34))
			a, b := newSourceTwin(t, edit), newSourceTwin(t, edit)
			peer := sourcePeer{rng: rng, lends: name == "credit"}
			var m [40]Message
			var h [len(m)]ses.Handle
			together, refused := 0, 0
			for now, step := int64(1000), 0; step < 6000; step++ {
				now += int64(rng.IntN(400))
				k := 1 + rng.IntN(4)*rng.IntN(4)
				if name == "many" {
					k = 1 + rng.IntN(len(m))
				}
				if rng.IntN(3) != 0 {
					k = 0
				}
				some := someMessages(rng, now, m[:k], a.e, b.e)
				a.e.source.batch.N = 0
				n, err := a.e.WriteBatch(now, some, h[:])
				if a.e.source.batch.N > 1 {
					together++
				}
				for i := range min(n+1, k) {
					hb, errB := b.e.source.start(b.e.clock.read(now), &some[i], ses.OpcodeWrite)
					if i == n {
						require.Equal(t, errB, err)
						refused++
						break
					}
					require.NoError(t, errB)
					require.Equal(t, hb, h[i])
				}
				most := rng.IntN(len(a.out))
				sent := a.e.TransmitBatch(now, a.out[:most])
				require.Equal(t, sent, b.e.TransmitBatch(now, b.out[:most]))
				peer.both(t, a, b, sent)
				for id := 1; id <= 8; id++ {
					if peer.sent[id] == nil {
						continue
					}
					in := peer.plainly(id)
					if rng.IntN(32) == 0 {
						in = peer.answer(id)
					}
					a.e.Receive(now, &in, &a.reply, &a.r)
					b.e.Receive(now, &in, &b.reply, &b.r)
					require.Equal(t, b.r, a.r)
				}
				if rng.IntN(20) == 0 {
					a.e.Tick(now)
					b.e.Tick(now)
				}
				requireSources(t, a.e, b.e, step%32 == 0)
			}
			require.Greater(t, together, 100, "the test must reach what it is about")
			require.Greater(t, refused, 20, "the test must reach what it is about")
		})
	}
}

// someMessages makes messages of ends to two peers, most of one packet, most of them alike.
func someMessages(rng *rand.Rand, now int64, m []Message, ends ...*Endpoint) []Message {
	to := Destination{Job: 1, PID: ses.PIDonFEP(rng.IntN(16)), Index: ses.ResourceIndex(rng.IntN(16)), Generation: 3}
	mode := ses.ModeRUD
	for i := range m {
		if i == 0 || rng.IntN(12) == 0 {
			k := rng.IntN(3) // few PDCs: a message that waits would close others
			to.Address, to.PDC, mode = sourceAddr(1+k%2), 0, ses.Mode(k/2)
			if rng.IntN(3) != 0 {
				for _, e := range ends {
					to.PDC, _ = e.Connect(now, &Message{To: to, Mode: mode})
				}
			}
		}
		q := &m[i]
		*q = Message{To: to, Mode: mode, Key: rng.Uint64(), Offset: rng.Uint64() >> 8, Length: rng.Uint32N(nextMTU + 1), Cookie: rng.Uint64(), Initiator: rng.Uint32()}
		if rng.IntN(2) == 0 {
			q.HasData, q.HeaderData, q.DeliveryComplete, q.To.Absolute = rng.IntN(2) == 0, rng.Uint64(), rng.IntN(2) == 0, rng.IntN(2) == 0
		}
		switch d := &q.To; rng.IntN(40) {
		case 0:
			q.Length += rng.Uint32N(4 * nextMTU)
		case 1:
			d.PDC = []pdc.Handle{d.PDC + 1<<16, ^pdc.Handle(0), 0}[rng.IntN(3)] // none that there is
		case 2:
			*d = Destination{}
		case 3:
			d.Index = 1 << 12
		case 4:
			d.Job = 1 << 24
		case 5:
			d.Address, d.TC, q.Mode = sourceAddr(1), 1, ses.ModeRUD
		case 6:
			q.Mode = ses.ModeUUD
		case 7:
			if d.PDC != 0 {
				d.Context, d.Job = 1, 2
			}
		}
	}
	return m
}

// Messages of one packet begin, leave and end without an allocation.
func TestRunsOfMessagesAllocateNothing(t *testing.T) {
	w, in := longWrite(t, func(c *Config) { c.CC.NSCC.LinkRate = 160e10 })
	var m [4]Message
	var h [len(m)]ses.Handle
	for i := range m {
		m[i] = Message{To: Destination{Address: sourceAddr(2), Job: 1}, Length: 64}
	}
	p, err := w.e.Connect(0, &m[0])
	require.NoError(t, err)
	require.True(t, w.e.pds.SetStartPSN(p, 0))
	binary.BigEndian.PutUint16(in.Packet[10:], uint16(p.ID()))
	in.Src = pdc.AddrFrom(sourceAddr(2))
	now, psn, done := int64(0), uint32(0), 0
	alloctest.Zero(t, "a run", func() {
		now += 1000
		if n, err := w.e.WriteBatch(now, m[:], h[:]); err != nil || n != len(m) {
			panic(err)
		}
		for ends := done + len(m); done < ends; {
			for i := range w.e.TransmitBatch(now, w.out[:]) {
				out := &w.out[i]
				if out.Dst != in.Src || !pds.Type(out.Packet[0]>>3).IsRequest() {
					continue
				}
				binary.BigEndian.PutUint32(in.Packet[4:], psn)
				copy(in.Packet[pds.AckCCLen+2:][:2], out.Packet[pds.RequestLen+2:])
				psn++
				w.e.Receive(now, &in, &w.reply, &w.r)
			}
			for ev, ok := w.e.Poll(); ok; ev, ok = w.e.Poll() {
				if ev.Outcome.Status != ses.StatusOK {
					panic(ev)
				}
				done++
			}
		}
	})
	require.Greater(t, done, 4000)
}
