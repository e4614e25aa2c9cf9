// SPDX-License-Identifier: Apache-2.0

package msg

import "github.com/uetcc/uetcc/ses"

// Most packets of a long message repeat the previous packet's header but for the offset.
// Such a packet need not be checked again while the objects of the first check are
// unchanged. Each change begins a new epoch of the target.

// Follow returns the message record of a request of [ModeRUD] or [ModeROD] in the middle
// of a message, if an earlier request of the message has answered every question.
// Otherwise Follow returns nil, and the request is for [Target.Receive]. Nothing has
// changed: once the packet counts as arrived [Record.Place] does the work of Receive, and
// the answer is the default response, see [PutDefault].
//
// near is the low 16 bits of a.Peer as given by the packet. near finds the message before
// anything else is known about the peer; with a wrong near, Follow returns nil.
//
//uetcc:hot
func (t *Target) Follow(v *StandardView, near uint16, a Arrival) *Record {
	m := &t.records[t.recent[uint64(near)&uint64(len(t.recent)-1)]]
	if m.differs(v, v.head(), a.Peer) != 0 || m.epoch != t.epoch || m.length != v.requestLength() {
		return nil
	}
	off, n := uint64(v.MessageOffset()), uint64(v.PayloadLength())
	if n-1 >= uint64(t.mtu) || int(n) > a.Payload {
		return nil
	}
	// The packet neither ends nor completes the message.
	if off+n >= uint64(m.length) || n >= uint64(m.length-m.seen) {
		return nil
	}
	return m
}

// Place counts n bytes from offset off as arrived: PayloadLength and MessageOffset of the
// request for which [Target.Follow] has just returned m. The bytes belong at address.
//
//uetcc:hot inlines nobounds
func (m *Record) Place(off, n uint32) (address, cookie uint64) {
	m.seen += n
	return m.base + uint64(off), m.cookie
}

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
