// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"encoding/binary"
	"math/bits"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// Most messages are written to the same few addresses and keys of a process. The permission
// of an earlier message holds for the first packet of such a message too, except for the
// place in the region, and the first packet's permission holds for the rest, as long as the
// target is still in the same epoch, see [Target.changed].

// A grant records a permission for later writes with the same address and key.
type grant struct {
	head   head   // of a passed packet, see grantHead
	key    uint64 // memory_key
	base   uint64 // of the region
	length uint64 // bytes of the region
	cookie uint64
	at     uint32 // see atOf
	epoch  uint32 // of the target then; 0: no grant
	region ses.Handle
	entry  uint32
	_      [8]byte
}

// maxGrants bounds the table of a target: few regions are in use at a time.
const maxGrants = 1 << 10

// grantHead is the part of the first eight bytes a grant is about: all but the message_id
// and the flags for the packet's position in the message.
const grantHead = head(headMask &^ (0xffff<<32 | uint64(flagsOnly)<<48))

// grantAt returns the place of the grant for an address and a key. Only grants of passed
// packets are kept, so peers cannot choose collisions.
//
//uetcc:hot inlines
func (t *Target) grantAt(key uint64, at uint32) *grant {
	i := (key ^ uint64(bits.ReverseBytes32(at))) * 0x9e3779b97f4a7c15 >> 32
	return &t.grants[i&uint64(len(t.grants)-1)]
}

// allow lets later writes pass as r has, the first packet of its message.
//
//uetcc:hot
func (t *Target) allow(r *ses.Request, p *plan) {
	if r.Form == pds.NextRequestStd && r.Opcode == ses.OpcodeWrite {
		g, x := t.grantAt(r.Key, atOf(r)), &t.regions[slotOf(p.region)]
		*g = grant{
			head: headOf(r) & grantHead, at: atOf(r), key: r.Key, base: x.Base, length: x.Length, cookie: x.Cookie,
			epoch: t.epoch, region: p.region, entry: p.entry,
		}
	}
}

// Expected is the verdict of [Target.Expect] on a passing request: place Length bytes at
// Address and answer with the default response, see [PutDefault]. The fields mean the same
// as in a [Decision].
type Expected struct {
	Address, Cookie, HeaderData uint64
	Offset, Length              uint32
	Complete, HasData           bool

	m *Record // of the packet
	g *grant  // by which the packet begins a message of several packets
}

// Expect describes in x the action of [Target.Receive] for a request of [ModeRUD] or
// [ModeROD] whose questions were all answered before: a packet of a write, or of a send
// except the first. Otherwise Expect reports false, and the request is for Receive. Nothing
// has changed: once the packet counts as arrived, [Target.Take] does the work of Receive.
// near is as in [Target.Recent], the quicker call in the middle of a message.
//
//uetcc:hot
func (t *Target) Expect(v *StandardView, near uint16, a Arrival, x *Expected) bool {
	*x = Expected{}
	if v.flags()&ses.FlagSOM == 0 {
		return t.expectLater(v, near, a, x)
	}
	g := t.grantAt(v.key(), v.at())
	if (g.key^v.key())|uint64((g.head^head(v.word()))&grantHead)|uint64(g.at^v.at()) != 0 || g.epoch != t.epoch {
		return false
	}
	off, n := v.bufferOffset(), v.requestLength()
	if off > g.length || uint64(n) > g.length-off {
		return false
	}
	x.Address, x.Cookie, x.Length = g.base+off, g.cookie, min(n, t.mtu)
	if x.Complete = v.isWhole(); x.Complete {
		x.HasData, x.HeaderData = v.data()
		return n <= t.mtu && int(n) <= a.Payload
	}
	x.g = g
	_, under := t.messages.find(pair{a.Peer, uint64(v.messageID())})
	return n > t.mtu && a.Payload == int(t.mtu) && !under && !t.Scarce(a.Peer)
}

// expectLater is Expect for a packet behind the first of a message.
//
//uetcc:hot
func (t *Target) expectLater(v *StandardView, near uint16, a Arrival, x *Expected) bool {
	m := &t.records[t.recent[uint64(near)&uint64(len(t.recent)-1)]]
	if m.differs(v, v.head()&^(head(ses.FlagEOM)<<48), a.Peer) != 0 || m.epoch != t.epoch || m.length != v.requestLength() {
		return false
	}
	off, n := v.MessageOffset(), uint32(v.PayloadLength())
	end := uint64(off) + uint64(n)
	if n-1 >= t.mtu || int(n) > a.Payload || n > m.length-m.seen ||
		end > uint64(m.length) || (end == uint64(m.length)) != v.flags().Has(ses.FlagEOM) {
		return false
	}
	x.m, x.Address, x.Cookie, x.Offset, x.Length = m, m.base+uint64(off), m.cookie, off, n
	if x.Complete = n == m.length-m.seen; x.Complete {
		x.HasData, x.HeaderData = m.hasData, m.headerData
	}
	return true
}

