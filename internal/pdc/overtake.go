// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// The rcvd_bytes of an acknowledgement drives flight (UE Specification 1.0.x, section 3.6.13). Mostly
// rcvd_bytes counts the packets shown by CACK and SACK; bytes beyond those packets are taken out of
// flight at once and put back as the packets are shown, since [ccc.Manager.OnACK] takes the same bytes
// out. Less than a unit may be rounding, and stays in flight.

// A counted is what a source keeps of rcvd_bytes: the largest value, 24 bits, and in the lowest byte the
// bytes of that value beyond the packets shown by CACK and SACK, countedMany standing for PDC.ahead. So
// the upper bits are the value in bytes, modulo 2^32.
type counted uint32

const countedMany = 0xff

// beyond is the bytes beyond the packets shown, or countedMany.
func (c counted) beyond() uint32 { return uint32(c & countedMany) }

// advance returns the bytes newly received by a value of rcvd_bytes, 0 for a repeated or an older
// value, and c with the value.
//
//uetcc:hot inlines nobounds
func (c counted) advance(units uint32) (bytes int64, now counted) {
	d := int32(units<<8 - uint32(c&^countedMany)) // half of the numbers are older
	if d < 0 {
		d = 0
	}
	return int64(d), c + counted(d)
}

// after is c once an acknowledgement shows packets of known bytes and counts units. False if more than
// rounding lies between the two.
//
//uetcc:hot inlines nobounds
func (c counted) after(known int64, units uint32) (counted, bool) {
	n, c := c.advance(units)
	n = max(n+int64(c.beyond())-known, 0)
	return c&^countedMany | counted(n), n < countedMany
}

// beyond is the bytes that rcvd_bytes has counted beyond the packets shown.
func (p *PDC) beyond() int64 {
	if n := p.counted.beyond(); n < countedMany {
		return int64(n)
	}
	return int64(p.ahead)
}

// setBeyond makes n the bytes counted beyond the packets shown.
func (p *PDC) setBeyond(n int64) {
	p.ahead = int32(n)
	p.counted = p.counted&^countedMany | counted(min(n, countedMany))
}

// departed is the part of ahead out of flight, bytes.
func departed(ahead int64) int64 {
	if ahead < pds.ByteUnit {
		return 0
	}
	return ahead
}

// agrees takes in an acknowledgement that shows packets of known bytes and counts units, 0 for no
// count. False, without a change, if more than rounding lies between the two, or has.
func (p *PDC) agrees(known int64, units uint32) bool {
	if units == 0 {
		return p.beyond() < pds.ByteUnit // rounding stays as it is
	}
	if p.counted.beyond() == countedMany {
		return false
	}
	c, ok := p.counted.after(known, units)
	if ok {
		p.counted = c
	}
	return ok
}

// overtake takes in an acknowledgement that does not agree, before congestion control hears of
// due of the known bytes as no longer in flight. No more bytes than in flight depart, nor than the
// ooo packets behind the peer's CACK can have: a lying peer gains nothing beyond its CACK's power,
// and a peer with a larger count per packet gains nothing for long.
func (s *source) overtake(now int64, p *PDC, known, due int64, units uint32, ooo uint16) {
	was := p.beyond()
	ahead := was - known
	if units != 0 {
		n, c := p.counted.advance(units)
		p.counted = c
		if ahead += n; ahead >= pds.ByteUnit {
			ahead = min(ahead, int64(ooo)*s.cc.Params().NSCC().MTU())
		}
	}
	if ahead >= pds.ByteUnit {
		ahead = min(ahead, s.cc.Inflight(ccc.Handle(p.handle))-due+departed(was), math.MaxInt32)
	}
	ahead = max(ahead, 0)
	p.setBeyond(ahead)
	s.cc.OnOvertaking(ccc.Handle(p.handle), now, departed(ahead)-departed(was))
}

// recall puts as many departed bytes back in flight as a packet, or several, of size bytes
// taken for lost: the loss may be of packets already counted, and no byte may leave twice.
func (s *source) recall(now int64, p *PDC, size int64) {
	if was := p.beyond(); was >= pds.ByteUnit {
		left := max(was-size, 0)
		p.setBeyond(left)
		s.cc.OnOvertaking(ccc.Handle(p.handle), now, departed(left)-was)
	}
}
