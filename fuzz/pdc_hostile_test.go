// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// A hostile run: an honest pair, and somebody who knows all ids and addresses and
// lies in every field. Whatever arrives, the step invariants of the model hold,
// nothing panics, and one packet has at most one answer.

var hostileSetting = modelSetting{name: "hostile", delay: 10, window: 32, packets: 1 << 30, perMessage: 1 << 30, guaranteed: .3, late: .2, refuse: .1, mark: .2}

// hostileRun reads operations out of bytes.
type hostileRun struct {
	*model
	h    pdc.Handle
	data []byte
}

func newHostileRun(t testing.TB, data []byte, ordered, infer bool) *hostileRun {
	s := hostileSetting
	s.ordered, s.infer = ordered, infer
	g := newModel(t, s, 1)
	g.hostile = true
	k := pdc.InitiatorKey{Source: g.end[0].addr, Destination: g.end[1].addr, Ordered: ordered}
	h, err := g.end[0].m.Open(0, &k, 0)
	require.NoError(t, err)
	require.True(t, g.end[0].m.SetStartPSN(h, 0xfffffff0))
	require.NoError(t, g.end[0].m.Begin(h))
	return &hostileRun{model: g, h: h, data: data}
}

func (r *hostileRun) byte() byte {
	if len(r.data) == 0 {
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

func (r *hostileRun) word() uint64 {
	var b [8]byte
	n := copy(b[:], r.data)
	r.data = r.data[n:]
	return binary.LittleEndian.Uint64(b[:])
}

// psn is one near what the PDC of an end is about, or any.
func (r *hostileRun) psn(i *pdc.Info) pds.PSN {
	near := []pds.PSN{i.Base, i.Next, i.MaxCACK, i.CACK, i.MaxRcvd, i.Clear, pds.PSN(r.word())}
	return near[int(r.byte())%len(near)].Add(int32(int8(r.byte())))
}

func (r *hostileRun) run() {
	for len(r.data) > 0 {
		r.step()
		r.check()
		for _, e := range r.end {
			st := e.m.Stats()
			require.LessOrEqual(r.t, st.ACKs+st.NACKs, st.Received+st.Closed+uint64(len(e.order)), "I10")
		}
	}
}

func (r *hostileRun) step() {
	switch r.byte() % 8 {
	case 0:
		for range r.byte()%8 + 1 {
			r.next++
			size := uint16(64 + int(r.byte())*16)
			r.end[0].m.Submit(r.now, r.h, pdc.Packet{Handle: uint64(r.next), Size: size, Next: pds.NextRequestStd, AR: r.byte()&1 != 0})
		}
	case 1:
		r.transmit(0)
		r.transmit(1)
	case 2, 3:
		r.advance()
	case 4:
		r.now += int64(r.byte()) << (r.byte() % 32)
		for i, e := range r.end {
			for !e.m.Tick(r.now) {
				r.drain(i)
			}
			r.drain(i)
		}
	case 5:
		r.answerLate(int(r.byte() & 1))
	default:
		r.forge()
	}
}

// forge has a packet arrive that nobody sent.
func (r *hostileRun) forge() {
	to := int(r.byte() & 1)
	e := r.end[to]
	info, ok := e.m.PDC(e.table.ByID(pds.PDCID(r.byte()%2 + 1)))
	if !ok {
		info.ID, info.PeerID = 1, 1
	}
	var b []byte
	switch r.byte() % 6 {
	case 0, 1:
		a := pds.AckCC{Ack: pds.Ack{Flags: pds.Flags(r.byte()), SPDCID: info.PeerID, DPDCID: info.ID, CACK: r.psn(&info), Offset: int16(int8(r.byte()))},
			SACK: pds.SACK{MPR: r.byte(), SACKOffset: int16(int8(r.byte())), Bitmap: r.word()}}
		if r.byte()&1 != 0 {
			a.Next = pds.NextResponse
		}
		binary.LittleEndian.PutUint64(a.State[:], r.word())
		b = append(a.AppendTo(nil), make([]byte, 12)...)
	case 2:
		n := pds.Nack{Code: pds.NackCode(r.byte()), Flags: pds.Flags(r.byte()) &^ pds.FlagNT, SPDCID: info.PeerID, DPDCID: info.ID, PSN: r.psn(&info), Payload: uint32(r.word())}
		if n.Code.Class() >= pds.NackRenumber && r.byte()%8 != 0 {
			return // these end the PDC rightly; not too often
		}
		b = n.AppendTo(nil)
	case 3:
		c := pds.Control{Ctl: pds.CtlType(r.byte() % 10), Flags: pds.Flags(r.byte()), SPDCID: info.PeerID, DPDCID: info.ID, PSN: r.psn(&info),
			Payload: pds.PSNPayload(r.psn(&info)), Info: pds.MakePDCInfo(false, uint16(r.byte()))}
		b = c.AppendTo(nil)
	case 4:
		q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.Flags(r.byte()), SPDCID: info.PeerID, DPDCID: info.ID,
			PSN: r.psn(&info), ClearOffset: -int16(r.byte()), Info: pds.MakePDCInfo(false, uint16(r.byte()))}
		if r.s.ordered {
			q.Type = pds.TypeRODReq
		}
		b = append(q.AppendTo(nil), make([]byte, 60)...)
		r.forged++
		binary.BigEndian.PutUint64(b[q.Len():], 1<<40+r.forged)
	default:
		n := int(r.byte() % 64)
		b = make([]byte, n)
		copy(b, r.data)
		r.data = r.data[min(n, len(r.data)):]
	}
	f := flying{to: to, data: b, size: 100, ce: r.byte()&1 != 0}
	if r.byte()%8 == 0 {
		f.trim = pds.NackTrimmed
	}
	r.arrive(f)
}

func FuzzPDCHostile(f *testing.F) {
	for seed := range uint64(12) { // random bytes of a few lengths
		b := randomBytes(rand.New(rand.NewPCG(seed, 11)), 200<<(seed%4))
		f.Add(b, seed&1 != 0, seed&2 != 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, ordered, infer bool) {
		newHostileRun(t, data[:min(len(data), 4096)], ordered, infer).run()
	})
}

func TestPDCHostile(t *testing.T) {
	for seed := range uint64(300) {
		b := randomBytes(rand.New(rand.NewPCG(seed, 5)), 3000)
		newHostileRun(t, b, seed&1 != 0, seed&2 != 0).run()
	}
}