// Take counts the bytes of the request just described by Expect in x as arrived.
//
//uetcc:hot
func (t *Target) Take(v *StandardView, a Arrival, x *Expected) {
	m := x.m
	if g := x.g; g != nil {
		m, _ = t.open(v.head()&^(head(flagsOnly)<<48), v.requestLength(), a.Peer)
		m.base, m.cookie, m.limit, m.region, m.entry = x.Address, x.Cookie, m.length, g.region, g.entry
		m.gen = ses.Generation(m.head >> 24)
		m.hasData, m.headerData = v.data()
		m.key, m.offset, m.at, m.epoch = v.key(), v.bufferOffset(), v.at(), t.epoch
	}
	if m != nil {
		if m.seen += x.Length; x.Complete {
			t.drop(m)
		}
	}
}

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

// A StandardView is the header of a [Standard] request in place in the packet: for
// readers of some fields without a copy of all. Each method is a load and at most a
// mask, and returns the value of Standard.Decode for any bytes; PayloadLength and
// MessageOffset are valid while FlagSOM is not set.
type StandardView [ses.StandardLen]byte

// flags returns the flags.
func (v *StandardView) flags() ses.Flags { return ses.Flags(v[1] & flagsMask) }

// IsEdge reports whether the packet is the first or the last of a message.
//
//uetcc:hot inlines nobounds
func (v *StandardView) IsEdge() bool { return ses.Flags(v[1])&flagsOnly != 0 }

// isWhole reports whether the packet is a message.
//
//uetcc:hot inlines nobounds
func (v *StandardView) isWhole() bool { return ses.Flags(v[1]).Has(flagsOnly) }

// messageID returns message_id.
func (v *StandardView) messageID() ses.MessageID {
	return ses.MessageID(binary.BigEndian.Uint16(v[2:]))
}

// bufferOffset returns where the operation starts in the target's buffer, bytes.
func (v *StandardView) bufferOffset() uint64 { return binary.BigEndian.Uint64(v[12:]) }

// key returns the memory key or the match bits.
func (v *StandardView) key() uint64 { return binary.BigEndian.Uint64(v[24:]) }

// PayloadLength returns how many bytes of data the packet has.
//
//uetcc:hot inlines nobounds
func (v *StandardView) PayloadLength() uint16 {
	return binary.BigEndian.Uint16(v[34:]) & maxLength14
}

// MessageOffset returns the place of the payload in the message, bytes.
//
//uetcc:hot inlines nobounds
func (v *StandardView) MessageOffset() uint32 { return binary.BigEndian.Uint32(v[36:]) }

// data returns the completion data, if present in a packet with FlagSOM.
//
//uetcc:hot inlines nobounds
func (v *StandardView) data() (has bool, data uint64) {
	if ses.Flags(v[1])&ses.FlagHD != 0 {
		return true, binary.BigEndian.Uint64(v[32:])
	}
	return false, 0
}

// requestLength returns how many bytes the whole message has.
func (v *StandardView) requestLength() uint32 { return binary.BigEndian.Uint32(v[40:]) }

// word is the first eight bytes: opcode, flags, message_id, ri_generation, job_id.
func (v *StandardView) word() uint64 { return binary.BigEndian.Uint64(v[0:]) }

//uetcc:hot inlines nobounds
func (v *StandardView) head() head { return head(v.word() & headMask) }

// at equals atOf of the request.
//
//uetcc:hot inlines nobounds
func (v *StandardView) at() uint32 { return binary.BigEndian.Uint32(v[8:]) & (0xfff<<16 | 0xfff) }

// PutDefault writes the default response to a request: success, and the whole
// message.
//
//uetcc:hot inlines nobounds
func PutDefault(b *[ses.ResponseLen]byte, v *StandardView) {
	*(*[2]byte)(b[0:]) = [2]byte{byte(ses.ResponseDefault), byte(ses.RCOK)}
	*(*[6]byte)(b[2:]) = *(*[6]byte)(v[2:])  // message_id, ri_generation, job_id
	*(*[4]byte)(b[8:]) = *(*[4]byte)(v[40:]) // request_length
}
