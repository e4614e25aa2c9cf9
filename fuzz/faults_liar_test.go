// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"math"

	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/pds"
)

// faultLiar is a peer that keeps to the formats and lies: ids and addresses are
// right, everything else is as it likes.
type faultLiar struct {
	w     *faultWorld
	place int
	next  int64
	known [16]faultVictim
	count int
	buf   [256]byte
}

// faultVictim is a PDC of somebody else that the liar knows of.
type faultVictim struct {
	place     int
	id, mine  pds.PDCID
	psn, cack pds.PSN
}

func newFaultLiar(w *faultWorld, place int) *faultLiar {
	return &faultLiar{w: w, place: place, next: w.net.Now}
}

// arrive learns from what others send, and sometimes lies at once.
func (l *faultLiar) arrive(p *faultnet.Packet) {
	v := faultVictim{place: p.From}
	var q pds.Request
	var a pds.AckCC
	switch p.Class {
	case faultnet.Data, faultnet.SYN:
		if _, err := q.Decode(p.Head); err != nil {
			return
		}
		v.id, v.mine, v.psn, v.cack = q.SPDCID, max(q.DPDCID, 7), q.PSN, q.ClearPSN()
	case faultnet.ACK, faultnet.ACKData:
		if _, err := a.Decode(p.Head); err != nil {
			return
		}
		v.id, v.mine, v.psn, v.cack = a.SPDCID, a.DPDCID, a.CACK, a.CACK
	default:
		return
	}
	l.known[l.count%len(l.known)] = v
	l.count++
	if l.w.net.Chance(.5) {
		l.lie(&v)
	}
}

func (l *faultLiar) deadline() int64 {
	if l.w.net.Healed() {
		return math.MaxInt64
	}
	return l.next
}

func (l *faultLiar) act() {}

func (l *faultLiar) quiet() bool { return true }

func (l *faultLiar) tick() {
	r := l.w.net.Rand
	l.next = l.w.net.Now + r.Int64N(30*us)
	if r.IntN(1000) == 0 {
		for range 120 {
			l.syn(r.IntN(l.place), pds.PDCID(1+r.IntN(65535)), faultnet.Flood)
		}
	}
	if l.count == 0 || r.IntN(6) == 0 {
		l.syn(r.IntN(l.place), pds.PDCID(1+r.IntN(4)), faultnet.Hostile)
		return
	}
	l.lie(&l.known[r.IntN(min(l.count, len(l.known)))])
}

// syn opens a PDC at somebody, or sends more on it.
func (l *faultLiar) syn(to int, id pds.PDCID, f faultnet.Fault) {
	r := l.w.net.Rand
	q := pds.Request{Type: l.requestType(), Next: pds.NextRequestStd, Flags: pds.FlagSYN | pds.Flags(r.Uint32())&pds.FlagRetx, SPDCID: id,
		Info: pds.MakePDCInfo(r.IntN(20) == 0, uint16(r.IntN(4))), PSN: pds.PSN(r.IntN(8)), ClearOffset: -int16(r.IntN(5))}
	l.data(f, to, &q)
}

func (l *faultLiar) requestType() pds.Type {
	return [...]pds.Type{pds.TypeRUDReq, pds.TypeRODReq, pds.TypeRUDCCReq}[l.w.net.Rand.IntN(3)]
}

// data sends a request with garbage behind the header.
func (l *faultLiar) data(f faultnet.Fault, to int, q *pds.Request) {
	b := q.AppendTo(l.buf[:0])
	for range 6 {
		b = append(b, make([]byte, 10)...)
	}
	l.w.net.Inject(f, l.place, to, b)
}

// near is a PSN that may mean something, or nothing.
func (l *faultLiar) near(p pds.PSN) pds.PSN {
	r := l.w.net.Rand
	switch r.IntN(5) {
	case 0:
		return pds.PSN(r.Uint32())
	case 1:
		return p + 1<<31 + pds.PSN(r.IntN(8)) - 4
	default:
		return p + pds.PSN(r.IntN(64)) - 32
	}
}

// lie sends one packet to a PDC that the liar knows.
func (l *faultLiar) lie(v *faultVictim) {
	r, b := l.w.net.Rand, l.buf[:0]
	mine, flags := v.mine, pds.Flags(r.Uint32())
	if r.IntN(10) == 0 {
		mine = pds.PDCID(r.IntN(10))
	}
	switch r.IntN(6) {
	case 0:
		q := pds.Request{Type: l.requestType(), Next: pds.NextHdr(r.IntN(7)), Flags: flags &^ pds.FlagSYN, SPDCID: mine, DPDCID: v.id, PSN: l.near(v.psn),
			ClearOffset: -int16(r.IntN(1 << uint(r.IntN(16))))}
		l.data(faultnet.Hostile, v.place, &q)
		return
	case 1, 2:
		a := pds.AckCC{Ack: pds.Ack{Flags: flags, Offset: int16(r.IntN(64)) - 32, SPDCID: mine, DPDCID: v.id, CACK: l.near(v.cack), Next: pds.NextHdr(r.IntN(2) * 4)}}
		binary.BigEndian.PutUint64(a.State[:], r.Uint64())
		a.CCType, a.MPR, a.Bitmap, a.SACKOffset = pds.CCType(r.IntN(3)), uint8(r.Uint32()), r.Uint64(), int16(r.Uint32())
		if r.IntN(3) == 0 {
			a.SACKOffset = int16(r.IntN(64)) - 32
		}
		b = a.AppendTo(b)
		if a.Next != pds.NextNone {
			b = append(b, make([]byte, 20)...)
		}
	case 3:
		k := pds.Nack{Code: pds.NackCode(r.IntN(0x1c)), Flags: flags, SPDCID: mine, DPDCID: v.id, PSN: l.near(v.psn), Payload: r.Uint32()}
		if x := k.Payload; x%2 != 0 {
			k.Payload = uint32(k.PSN) - x>>1%16 // an expected PSN
		}
		b = k.AppendTo(b)
	case 4:
		c := pds.Control{Ctl: pds.CtlType(r.IntN(10)), Flags: flags, ProbeOpaque: uint16(r.Uint32()), SPDCID: mine, DPDCID: v.id, PSN: l.near(v.psn),
			Payload: pds.Payload(l.near(v.psn))}
		b = c.AppendTo(b)
	default:
		b = append(b, randomBytes(r, r.IntN(80)+1)...)
	}
	l.w.net.Inject(faultnet.Hostile, l.place, v.place, b)
}
