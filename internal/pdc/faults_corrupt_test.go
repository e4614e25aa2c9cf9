// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

// A flipped byte shows in the CRC: the packet never reaches the manager, nobody
// answers it, and the timeout covers it.
func TestFaultC1FlippedUnderCRC(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	packet := g.send(g.a)[0].b
	sum := pds.CRC(packet)
	for i := range packet {
		packet[i] ^= 0x10
		require.NotEqual(t, sum, pds.CRC(packet), "byte %d", i)
		packet[i] ^= 0x10
	}
	g.wait(1_100_000)
	g.settle()
	require.Equal(t, []uint64{1}, g.a.take(EventResponse))
}

// Every byte of every kind of packet takes every value. Whatever is made of it,
// nothing panics or allocates, and the windows stay what they are.
func TestFaultC2FlippedPastCRC(t *testing.T) {
	g := established(t, pairConfig{cwnd: 1_500_000})
	g.b.reply = guaranteed
	g.submit(1, 2)
	acks := g.giveAll(g.send(g.a))
	a, b := g.info(g.a), g.info(g.b)
	kinds := []wire{
		{from: g.a, b: (&pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, PSN: a.Next, SPDCID: a.ID, DPDCID: a.PeerID}).AppendTo(nil)},
		{from: g.a, b: (&pds.Request{Type: pds.TypeRUDCCReq, Next: pds.NextRequestStd, PSN: a.Next, SPDCID: a.ID, DPDCID: a.PeerID}).AppendTo(nil)},
		g.control(g.a, pds.Control{Ctl: pds.CtlACKReq, PSN: a.Base}),
		{from: g.b, b: (&pds.Nack{Code: pds.NackTrimmed, PSN: a.Base, SPDCID: b.ID, DPDCID: b.PeerID}).AppendTo(nil)},
		acks[0],
	}
	for _, w := range kinds {
		clean := append(append([]byte(nil), w.b...), make([]byte, 64)...)
		for i := range len(w.b) {
			for v := range 256 {
				w.b = append(w.b[:0], clean...)
				w.b[i] = byte(v)
				g.give(w)
				for _, e := range []*pairEnd{g.a, g.b} {
					e.events, e.got = e.events[:0], e.got[:0]
					for h := range e.m.table.All() {
						info, ok := e.m.PDC(h)
						require.True(t, ok)
						windowsHold(t, &info)
					}
				}
			}
		}
	}
}

// windowsHold asserts that the ends of the windows are in order and no further apart than
// their range.
func windowsHold(t testing.TB, i *Info) {
	out, ahead := i.Next.Diff(i.Base), i.MaxRcvd.Diff(i.CACK)
	if out < 0 || out > defaultRange || ahead < 0 || ahead > defaultRange || i.MaxCACK.Diff(i.Next) >= 0 || i.MaxRcvd.Diff(i.Clear) < 0 ||
		i.Contiguous.Diff(i.CACK) < 0 {
		require.FailNow(t, "windows", "%+v", i)
	}
}

func TestFaultC2Allocs(t *testing.T) {
	g := established(t, pairConfig{})
	a := g.info(g.a)
	wire := (&pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, PSN: a.Next, SPDCID: a.ID, DPDCID: a.PeerID}).AppendTo(nil)
	wire = append(wire, make([]byte, 64)...)
	in := In{Packet: wire, Src: AddrFrom(g.a.addr), Dst: AddrFrom(g.b.addr), Size: 100}
	out := make([]byte, ReplyMax)
	var r Result
	i := 0
	alloctest.Zero(t, "Receive of a flipped packet", func() {
		at, bit := i/8%pds.RequestLen, byte(1)<<(i%8)
		wire[at] ^= bit
		g.b.m.Receive(g.now, &in, out, &r)
		wire[at] ^= bit
		for g.b.m.Event(&Event{}) {
		}
		i++
	})
}

func TestFaultC3ShorterThanItsType(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	data := g.send(g.a)[0]
	info := g.info(g.a)
	for _, w := range []wire{
		{from: g.a, b: data.b[:pds.RequestLen]},
		g.control(g.a, pds.Control{Ctl: pds.CtlProbe}),
		{from: g.b, b: (&pds.Ack{SPDCID: info.PeerID, DPDCID: info.ID, CACK: info.Base}).AppendTo(nil)},
		{from: g.b, b: (&pds.AckCC{Ack: pds.Ack{SPDCID: info.PeerID, DPDCID: info.ID, CACK: info.Base}}).AppendTo(nil)},
		{from: g.b, b: (&pds.Nack{Code: pds.NackTrimmed, SPDCID: info.PeerID, DPDCID: info.ID, PSN: info.Base}).AppendTo(nil)},
	} {
		for n := range w.b {
			for _, trim := range []pds.NackCode{0, pds.NackTrimmed} {
				a, b := g.info(g.a), g.info(g.b)
				r, answer := g.give(wire{from: w.from, b: w.b[:n], trim: trim})
				require.ErrorIs(t, r.Err, pds.ErrTruncated, "%d bytes", n)
				require.Empty(t, answer)
				require.Equal(t, a, g.info(g.a))
				require.Equal(t, b, g.info(g.b))
			}
		}
	}
	require.Empty(t, append(g.a.events, g.b.events...))
}
