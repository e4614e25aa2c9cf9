// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// The rcvd_bytes of an acknowledgement drives flight (UE Specification 1.0.x, section 3.6.13). Mostly
// rcvd_bytes counts the packets shown by CACK and SACK; PDC.ahead is the count beyond those packets,
// taken out of flight at once and put back as the packets are shown, since [ccc.Manager.OnACK] takes
// the same bytes out. Less than a unit may be rounding, and stays in flight.

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
	ahead := int64(p.ahead)
	if ahead >= pds.ByteUnit {
		return false
	}
	if units == 0 {
		return true
	}
	counted := p.counted
	if ahead = max(ahead-known+counted.Advance(units), 0); ahead >= pds.ByteUnit {
		return false
	}
	p.counted, p.ahead = counted, int32(ahead)
	return true
}

// overtake takes in an acknowledgement that does not agree, before congestion control hears of
// due of the known bytes as no longer in flight. No more bytes than in flight depart, nor than the
// ooo packets behind the peer's CACK can have: a lying peer gains nothing beyond its CACK's power,
// and a peer with a larger count per packet gains nothing for long.
func (s *source) overtake(now int64, p *PDC, known, due int64, units uint32, ooo uint16) {
	was := int64(p.ahead)
	ahead := was - known
	if units != 0 {
		if ahead += p.counted.Advance(units); ahead >= pds.ByteUnit {
			ahead = min(ahead, int64(ooo)*s.cc.Params().MTU())
		}
	}
	if ahead >= pds.ByteUnit {
		ahead = min(ahead, s.cc.Inflight(ccc.Handle(p.handle))-due+departed(was), math.MaxInt32)
	}
	p.ahead = int32(max(ahead, 0))
	s.cc.OnOvertaking(ccc.Handle(p.handle), now, departed(ahead)-departed(was))
}

// recall puts as many departed bytes back in flight as a packet, or several, of size bytes
// taken for lost: the loss may be of packets already counted, and no byte may leave twice.
func (s *source) recall(now int64, p *PDC, size int64) {
	if was := int64(p.ahead); was >= pds.ByteUnit {
		p.ahead = int32(max(was-size, 0))
		s.cc.OnOvertaking(ccc.Handle(p.handle), now, departed(int64(p.ahead))-was)
	}
}
