// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// hostileSetting is for an honest pair, and somebody who knows all ids and addresses and lies in every
// field. Whatever arrives, the step invariants hold, nothing panics, and one packet has at most one
// answer. Nobody judges what the managers make of the lies.
var hostileSetting = faultSetting{name: "hostile", mark: .2, jitter: 5, window: 32, perMessage: 50, budget: 1 << 30,
	guaranteed: .3, late: .2, refuse: .1, read: .1, closing: .05, weak: true, blind: true}

// hostileRun reads operations out of bytes.
type hostileRun struct {
	*pdcWorld
	data []byte
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

// runHostile does what bytes say.
func runHostile(t testing.TB, data []byte, ordered, infer bool) {
	s := hostileSetting
	s.ordered, s.infer = ordered, infer
	r := &hostileRun{newPDCWorld(&s, 1, 2), data}
	var res faultResult
	func() {
		defer func() { res.caught(recover(), func(lines int) string { return r.log.tail(lines) + r.state() }) }()
		for r.actAll(); len(r.data) > 0; r.do() {
		}
	}()
	require.NoError(t, res.err, res.log)
}

func (r *hostileRun) do() {
	switch r.byte() % 8 {
	case 0, 1, 2, 3:
		r.step()
	case 4: // a leap, with nothing that would have come meanwhile
		r.net.Now += int64(r.byte()) << (r.byte() % 32)
		for _, e := range r.ends {
			e.tick()
			e.act()
		}
	default:
		r.forge()
	}
	for _, e := range r.ends {
		e.checkAnswers()
	}
}

// forge has a packet arrive that nobody sent.
func (r *hostileRun) forge() {
	to := int(r.byte() & 1)
	e := r.ends[to]
	info := pdc.Info{ID: 1, PeerID: 1}
	n := r.byte() % 4
	for h := range e.table.All() { // one of the first PDCs, if there is any
		if info, _ = e.m.PDC(h); n == 0 {
			break
		}
		n--
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
		b = append(a.AppendTo(nil), make([]byte, faultHeaderBytes)...)
	case 2:
		n := pds.Nack{Code: pds.NackCode(r.byte()), Flags: pds.Flags(r.byte()) &^ pds.FlagNT, SPDCID: info.PeerID, DPDCID: info.ID, PSN: r.psn(&info), Payload: uint32(r.word())}
		if pdc.ClassOf(n.Code) >= pdc.NackRenumber && r.byte()%8 != 0 {
			return // these end the PDC rightly; not too often
		}
		b = n.AppendTo(nil)
	case 3:
		c := pds.Control{Ctl: pds.CtlType(r.byte() % 10), Flags: pds.Flags(r.byte()), SPDCID: info.PeerID, DPDCID: info.ID, PSN: r.psn(&info),
			Payload: pds.Payload(r.psn(&info)), Info: pds.MakePDCInfo(false, uint16(r.byte()))}
		b = c.AppendTo(nil)
	case 4:
		q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.Flags(r.byte()), SPDCID: info.PeerID, DPDCID: info.ID,
			PSN: r.psn(&info), ClearOffset: -int16(r.byte()), Info: pds.MakePDCInfo(false, uint16(r.byte()))}
		if r.s.ordered {
			q.Type = pds.TypeRODReq
		}
		b = append(q.AppendTo(nil), make([]byte, faultHeaderBytes)...)
		if n := uint64(len(r.recs)); n > 0 { // with what an honest packet has said
			handle := 1 + r.word()%n
			binary.BigEndian.PutUint64(b[q.Len():], handle)
			binary.BigEndian.PutUint64(b[q.Len()+8:], faultCheck(handle))
		}
	default:
		n := int(r.byte() % 64)
		b = make([]byte, n)
		copy(b, r.data)
		r.data = r.data[min(n, len(r.data)):]
	}
	p := faultnet.Packet{From: 1 - to, To: to, Head: b, Len: len(b), Size: 100, CE: r.byte()&1 != 0, Fabled: true}
	if r.byte()%8 == 0 {
		p.Trim = pds.NackTrimmed
	}
	e.arrive(&p)
	e.act()
}

func FuzzPDCHostile(f *testing.F) {
	for seed := range uint64(12) { // random bytes of a few lengths
		b := randomBytes(rand.New(rand.NewPCG(seed, 11)), 200<<(seed%4))
		f.Add(b, seed&1 != 0, seed&2 != 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, ordered, infer bool) {
		runHostile(t, data[:min(len(data), 4096)], ordered, infer)
	})
}

func TestPDCHostile(t *testing.T) {
	for seed := range uint64(300) {
		b := randomBytes(rand.New(rand.NewPCG(seed, 5)), 3000)
		runHostile(t, b, seed&1 != 0, seed&2 != 0)
	}
}
