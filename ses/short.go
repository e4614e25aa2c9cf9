// SPDX-License-Identifier: Apache-2.0

package ses

import "encoding/binary"

// The short forms of a request, see [FormSmall] and [FormMedium].

//uetcc:hot nobounds
func (r *Request) decodeSmall(b *[smallLen]byte) {
	s := &r.Standard
	s.Common.get((*[commonLen]byte)(b[:]))
	s.Flags &^= FlagHD
	s.RequestLength = uint32(binary.BigEndian.Uint16(b[2:]) & maxLength14)
	s.BufferOffset = binary.BigEndian.Uint64(b[12:])
	s.Initiator, s.Key, s.HeaderData = 0, 0, 0
	s.MessageID, s.PayloadLength, s.MessageOffset = 0, 0, 0
}

func (r *Request) appendSmall(b []byte) []byte {
	b, tail := extend(b, smallLen)
	p := (*[smallLen]byte)(tail)
	r.putShort((*[commonLen]byte)(p[:]))
	p[1] &^= byte(FlagHD)
	binary.BigEndian.PutUint64(p[12:], r.BufferOffset)
	return b
}

//uetcc:hot nobounds
func (r *Request) decodeMedium(b *[mediumLen]byte) {
	s := &r.Standard
	s.Common.get((*[commonLen]byte)(b[:]))
	s.RequestLength = uint32(binary.BigEndian.Uint16(b[2:]) & maxLength14)
	if v := binary.BigEndian.Uint64(b[12:]); s.Flags&FlagHD != 0 {
		s.HeaderData, s.BufferOffset = v, 0
	} else {
		s.HeaderData, s.BufferOffset = 0, v
	}
	s.Initiator = binary.BigEndian.Uint32(b[20:])
	s.Key = binary.BigEndian.Uint64(b[24:])
	s.MessageID, s.PayloadLength, s.MessageOffset = 0, 0, 0
}

func (r *Request) appendMedium(b []byte) []byte {
	b, tail := extend(b, mediumLen)
	p := (*[mediumLen]byte)(tail)
	r.putShort((*[commonLen]byte)(p[:]))
	v := r.BufferOffset
	if r.Flags&FlagHD != 0 {
		v = r.HeaderData
	}
	binary.BigEndian.PutUint64(p[12:], v)
	binary.BigEndian.PutUint32(p[20:], r.Initiator)
	binary.BigEndian.PutUint64(p[24:], r.Key)
	return b
}

// putShort writes the first bytes, request_length among them.
func (r *Request) putShort(b *[commonLen]byte) {
	r.mustFit()
	if r.RequestLength > maxLength14 {
		panic("ses: request_length wider than the 14 bits of a small or medium request")
	}
	r.Common.put(b, uint16(r.RequestLength))
}

// validateShort reports values impossible in a short form with the opcodes ops.
func (r *Request) validateShort(ops uint64) error {
	if err := r.Common.validate(ops); err != nil {
		return err
	}
	if !r.Flags.Has(flagsOnly) {
		return ErrFraming
	}
	return nil
}
