// SPDX-License-Identifier: Apache-2.0

package nscc

// usual is above the byte counts, the delays and the bits of any ordinary acknowledgement, so
// a single comparison of all three together tells.
const usual = 1 << 32

// unusual handles the cases left out by onACK: other profiles, numbers out of range, a
// penalty or its end, no sample, a new base round trip, Config.ForgettingFilter, an increase to
// hold. The rtt of s is the excess over the base round trip. The result is an ordinary signal
// for onACK to go on with, or false if nothing is left to do.
//
//uetcc:hot nobounds
func (w *Window) unusual(p *Params, now int64, s signal) (signal, bool) {
	s.rtt += w.base
	if p.profile != ProfileSpec {
		if p.profile == ProfileAdaptive {
			w.ackAdaptive(p, now, s)
		} else {
			w.ackHTSim(p, now, s)
		}
		return s, false
	}
	s.bytes = clampBytes(s.bytes)
	if s.bits&(restoreBit|pendMask<<pendShift) != 0 {
		w.penalise(p, s.bytes, s.bits.pend())
	}
	if s.rtt <= 0 {
		w.count(s.bytes)
		w.did(ActionNone)
		return s, false
	}
	w.SampleBase(p, s.rtt)
	s.rtt = min(s.rtt, never) - w.base
	if p.forgets {
		w.forget(now, s.rtt)
	}
	if !s.bits.marked() && w.held(p, s.bits) {
		s.bits |= heldBit
	}
	return s, true
}

// held reports whether an increase has to wait: the destination penalises, or the
// window is not full, before the bytes of the acknowledgement are out of flight.
//
//uetcc:hot inlines nobounds
func (w *Window) held(p *Params, b ackBits) bool {
	return b.pend() != 0 || p.onlyFull && w.inflight+p.mtu <= w.cwnd
}
