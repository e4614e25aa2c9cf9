// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/pds"
)

// nullLen is the length of a default response. (UE Specification 1.0.x, Table 3-43.)
const nullLen = 12

// requestName is the part of a request repeated in a default response made here: message_id
// and JobID, 0 if unknown. All other fields are 0, including RC_NULL: the answer of the layer
// above is not kept, and went to the initiator with the first copy.
//
// Every acknowledgement that names a request has a response. The reference provider never
// ends a packet whose acknowledgement lacks a response, and after one lost acknowledgement
// the message waited for ever.
type requestName uint64

// Places of the fields in the first 8 bytes of a response, and of a request.
const (
	nameMessage = 0xffff << 32
	nameJob     = 0xff_ffff
)

// nameOf is the name of a request whose semantic header b begins with.
func nameOf(next pds.NextHdr, b []byte) requestName {
	if len(b) < 8 {
		return 0
	}
	v := requestName(binary.BigEndian.Uint64(b))
	switch next {
	case pds.NextRequestStd, pds.NextResponseData:
		return v & (nameMessage | nameJob)
	}
	return v & nameJob // the others have something else where message_id is
}

// sameMessage is the number of packets before a request surely of the same message, on an
// ordered PDC: all whole packets before message_offset.
func sameMessage(next pds.NextHdr, b []byte) uint32 {
	const som, eom = 1, 2
	if next != pds.NextRequestStd || len(b) < semanticLen[next] || b[1]&som != 0 {
		return 0
	}
	size, at := uint32(binary.BigEndian.Uint16(b[34:]))&0x3fff, binary.BigEndian.Uint32(b[36:])
	if b[1]&eom != 0 || size == 0 { // the last may be shorter than those before
		return 1
	}
	return at / size
}

// putNull has the acknowledgement bring the default response for n. The response is written
// in place behind the ACK_CC in out, so nothing is copied.
func (a *ackSpec) putNull(out []byte, n requestName) {
	b := out[pds.AckCCLen:][:nullLen]
	binary.BigEndian.PutUint64(b, uint64(n))
	binary.BigEndian.PutUint32(b[8:], 0)
	a.next, a.bytes = pds.NextResponse, b
}
