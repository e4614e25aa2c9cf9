// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// A PacketHandle names a packet towards the PDS (tx_pkt_handle): the message's
// [Handle], 9 bits of attempt, 23 bits of packet number.
type PacketHandle uint64

const packetBits = 23

func packetHandle(h ses.Handle, attempt uint8, packet uint32) PacketHandle {
	return PacketHandle(h)<<32 | PacketHandle(attempt)<<packetBits | PacketHandle(packet)
}

// First returns the name of the first packet of message h in the first attempt.
func First(h ses.Handle) PacketHandle { return packetHandle(h, 0, 0) }

// Message returns the handle of the message.
func (p PacketHandle) Message() ses.Handle { return ses.Handle(p >> 32) }

func (p PacketHandle) attempt() uint8 { return uint8(p >> packetBits) }
func (p PacketHandle) packet() uint32 { return uint32(p & (1<<packetBits - 1)) }

// A TxReq is one packet for the PDS: ses_pds_tx_req of specification table 3-27.
// FEPs, mode, traffic class and contexts come from the message. [Initiator.PutHeader] writes
// the header and names the payload.
type TxReq struct {
	Packet PacketHandle
	Length uint32      // the payload's bytes
	Asks   uint32      // bytes asked for: with reads and fetching atomics
	Form   pds.NextHdr // of the header
	Header uint8       // bytes of the header
	EOM    bool        // the message's last packet
	Notice bool        // the message is given up: UET_MSG_ERROR, or the release of a receive buffer
}

// A Payload is the bytes of a message that follow the header of a packet.
type Payload struct {
	Offset uint32 // in the message
	Length uint32 // bytes, may be 0
	Cookie uint64 // of the message
}

// An EventKind names the consequence of a response, an error or data.
type EventKind uint8

const (
	eventNone EventKind = iota // the message goes on
	// EventReady means packets to send again, not before Event.At: a new attempt, or the notice
	// of giving up.
	EventReady
	EventDone // the message is over, with Event.Outcome; the handle is gone
)

// String returns a short name.
func (k EventKind) String() string { return enum.Name([]string{"none", "ready", "done"}, k) }

// An Event is the initiator's conclusion from news of the PDS.
type Event struct {
	Kind   EventKind
	At     int64 // EventReady: nanoseconds, on the caller's clock
	Cookie uint64
	// DataLength bytes of data came with the answer, for DataOffset in the message.
	DataOffset, DataLength uint32
	Outcome                ses.Outcome // EventDone
}
