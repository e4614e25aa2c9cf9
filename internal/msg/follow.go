// SPDX-License-Identifier: Apache-2.0

package msg

import "github.com/uetcc/uetcc/ses"

// Most packets of a long message repeat the previous packet's header but for the offset.
// Such a packet need not be checked again while the objects of the first check are
// unchanged. Each change begins a new epoch of the target.

// Recent returns the record of the message that a request of [ModeRUD] or [ModeROD] probably belongs to, or
// another one. In the middle of a message, of which an earlier request has answered every question,
// [Record.Repeats] and [Target.Continues] both hold. Otherwise the request is for [Target.Receive]. Nothing
// has changed: once the packet counts as arrived [Record.Place] does the work of Receive, and the answer is
// the default response, see [PutDefault]. All are in parts that are no calls, since this is done for nearly
// every packet.
//
// near is the low 16 bits of the peer as given by the packet: enough to find the message before anything
// else is known about the peer. With a wrong near Repeats does not hold.
//
//uetcc:hot inlines
func (t *Target) Recent(near uint16) *Record {
	return &t.records[t.recent[uint64(near)&uint64(len(t.recent)-1)]]
}

// Repeats reports whether a packet of peer repeats the previous packet of m, but for the lengths.
//
//uetcc:hot inlines nobounds
func (m *Record) Repeats(v *StandardView, peer uint64) bool { return m.differs(v, v.head(), peer) == 0 }

// Continues reports whether a packet that repeats the previous packet of m, with n bytes from offset off on,
// neither ends nor completes the message, and no object of the first check has changed.
//
//uetcc:hot inlines nobounds
func (t *Target) Continues(m *Record, v *StandardView, off, n uint32, payload int) bool {
	return m.epoch == t.epoch && m.length == v.requestLength() && n-1 < uint32(t.mtu) && int(n) <= payload &&
		uint64(off)+uint64(n) < uint64(m.length) && n < m.length-m.seen
}

// Place counts n bytes as arrived: PayloadLength of a request that has just been found to continue m.
//
//uetcc:hot inlines nobounds
func (m *Record) Place(n uint32) { m.seen += n }

// At returns where bytes from offset off on belong.
//
//uetcc:hot inlines nobounds
func (m *Record) At(off uint32) (address, cookie uint64) { return m.base + uint64(off), m.cookie }

// differs returns 0 if a packet with this head repeats the previous packet of m, but for
// the lengths. The comparison is a single expression, without branches.
//
//uetcc:hot inlines nobounds
func (m *Record) differs(v *StandardView, h head, peer uint64) uint64 {
	return (m.peer ^ peer) | (m.key ^ v.key()) | (m.offset ^ v.bufferOffset()) | uint64(m.head^h) | uint64(m.at^v.at())
}

// lead lets later packets of m follow the passed request r.
func (t *Target) lead(r *ses.Request, m *Record) {
	if among(r.Opcode, opsFollow) && m.limit == m.length {
		m.key, m.offset, m.head, m.at, m.epoch = r.Key, r.BufferOffset, headOf(r), atOf(r), t.epoch
	}
}

// opsFollow are the opcodes whose packets say no more than where bytes belong.
const opsFollow = 1<<ses.OpcodeWrite | 1<<ses.OpcodeSend | 1<<ses.OpcodeDatagramSend | 1<<ses.OpcodeTaggedSend

// changed makes every packet be checked again: an object of earlier checks has changed.
func (t *Target) changed() {
	t.epoch++
	if t.epoch == 0 { // it has wrapped: forget the epochs of old
		for i := range t.records {
			t.records[i].epoch = 0
		}
		clear(t.grants)
		t.epoch = 1
	}
}
