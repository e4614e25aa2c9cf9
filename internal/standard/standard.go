// SPDX-License-Identifier: Apache-2.0

// Package standard writes the standard semantic header in place, for its codec and for those
// that keep headers as templates.
package standard

import "encoding/binary"

// Len is the length of a standard header, bytes.
const Len = 44

// Place is where header_data, or the packet's place in the message, lies.
const Place = 32

// Put writes all but the common fields; place is header_data, or the packet's place in the message.
func Put(p *[Len]byte, offset, key, place uint64, initiator, length uint32) {
	binary.BigEndian.PutUint64(p[12:], offset)
	binary.BigEndian.PutUint32(p[20:], initiator)
	binary.BigEndian.PutUint64(p[24:], key)
	binary.BigEndian.PutUint64(p[Place:], place)
	binary.BigEndian.PutUint32(p[40:], length)
}
