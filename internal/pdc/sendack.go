// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// ackNews is an acknowledgement's news about the packets of a PDC, from any of the
// three headers.
type ackNews struct {
	Now      int64 // arrival of the acknowledgement
	CACK     pds.PSN
	AckPSN   pds.PSN // the packet that caused it; with Probe the same as CACK
	SACKBase pds.PSN
	SACK     uint64 // 0 without a SACK in the header
	Retx     bool   // the packet that caused it was a retransmission
	Probe    bool   // answers a probe
	Response bool   // a response follows the header
}

// ackGain is the changes by an acknowledgement: each packet and each byte counts
// once. Packets taken for lost and not sent again are in Rtx and RtxBytes, and not
// in flight any more.
type ackGain struct {
	Bytes    int64
	RtxBytes int64
	Packets  int32
	Rtx      int32
	RTT      int64 // of the packet that caused it; 0: no valid sample
	Took     int64 // with Answered or Late: the time since the last copy of the packet behind the acknowledgement
	Handle   uint64
	Entropy  uint16
	Timeouts uint8 // of the same packet, not counted in Took
	Answered bool  // the acknowledgement is for the last copy
	Late     bool  // the acknowledgement may be for the first of several copies
	Known    bool  // Entropy is that of the packet that caused it
	Response bool  // the response goes to the layer above, as the only news of Handle
}

// OnACK takes an acknowledgement in. False, without a change, if the
// acknowledgement names a packet never sent. Events go to m, with owner as the PDC.
//
//uetcc:hot
func (w *sendWindow) OnACK(m *memory, owner Handle, a *ackNews, k *ackGain) bool {
	*k = ackGain{}
	end, off := w.offset(a.CACK)+1, w.offset(a.AckPSN)
	if int32(w.next-end) < 0 || int32(w.next-off) <= 0 && !a.Probe {
		return false
	}
	if !a.Probe && off-w.base < w.next-w.base {
		w.ackOne(m, owner, off, a, k)
		w.settleBase(m)
	}
	if int32(end-w.cack) > 0 {
		w.cack = end
		if int32(end-w.base) > 0 {
			w.releaseTo(m, owner, end, k)
			w.settleBase(m)
		}
	}
	if a.SACK != 0 {
		w.merge(m, w.offset(a.SACKBase), a, k)
	}
	return true
}

// ackOne releases the packet an acknowledgement names.
//
//uetcc:hot
func (w *sendWindow) ackOne(m *memory, owner Handle, off uint32, a *ackNews, k *ackGain) {
	r, i := w.at(m, off)
	bit := uint64(1) << i
	if r.released&bit != 0 {
		return
	}
	pkt := m.record(r, i)
	if !pkt.kind.control() {
		k.Entropy, k.Known = pkt.entropy, true
		if pkt.sends.Unambiguous(a.Retx) {
			k.RTT = a.Now - pkt.sentAt
			k.Took, k.Answered = k.RTT, true
		} else if r.acked&bit == 0 && !a.Retx { // else the answer is to a question, or to some copy
			k.Took, k.Timeouts, k.Late = a.Now-pkt.sentAt, pkt.rtos, true
		}
	}
	if r.queued&bit != 0 {
		w.arrived(m, r, bit, k)
		w.unqueue(r, bit)
	} else {
		r.arrivedOnce(bit, pkt, k)
	}
	r.released |= bit
	if pkt.kind.control() {
		m.push(Event{Kind: EventRoom, PDC: owner, PSN: w.psn(off)})
		return
	}
	if k.Response, k.Handle = a.Response, m.handle(r, i); !a.Response {
		m.push(Event{Kind: EventResponse, PDC: owner, PSN: w.psn(off), Handle: k.Handle})
	}
}

// releaseTo releases everything below end and moves base there.
//
//uetcc:hot
func (w *sendWindow) releaseTo(m *memory, owner Handle, end uint32, k *ackGain) {
	for w.base != end {
		r, mask, next := w.span(m, w.base, end)
		todo := mask &^ r.released
		w.arrived(m, r, todo, k)
		w.unqueue(r, todo)
		if todo != 0 {
			w.tell(m, owner, w.base-w.base%rowLen, todo)
		}
		w.drop(m, r, next-w.base)
	}
}

