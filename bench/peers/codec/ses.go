// SPDX-License-Identifier: Apache-2.0

package codec

import "encoding/binary"

// requestLen is the length of a Request on the wire.
const requestLen = 16 + 44

// Request has the size and the word layout of a UET request with congestion state
// and the standard semantic header of a write behind, with a field for each wire
// word.
type Request struct {
	Prologue, Clear    uint16
	PSN                uint32
	SPDCID, DPDCID     uint16
	Credit             uint32
	Opcode, Flags      uint8
	MessageID          uint16
	Job                uint32
	PID, Index         uint16
	Buffer             uint64
	Initiator          uint32
	Key, HeaderOrPlace uint64
	Length             uint32
}

func (r *Request) get(b *[requestLen]byte) {
	r.Prologue = binary.BigEndian.Uint16(b[:])
	r.Clear = binary.BigEndian.Uint16(b[2:])
	r.PSN = binary.BigEndian.Uint32(b[4:])
	r.SPDCID = binary.BigEndian.Uint16(b[8:])
	r.DPDCID = binary.BigEndian.Uint16(b[10:])
	r.Credit = binary.BigEndian.Uint32(b[12:])
	r.Opcode, r.Flags = b[16], b[17]
	r.MessageID = binary.BigEndian.Uint16(b[18:])
	r.Job = binary.BigEndian.Uint32(b[20:])
	r.PID = binary.BigEndian.Uint16(b[24:])
	r.Index = binary.BigEndian.Uint16(b[26:])
	r.Buffer = binary.BigEndian.Uint64(b[28:])
	r.Initiator = binary.BigEndian.Uint32(b[36:])
	r.Key = binary.BigEndian.Uint64(b[40:])
	r.HeaderOrPlace = binary.BigEndian.Uint64(b[48:])
	r.Length = binary.BigEndian.Uint32(b[56:])
}

// RequestFrame is a Request in UDP, IPv4 and Ethernet.
type RequestFrame struct {
	Src, Dst         uint32
	SrcPort, DstPort uint16
	TOS              uint8
	Request          Request
}

// Get is the floor for reading such a frame, with the checks of [Frame.Get].
func (f *RequestFrame) Get(b []byte) bool {
	if len(b) < ackAt+requestLen || !checked(b) {
		return false
	}
	f.TOS = b[ipAt+1]
	f.Src, f.Dst = binary.BigEndian.Uint32(b[ipAt+12:]), binary.BigEndian.Uint32(b[ipAt+16:])
	f.SrcPort, f.DstPort = binary.BigEndian.Uint16(b[udpAt:]), binary.BigEndian.Uint16(b[udpAt+2:])
	f.Request.get((*[requestLen]byte)(b[ackAt:]))
	return true
}
