// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/pcc"
)

// pccEvent makes an event of nine bytes.
func pccEvent(b []byte) pcc.Event {
	now := binary.BigEndian.Uint32(b[2:])
	return pcc.Event{
		Type: pcc.EventType(b[0] % 8), Flags: b[1], Time: now, Utilisation: uint32(b[6]) << 8,
		Stamps: pcc.Stamps{ReqSend: now - uint32(b[7])<<10, ReqRecv: uint32(b[8]) << 4, RespSend: uint32(b[1]) << 6},
	}
}

// runTemplate feeds events to the sample algorithm and checks what must hold
// after each of them.
func runTemplate(t *testing.T, in []byte) {
	p := pcc.DefaultTemplateParams()
	var f pcc.Template
	var n pcc.TemplateCounters
	for ; len(in) >= 9; in = in[9:] {
		before, e := f, pccEvent(in)
		d := f.OnEvent(&p, &e, &n)
		require.Equal(t, f.Rate, d.Rate)
		require.GreaterOrEqual(t, f.Rate, p.MinRate, "1")
		require.LessOrEqual(t, f.Rate, pcc.LineRate, "1")
		require.LessOrEqual(t, f.Wait, uint8(2), "5")
		if before.Rate == 0 {
			require.Equal(t, pcc.Decision{Rate: p.NewFlowRate, Probe: true}, d, "7")
			continue
		}
		if e.Type != pcc.EventRTT {
			require.Equal(t, before.Rate, f.Rate, "2: only a sample moves the rate")
			require.Equal(t, before.MinRTT, f.MinRTT)
			continue
		}
		require.Equal(t, pcc.Probe{SentAt: before.SentAt, Wait: 1}, f.Probe, "3")
		require.True(t, d.Probe, "3")
		require.LessOrEqual(t, int64(f.Rate)-int64(before.Rate), int64(p.AI), "6")
		if f.MinRTT > before.MinRTT {
			require.Zero(t, e.Time&0xff, "8: the minimum is only forgotten there")
			require.LessOrEqual(t, f.MinRTT, uint32(200000), "8")
		}
		if before.CNP && !f.CNP {
			require.Less(t, f.Rate, max(before.Rate, p.MinRate+1), "9")
		}
		if before.Nack && !f.Nack {
			require.GreaterOrEqual(t, f.RTT, p.MaxDelay, "9")
		}
		if before.RTT != 0 && e.Utilisation <= 55704 { // 15
			idle, twin := e, before
			idle.Utilisation = 0
			require.Equal(t, d, twin.OnEvent(&p, &idle, &pcc.TemplateCounters{}))
		}
	}
}

// runZTR does the same for our own algorithm.
func runZTR(t *testing.T, in []byte) {
	p := pcc.DefaultZTRParams()
	var f pcc.ZTR
	for ; len(in) >= 9; in = in[9:] {
		before, e := f, pccEvent(in)
		d := f.OnEvent(&p, &e)
		require.Equal(t, f.Rate, d.Rate)
		require.GreaterOrEqual(t, d.Rate, p.MinRate)
		require.LessOrEqual(t, d.Rate, pcc.LineRate)
		require.LessOrEqual(t, f.Wait, uint8(2))
		require.LessOrEqual(t, f.Backoff, uint8(13))
		if before.Rate == 0 {
			require.Equal(t, pcc.Decision{Rate: p.NewFlow, Probe: true}, d)
			continue
		}
		if e.Type != pcc.EventRTT {
			require.Equal(t, before.Rate, d.Rate)
			continue
		}
		require.True(t, d.Probe)
		require.LessOrEqual(t, int64(d.Rate)-int64(before.Rate), int64(p.AI+p.HAI))
		require.LessOrEqual(t, f.MinRTT, max(f.RTT, before.MinRTT))

		shifted, twin := e, before // 14: the offset of the receiver's clock never matters
		shifted.ReqRecv, shifted.RespSend = e.ReqRecv+0x9000_0000, e.RespSend+0x9000_0000
		require.Equal(t, d, twin.OnEvent(&p, &shifted))
	}
}

// TestPCCInvariants feeds random events to both algorithms.
func TestPCCInvariants(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		in := randomBytes(r, 9*100)
		runTemplate(t, in)
		runZTR(t, in)
	}
}

// TestPCCMonotone (16): of two equal flows the one with the longer round trip
// never ends with the higher rate.
func TestPCCMonotone(t *testing.T) {
	p, zp := pcc.DefaultTemplateParams(), pcc.DefaultZTRParams()
	const end = 1<<20 + 1
	after := func(rtt uint32) (pcc.Rate, pcc.Rate) {
		var f pcc.Template
		var z pcc.ZTR
		var n pcc.TemplateCounters
		for _, r := range []uint32{0, 5000, rtt} {
			e := pcc.Event{Type: pcc.EventRTT, Time: end, Stamps: pcc.Stamps{ReqSend: end - r}}
			f.OnEvent(&p, &e, &n)
			z.OnEvent(&zp, &e)
		}
		return f.Rate, z.Rate
	}
	lastT, lastZ := after(5000)
	for rtt := uint32(5000); rtt < 150000; rtt += 500 {
		gotT, gotZ := after(rtt)
		require.LessOrEqual(t, gotT, lastT, "%d ns", rtt)
		require.LessOrEqual(t, gotZ, lastZ, "%d ns", rtt)
		lastT, lastZ = gotT, gotZ
	}
}

func FuzzTemplateEvents(f *testing.F) {
	f.Add([]byte("\x03\x00\x00\x00\x00\x00\x00\x00\x00" + "\x03\x04\x00\x00\x00\x09\x00\x00\x00" + "\x06\x00\x00\x01\x00\x00\x00\x40\x00"))
	f.Add([]byte("\x02\x00\xff\xff\xff\xff\x00\x00\x00" + "\x05\x00\x00\x00\x00\x00\x00\x00\x00" + "\x06\x00\x00\x00\x00\x07\xff\xff\x00"))
	f.Fuzz(runTemplate)
}

func FuzzZTREvents(f *testing.F) {
	f.Add([]byte("\x03\x00\x00\x00\x00\x00\x00\x00\x00" + "\x03\x04\x00\x00\x00\x09\x00\x00\x00" + "\x06\x00\x00\x01\x00\x00\x00\x40\x00"))
	f.Add([]byte("\x06\x00\x00\x00\x00\x00\x00\x00\x00" + "\x06\x40\xff\xff\xff\xff\x00\xff\xff"))
	f.Fuzz(runZTR)
}