// tell tells the layer above that the packets of todo, in the row beginning at
// first, are released by CACK: consecutive packets, with handles counting up, share
// an event.
//
//uetcc:hot
func (w *sendWindow) tell(m *memory, owner Handle, first uint32, todo uint64) {
	r, _ := w.at(m, first)
	for todo != 0 {
		i := uint32(bits.TrailingZeros64(todo))
		todo &= todo - 1
		if m.record(r, i).kind.control() {
			m.push(Event{Kind: EventRoom, PDC: owner, PSN: w.psn(first + i)})
			continue
		}
		h, next := m.handle(r, i), i+1
		for ; next < rowLen && todo>>next&1 != 0; next++ {
			if m.handle(r, next) != h+uint64(next-i) || m.record(r, next).kind.control() {
				break
			}
			todo &= todo - 1
		}
		more := uint16(next - i - 1)
		m.push(Event{Kind: EventImplicit, PDC: owner, PSN: w.psn(first + i), Handle: h, More: more})
	}
}

// inWindow cuts a SACK beginning at off to [base, next), and returns the new begin.
// Bits outside are old news, or lies.
//
//uetcc:hot inlines
func (w *sendWindow) inWindow(off uint32, sack uint64) (uint32, uint64) {
	if behind := int32(w.base - off); behind > 0 {
		sack >>= min(uint32(behind), sackBits)
		off = w.base
	}
	if ahead := int32(w.next - off); ahead <= 0 {
		return off, 0
	} else if ahead < sackBits {
		sack &= 1<<uint32(ahead) - 1
	}
	return off, sack
}

// merge marks the packets shown by a SACK as arrived.
//
//uetcc:hot
func (w *sendWindow) merge(m *memory, off uint32, a *ackNews, k *ackGain) {
	off, sack := w.inWindow(off, a.SACK)
	if sack == 0 {
		return
	}
	s := off % rowLen
	w.mergeWord(m, off, sack<<s, a.Now, k)
	if sack >>= rowLen - s; sack != 0 {
		w.mergeWord(m, off+rowLen, sack, a.Now, k)
	}
}

// mergeWord is merge for the packets of off's row.
func (w *sendWindow) mergeWord(m *memory, off uint32, sack uint64, now int64, k *ackGain) {
	if r, _ := w.at(m, off); sack&^r.acked != 0 {
		w.retime(m, r, sack&^r.acked, now)
		w.arrived(m, r, sack, k)
	}
}

// retime gives the packets of bits64, waiting for retransmission before, a timeout
// again, after as long as each has been under way: the packets will not be sent
// now, but the responses may be lost.
func (w *sendWindow) retime(m *memory, r *row, bits64 uint64, now int64) {
	for b := bits64 & r.queued; b != 0; b &= b - 1 {
		i := uint32(bits.TrailingZeros64(b))
		due := deadline.After(now, max(now-m.record(r, i).sentAt, 1))
		m.postpone(r, i, due)
		w.rtoAt = min(w.rtoAt, due)
	}
}

// arrived notes the arrival of the packets of bits64, and counts each not counted
// before.
//
//uetcc:hot
func (w *sendWindow) arrived(m *memory, r *row, bits64 uint64, k *ackGain) {
	fresh := bits64 &^ r.acked
	r.acked |= fresh
	flight := fresh & r.flight
	r.flight &^= flight
	if flight != 0 {
		n, bytes := m.weigh(r, flight)
		k.Packets += n
		k.Bytes += bytes
	}
	if lost := fresh & r.queued; lost != 0 {
		w.foundAgain(m, r, lost, k)
	}
}

// arrivedOnce is arrived for a packet not waiting to be sent again.
//
//uetcc:hot inlines nobounds
func (r *row) arrivedOnce(bit uint64, pkt *packet, k *ackGain) {
	r.acked |= bit
	if r.flight&bit != 0 {
		r.flight &^= bit
		k.Packets++
		k.Bytes += int64(pkt.size)
	}
}

// foundAgain counts packets that arrived while waiting for retransmission.
func (w *sendWindow) foundAgain(m *memory, r *row, lost uint64, k *ackGain) {
	for b := lost; b != 0; b &= b - 1 {
		if pkt := m.record(r, uint32(bits.TrailingZeros64(b))); !pkt.kind.control() {
			k.Rtx++
			k.RtxBytes += int64(pkt.size)
		}
	}
	w.unqueue(r, lost)
}

// unqueue takes packets out of the retransmission queue.
func (w *sendWindow) unqueue(r *row, bits64 uint64) {
	if q := r.queued & bits64; q != 0 {
		r.queued &^= q
		w.queued -= uint16(bits.OnesCount64(q))
	}
}
