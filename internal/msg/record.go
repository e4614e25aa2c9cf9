// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// A Record is a target's state of a message of several packets, from the first arrival
// until all have arrived, the initiator gives the message up, or the PDC ends.
//
// A packet like those before needs only the first cache line, see [Target.Recent].
type Record struct {
	peer   uint64
	base   uint64 // address of the message's first byte
	cookie uint64
	key    uint64 // of the last passed packet, as the next three
	offset uint64 // buffer_offset
	head   head
	at     uint32 // see atOf
	length uint32 // request_length
	seen   uint32 // bytes of arrived packets, <= length
	epoch  uint32 // of the target when a packet passed for others to follow; 0: no packet

	headerData uint64
	limit      uint32     // bytes with a place, <= length
	region     ses.Handle // 0 for a receive buffer
	entry      uint32
	code       ses.ReturnCode // of the first failure, RCNull before
	gen        ses.Generation // of the index then; after a failure, the Generation of the answer
	list       ses.List       // after a failure, likewise
	hasData    bool

	// The receive buffer that the message has taken, beside base and cookie, see Target.giveBack.
	match, ignore uint64
	room, posted  uint32
	taken         bool
	_             [recordLen - 64 - 24 - 25]byte
}

// recordLen is two cache lines, so no line holds parts of two records.
const recordLen = 128

// admits reports whether one more packet can belong to the message: the length is the same,
// and no byte comes twice. The PDS delivers each packet once, so the sum of the bytes tells
// the missing rest.
func (m *Record) admits(x extent) bool {
	return x.all == m.length && x.n <= m.length-m.seen
}

// open takes a record for a message with packets of head h, if the peer may have one more.
func (t *Target) open(h head, length uint32, peer uint64) (m *Record, ok bool) {
	if !t.listed.of(peer).shares(&t.recordSlots) {
		return nil, false
	}
	i, _ := t.recordSlots.take()
	m = &t.records[i]
	*m = Record{peer: peer, head: h, length: length}
	t.messages.insert(pair{peer, uint64(h.id())}, i)
	t.recent[peer&uint64(len(t.recent)-1)] = uint16(i)
	t.listed.push(peer, i)
	return m, true
}

// Scarce reports whether a peer may have at most one record more. Keep the last record for
// the packet at the edge, with every earlier packet of the PDC arrived: the rest of the
// edge's message comes next, and can be taken in. The message of a packet further ahead may
// wait for packets refused for want of records. See [Target.Opens].
func (t *Target) Scarce(peer uint64) bool {
	return int(t.listed.of(peer).n)+1 >= t.recordSlots.spare()-1
}

// Opens reports whether r would take a record: r belongs to a message of several packets
// without a record yet, in a mode with records. A repeated deferred send does not count:
// the send gives back more than one record takes.
func (t *Target) Opens(r *ses.Request, a Arrival) bool {
	if a.Mode > ses.ModeROD || r.Form != pds.NextRequestStd || r.Flags.Has(flagsOnly) ||
		r.Opcode == ses.OpcodeMsgError || r.Opcode.IsDeferrable() && r.Token.Target != 0 {
		return false
	}
	_, ok := t.messages.find(pair{a.Peer, uint64(r.MessageID)})
	return !ok
}

// find returns the record of r's message.
//
//uetcc:hot
func (t *Target) find(r *ses.Request, peer uint64) *Record {
	if i, ok := t.messages.find(pair{peer, uint64(r.MessageID)}); ok {
		t.recent[peer&uint64(len(t.recent)-1)] = uint16(i)
		return &t.records[i]
	}
	return nil
}

// drop ends a message.
func (t *Target) drop(m *Record) {
	key := pair{m.peer, uint64(m.head.id())}
	i, _ := t.messages.find(key)
	m.epoch = 0
	t.messages.remove(key)
	t.listed.remove(m.peer, i)
	t.recordSlots.release(i)
}

// ClosePeer ends all messages of an ended PDC. lost, unless nil, is called with the cookie
// of the region or receive buffer of each message in progress, but not of reads, nor of
// messages failed before, as a [Decision] has said. The cost grows with the messages of all
// peers with the same low bits.
func (t *Target) ClosePeer(peer uint64, lost func(cookie uint64)) {
	if t.pendSlots.live != 0 {
		t.dropDeferredOf(peer)
	}
	for at := t.listed.of(peer).Head; at != 0; {
		m := &t.records[at-1]
		if at = t.listed.links.Next(at); m.peer != peer {
			continue
		}
		if m.code == ses.RCNull && m.head.opcode() != ses.OpcodeRead && lost != nil {
			lost(m.cookie)
		}
		t.drop(m)
	}
}

// A head is the common part of a message's packets in the first eight bytes of a standard
// header, in place. The flags absent in the middle of a message are included, as 0 in a
// record's head.
type head uint64

const headMask = opcodeMask<<56 | uint64(3<<6|flagsOnly|ses.FlagIE|ses.FlagRel)<<48 | (1<<48 - 1)

func headOf(r *ses.Request) head {
	return head(r.Opcode)<<56 | head(r.Flags&ses.FlagRel)<<48 | head(r.MessageID)<<32 |
		head(r.Generation)<<24 | head(r.JobID&0xff_ffff)
}

func (h head) opcode() ses.Opcode { return ses.Opcode(h >> 56) }
func (h head) id() ses.MessageID  { return ses.MessageID(h >> 32) }

// atOf returns pid_on_fep and resource_index at their places in the header.
func atOf(r *ses.Request) uint32 { return uint32(r.PIDonFEP)<<16 | uint32(r.Index) }
