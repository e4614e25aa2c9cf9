// SPDX-License-Identifier: Apache-2.0

// Package codec reads and writes a 32-byte acknowledgement and the frame around
// with a Go program's usual means, and with the least code possible.
package codec

import "encoding/binary"

// Size is the length of an Ack on the wire.
const Size = 32

// Ack has the size and the word layout of a UET ACK with congestion state, with
// a field for each wire word, so encoding/binary can handle Acks too.
type Ack struct {
	Prologue, Offset uint16
	CACK             uint32
	SPDCID, DPDCID   uint16
	CC, MPR          uint8
	SACKOffset       uint16
	Bitmap, State    uint64
}

// Get is the floor for reading: every field once, one length check.
func (a *Ack) Get(b []byte) bool {
	if len(b) < Size {
		return false
	}
	a.get((*[Size]byte)(b))
	return true
}

func (a *Ack) get(b *[Size]byte) {
	a.Prologue = binary.BigEndian.Uint16(b[:])
	a.Offset = binary.BigEndian.Uint16(b[2:])
	a.CACK = binary.BigEndian.Uint32(b[4:])
	a.SPDCID = binary.BigEndian.Uint16(b[8:])
	a.DPDCID = binary.BigEndian.Uint16(b[10:])
	a.CC, a.MPR = b[12], b[13]
	a.SACKOffset = binary.BigEndian.Uint16(b[14:])
	a.Bitmap = binary.BigEndian.Uint64(b[16:])
	a.State = binary.BigEndian.Uint64(b[24:])
}

// Put is the floor for writing.
func (a *Ack) Put(b []byte) bool {
	if len(b) < Size {
		return false
	}
	b = b[:Size:Size]
	binary.BigEndian.PutUint16(b, a.Prologue)
	binary.BigEndian.PutUint16(b[2:], a.Offset)
	binary.BigEndian.PutUint32(b[4:], a.CACK)
	binary.BigEndian.PutUint16(b[8:], a.SPDCID)
	binary.BigEndian.PutUint16(b[10:], a.DPDCID)
	b[12], b[13] = a.CC, a.MPR
	binary.BigEndian.PutUint16(b[14:], a.SACKOffset)
	binary.BigEndian.PutUint64(b[16:], a.Bitmap)
	binary.BigEndian.PutUint64(b[24:], a.State)
	return true
}
