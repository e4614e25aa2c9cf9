package ses

import (
	"encoding/binary"
	"math"
)

// A messageState says what is to be sent next.
type messageState uint8

const (
	messageSending  messageState = iota // the next packet, not before notBefore
	messageFailing                      // nothing: waits for what is in flight
	messageGivingUp                     // the notice that no more packets come
	messageGivenUp                      // nothing: the notice is in flight
)

// A message is in progress. The first 64 bytes are what a packet needs that is
// handed down or answered; most headers lie in the next 64.
//
//	sent <= packets; outstanding <= sent + 1; received <= length
type message struct {
	handle      Handle // 0: the slot is free
	sent        uint32 // packets handed to the PDS
	packets     uint32
	outstanding uint32 // packets not yet answered
	length      uint32 // bytes
	delivered   uint32 // bytes that the target took, at most length
	received    uint32 // bytes of a read
	job         JobID
	cookie      uint64
	notBefore   int64
	id          MessageID
	state       messageState
	fail        failure
	code        ReturnCode
	cause       uint8
	attempt     uint8
	unmatched   uint8      // retries for want of a match
	stale       uint8      // retries for the generation
	nextGen     Generation // failRetryNow: what the target asks for
	mode        Mode
	form        Form
	size        uint8 // of the header, bytes
	fetch       bool  // the answers bring length bytes
	carries     bool  // the packets carry length bytes
	_           byte

	// The header of the first packet, but for EOM.
	wire [StandardLen + CompareSwapLen]byte
	_    [48]byte
}

// Places in wire.
const (
	atFlags      = 1
	atID         = 2
	atGeneration = 4
	atPlace      = 32 // of the standard form
)

// A failure is what went wrong with a message so far. The first fatal one stays,
// and comes before any that can be repaired.
type failure uint8

const (
	failNone       failure = iota
	failRetryNow           // the generation was old
	failRetryLater         // no match, or not now
	failFatal              // the target refused
	failPDS                // the PDC is of no use any more
)

// begin makes m the message h that o asks for.
func (m *message) begin(o *Operation, h Handle, packets uint32) {
	*m = message{
		handle: h, packets: packets, length: o.Length, delivered: o.Length, job: o.Job, cookie: o.Cookie, notBefore: math.MinInt64,
		mode: o.Mode, form: o.form(), fetch: o.Opcode.IsFetch(), carries: o.bringsPayload(),
	}
	var r Request
	o.request(&r)
	m.size = uint8(len(r.AppendTo(m.wire[:0])))
}

func (m *message) setID(id MessageID) {
	m.id = id
	binary.BigEndian.PutUint16(m.wire[atID:], uint16(id))
}

func (m *message) generation() Generation { return Generation(m.wire[atGeneration]) }

// inFlight reports whether p has been sent in this attempt. It may have been
// answered.
func (m *message) inFlight(p PacketHandle) bool {
	if m.attempt != p.attempt() {
		return false
	}
	if m.state == messageGivenUp {
		return p.packet() == m.packets
	}
	return p.packet() < m.sent
}

// place returns which bytes packet i is about. The notice, packet number
// m.packets, speaks of the last packet's first byte.
func (m *message) place(mtu, i uint32) (off, n uint32) {
	if i == m.packets {
		return (i - 1) * mtu, 0
	}
	off = i * mtu
	return off, min(mtu, m.length-off)
}

// describe fills q with packet i.
func (m *message) describe(mtu, i uint32, q *TxReq) {
	_, n := m.place(mtu, i)
	if !m.carries {
		n = 0
	}
	q.Packet, q.Length, q.Mode, q.Form, q.Header = packetHandle(m.handle, m.attempt, i), n, m.mode, m.form, m.size
	q.EOM, q.Notice = i+1 >= m.packets, i == m.packets
}

// copyStandard copies by words: the compiler calls memmove where it cannot know
// that the arrays do not overlap.
func copyStandard(to, from *[StandardLen]byte) {
	a, b, c := binary.NativeEndian.Uint64(from[:]), binary.NativeEndian.Uint64(from[8:]), binary.NativeEndian.Uint64(from[16:])
	d, e, f := binary.NativeEndian.Uint64(from[24:]), binary.NativeEndian.Uint64(from[32:]), binary.NativeEndian.Uint32(from[40:])
	binary.NativeEndian.PutUint64(to[:], a)
	binary.NativeEndian.PutUint64(to[8:], b)
	binary.NativeEndian.PutUint64(to[16:], c)
	binary.NativeEndian.PutUint64(to[24:], d)
	binary.NativeEndian.PutUint64(to[32:], e)
	binary.NativeEndian.PutUint32(to[40:], f)
}

// header writes the header of packet i, which is about the bytes y, to b, which has
// its size.
func (m *message) header(b []byte, i uint32, y Payload) {
	if len(b) == StandardLen {
		copyStandard((*[StandardLen]byte)(b), (*[StandardLen]byte)(m.wire[:]))
	} else {
		copy(b, m.wire[:])
	}
	flags := Flags(m.wire[atFlags])
	if i+1 >= m.packets {
		flags |= FlagEOM
	}
	if i == 0 {
		b[atFlags] = byte(flags)
		return
	}
	// A message of several packets is in the standard form. Only its first packet has
	// header data.
	if i == m.packets {
		b[0], flags = byte(OpcodeMsgError), flags|FlagIE
	}
	b[atFlags] = byte(flags &^ (FlagSOM | FlagHD))
	binary.BigEndian.PutUint64(b[atPlace:], uint64(y.Length)<<32|uint64(y.Offset))
}
