// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"encoding/binary"
	"math/bits"

	"github.com/uetcc/uetcc/internal/standard"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// A messageState names the next packets to send.
type messageState uint8

const (
	messageSending  messageState = iota // the next packet, not before notBefore
	messageFailing                      // nothing: waits for packets in flight
	messageGivingUp                     // the notice of giving up
	messageGivenUp                      // nothing: the notice is in flight
	messageDeferred                     // nothing: waits for ready to restart
)

// A message is a message in progress. Sending or answering a packet between the first and the last
// needs only the first 64 bytes; the first and the last packet need 128. Place and generation outlive
// the message, in place of a list of free ones.
//
//	sent <= packets; outstanding <= sent + 1; received <= length + rest
type message struct {
	handle      ses.Handle // 0: the slot is free
	sent        uint32     // packets handed to the PDS
	packets     uint32
	outstanding uint32 // packets not yet answered
	length      uint32 // bytes of the packets
	state       messageState
	attempt     uint8
	size        uint8 // of the header, bytes
	kind        messageKind
	cookie      uint64

	// The header of the first packet, without EOM and without first; of the packets between the first
	// and the last with the place instead of what lies there in the first.
	wire  [ses.StandardLen + ses.CompareSwapLen]byte
	first ses.Flags // of the first packet alone

	mode      ses.Mode
	form      pds.NextHdr
	fail      failure
	delivered uint32 // bytes taken by the target, at most length + rest
	received  uint32 // bytes of a read; of a rendezvous send, the eager bytes and the bytes read
	gen       uint16 // of the handle
	link      uint16 // slot plus 1 of the next message: in the list of the message_id, or of the free slots

	late
}

// A late is what a message needs after a failure, after an answer with data, or as a rendezvous.
type late struct {
	notBefore int64
	missing   uint64 // of a read: the sum of placeSum over packets asked for and not received
	rest      uint32 // rendezvous: bytes read by the target, beyond length
	restart   uint32 // deferrable: target_restart_token of ready to restart
	nextMTU   uint16 // failSmaller: the target's demand
	code      ses.ReturnCode
	cause     uint8
	unmatched uint8          // retries for want of a match
	stale     uint8          // retries for the generation
	nextGen   ses.Generation // failRetryNow: the target's demand
	ready     bool           // ready to restart has come
	_         [28]byte
}

// messageKind is the kind of a message.
type messageKind uint8

const (
	kindFetch   messageKind = 1 << iota // the answers bring length bytes
	kindCarries                         // the packets carry length bytes
	kindNamed                           // the header has a message_id
	kindWaits                           // not over before received is delivered
	kindMiddle                          // carries, behind a standard header
	kindLate                            // was begun again: notBefore counts
)

func (m *message) is(k messageKind) bool { return m.kind&k != 0 }

// The two bits above the kinds count the doublings from 1024 to the MTU of the message,
// maybe less than the initiator's MTU: see failSmaller.
const kindMTU = 6

func mtuKind(mtu uint32) messageKind { return messageKind(bits.TrailingZeros32(mtu/1024)) << kindMTU }

func (m *message) mtu() uint32 { return 1024 << (m.kind >> kindMTU) }

// takes reports whether the message can go in packets of a smaller MTU. Ready to restart is one packet,
// for any length of the deferred send.
func (m *message) takes(mtu uint32) bool {
	return mtu < m.mtu() && m.form == pds.NextRequestStd && (m.is(kindCarries) || m.opcode() == ses.OpcodeRead) &&
		!m.opcode().IsAtomic() && isMTU(mtu)
}

// cut changes the MTU of a message with nothing in flight.
func (m *message) cut(mtu uint32) {
	m.kind = m.kind&(1<<kindMTU-1) | mtuKind(mtu)
	m.packets = max(1, uint32((uint64(m.length)+uint64(mtu)-1)/uint64(mtu)))
	m.askLength()
}

// askLength puts the requested length into the first packet of a read, as into the rest,
// where header data leaves room. Without a length the target would assume the target's own
// MTU.
func (m *message) askLength() {
	if m.opcode() == ses.OpcodeRead && m.packets > 1 && m.first&ses.FlagHD == 0 {
		binary.BigEndian.PutUint64(m.wire[atPlace:], uint64(m.mtu())<<32)
	}
}

// Places in wire.
const (
	atID         = 2
	atGeneration = 4
	atPlace      = standard.Place
)

// A failure is the worst failure of a message so far. The first fatal failure stays, and
// outweighs repairable failures.
type failure uint8

const (
	failNone       failure = iota
	failRetryNow           // the generation was old
	failSmaller            // the target takes smaller packets
	failRetryLater         // no match, or not now
	failDeferred           // no match, remembered by the target
	failFatal              // the target refused
	failRefused            // the PDS has given a packet up, but not the PDC
	failPDS                // the PDC is of no use any more
)

// open makes m a message of one packet, with nothing but the handle of the message before.
func (m *message) open(mode ses.Mode, length uint32, cookie uint64) {
	m.length, m.cookie = length, cookie
	m.sent, m.packets, m.outstanding, m.state, m.attempt = 0, 1, 0, messageSending, 0
	m.mode, m.form, m.fail, m.delivered, m.received = mode, pds.NextRequestStd, failNone, length, 0
	m.late = late{}
}

// begin makes m, opened, the message of o, in packets of an MTU.
func (m *message) begin(o *Operation, mtu uint32) {
	m.packets, m.form, m.kind = o.Packets(mtu), o.form(), mtuKind(mtu)
	if m.form == pds.NextRequestStd && m.mode != ses.ModeUUD {
		m.kind |= kindNamed
	}
	o.put((*[ses.StandardLen]byte)(m.wire[:]))
	switch m.size = ses.StandardLen; {
	case m.form != pds.NextRequestStd || !o.Opcode.IsPlain():
		if m.size = m.beginOther(o); m.size == ses.StandardLen && m.is(kindCarries) {
			m.kind |= kindMiddle
		}
	case o.Opcode == ses.OpcodeRead:
		m.kind |= kindFetch | kindWaits
	default:
		m.kind |= kindCarries | kindMiddle
	}
	m.first = ses.Flags(m.wire[1]) & firstFlags
	m.wire[1] &^= byte(firstFlags)
	if m.is(kindFetch) {
		m.askLength()
	}
}

// beginOther makes a standard first header one that is short or has an extension, and returns its length.
func (m *message) beginOther(o *Operation) uint8 {
	if o.Opcode.IsFetch() {
		m.kind |= kindFetch | kindWaits
	}
	if o.bringsPayload() {
		m.kind |= kindCarries
	}
	r := ses.Request{Form: m.form, Swap: o.Swap}
	_, _ = r.Standard.Decode(m.wire[:])
	if o.Opcode.IsRendezvous() || o.Opcode == ses.OpcodeDeferrableRTR {
		r.Rendezvous, r.Token = o.Rendezvous, o.Token
	}
	switch {
	case o.Opcode.IsDeferrable():
		r.Token = ses.RestartToken{Initiator: uint32(m.handle)}
	case o.Opcode.IsRendezvous():
		m.length = o.carried()
		m.rest, m.received = o.Length-m.length, m.length
		m.kind |= kindWaits
	}
	return uint8(len(r.AppendTo(m.wire[:0])))
}

// id is 0 for a message without one.
func (m *message) id() ses.MessageID {
	if !m.is(kindNamed) {
		return 0
	}
	return ses.MessageID(binary.BigEndian.Uint16(m.wire[atID:]))
}

// announce changes the request_length in the header of a message of one packet with an
// extension.
func (m *message) announce(n uint32) {
	if m.form == pds.NextRequestStd {
		binary.BigEndian.PutUint32(m.wire[atPlace+8:], n)
		return
	}
	binary.BigEndian.PutUint16(m.wire[atID:], uint16(n)) // where others have their message_id
}

func (m *message) job() ses.JobID {
	return ses.JobID(binary.BigEndian.Uint32(m.wire[atGeneration:]) & 0xff_ffff)
}

// inFlight reports whether p has been sent in the current attempt, answered or not.
func (m *message) inFlight(p PacketHandle) bool {
	if m.attempt != p.attempt() {
		return false
	}
	if m.state == messageGivenUp {
		return p.packet() == m.packets
	}
	return p.packet() < m.sent
}

// place returns the bytes of packet i. The notice, packet number m.packets, names the last
// packet's first byte.
func (m *message) place(i uint32) (off, n uint32) {
	mtu := m.mtu()
	if i == m.packets {
		return (i - 1) * mtu, 0
	}
	off = i * mtu
	return off, min(mtu, m.length-off)
}

// describe fills q with packet i.
//
//uetcc:hot
func (m *message) describe(i uint32, q *TxReq) {
	_, n := m.place(i)
	if q.Asks = 0; m.is(kindFetch) {
		q.Asks = n
	}
	if !m.is(kindCarries) {
		n = 0
	}
	q.Packet, q.Length, q.Form, q.Header = packetHandle(m.handle, m.attempt, i), n, m.form, m.size
	q.EOM, q.Notice = i+1 >= m.packets, i == m.packets || m.wire[1]&byte(ses.FlagIE) != 0
	if q.Notice {
		q.Header = ses.StandardLen
	}
}

// firstFlags are the flags of the first packet only.
const firstFlags = ses.FlagSOM | ses.FlagHD

// opening is the first word of the header of packet i.
//
//uetcc:hot inlines
func (m *message) opening(i uint32) uint64 {
	w := binary.BigEndian.Uint64(m.wire[:])
	if i == 0 {
		w |= uint64(m.first) << 48
	}
	if i+1 >= m.packets {
		w |= uint64(ses.FlagEOM) << 48
	}
	if i == m.packets {
		w = w&(1<<56-1) | uint64(ses.OpcodeMsgError)<<56 | uint64(ses.FlagIE)<<48
	}
	return w
}

// otherHeader writes a short header, or a header with extension, to b and returns the
// length. Only a rendezvous send has several packets with an extension; the notice has none.
func (m *message) otherHeader(b []byte, i uint32, place uint64) int {
	n := copy(b, m.wire[:])
	if i > 0 {
		binary.BigEndian.PutUint64(b[atPlace:], place)
	}
	if i == m.packets {
		n = ses.StandardLen
	}
	binary.BigEndian.PutUint64(b, m.opening(i))
	return n
}
