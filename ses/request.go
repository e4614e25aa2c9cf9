// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"encoding/binary"
	"fmt"

	"github.com/uetcc/uetcc/pds"
)

// A Request is any request header, extension included, in the terms of the standard
// form, NextRequestStd, which every request can have. A small or medium request has one packet and no
// message_id, so MessageID, PayloadLength and MessageOffset are 0.
//
// NextRequestSmall is for a message where the resource index alone selects the memory. The hd flag is
// reserved. Source: figure 3-13.
//
//	0              16 18                32
//	+---------------+--+----------------+
//	| opcode, flags | 0| request_length |
//	+---------------+--+----------------+
//	| ri_generation |      job_id       |
//	+------------+--+-+-----------------+
//	| 0|pid_on_fep|0| resource_index    |
//	+------------+----+-----------------+
//	|        buffer_offset (64)         |
//	+-----------------------------------+
//
// NextRequestMedium is for a message with a key or match bits. With header data its operation starts
// at offset 0. Source: figure 3-14.
//
//	0              16 18                32
//	+---------------+--+----------------+
//	| opcode, flags | 0| request_length |
//	+---------------+--+----------------+
//	| ri_generation |      job_id       |
//	+------------+--+-+-----------------+
//	| 0|pid_on_fep|0| resource_index    |
//	+------------+----+-----------------+
//	|  hd=1: header_data (64)           |
//	|  hd=0: buffer_offset (64)         |
//	+-----------------------------------+
//	|            initiator              |
//	+-----------------------------------+
//	|   memory_key or match_bits (64)   |
//	+-----------------------------------+
type Request struct {
	Form pds.NextHdr
	Standard
	Token      RestartToken // deferrable sends and ready to restart
	Rendezvous Rendezvous   // when Opcode.IsRendezvous and the form is standard
	Swap       CompareSwap  // when Opcode.IsAtomic; without its operands unless Swap.Opcode.IsSwap
}

// A RestartToken names a deferred send at both ends, so the target can ask for the
// send later. The token takes eight bytes of the standard header: the place of
// buffer_offset in a deferrable send, of memory_key in ready to restart. The displaced
// field is 0 in a [Request].
//
//	+-------------------------+----------------------+
//	| initiator_restart_token | target_restart_token |
//	+-------------------------+----------------------+
//
// Sources: figures 3-11 and 3-12.
type RestartToken struct {
	Initiator, Target uint32
}

func tokenOf(word uint64) RestartToken { return RestartToken{uint32(word >> 32), uint32(word)} }

func (t RestartToken) word() uint64 { return uint64(t.Initiator)<<32 | uint64(t.Target) }

// Decode reads the request header of form f at the start of b; n is the length of
// header and extension. Extension fields foreign to the opcode keep their values.
//
// Errors: [ErrForm] when f is not a request form, [ErrTruncated]; the request is then
// unchanged.
//
//uetcc:hot nobounds
func (r *Request) Decode(f pds.NextHdr, b []byte) (n int, err error) {
	if f == pds.NextRequestStd && len(b) >= StandardLen && Opcode(b[0]&opcodeMask).IsPlain() {
		r.Form = f
		return r.Standard.Decode(b)
	}
	return r.decode(f, b)
}

// decode is Decode for all but the plain standard header, the most frequent.
//
//uetcc:hot
func (r *Request) decode(f pds.NextHdr, b []byte) (n int, err error) {
	if !f.IsRequest() {
		return 0, ErrForm
	}
	base := formLen(f)
	if len(b) < base {
		return 0, ErrTruncated
	}
	if n = base + extensionLen(f, base, b); len(b) < n {
		return 0, ErrTruncated
	}
	r.Form = f
	switch f {
	case pds.NextRequestSmall:
		r.decodeSmall((*[smallLen]byte)(b))
	case pds.NextRequestMedium:
		r.decodeMedium((*[mediumLen]byte)(b))
	default:
		r.decodeStandard((*[StandardLen]byte)(b))
	}
	if n > base {
		r.decodeExtension(b[base:n])
	}
	return n, nil
}

// decodeStandard reads the standard form of any opcode.
//
//uetcc:hot nobounds
func (r *Request) decodeStandard(b *[StandardLen]byte) {
	r.Standard.get(b)
	switch {
	case r.Opcode.IsDeferrable():
		r.Token, r.BufferOffset = tokenOf(r.BufferOffset), 0
	case r.Opcode == OpcodeDeferrableRTR:
		r.Token, r.Key = tokenOf(r.Key), 0
	}
}

// decodeExtension reads ext, cut to size by extensionLen.
func (r *Request) decodeExtension(ext []byte) {
	switch len(ext) {
	case CompareSwapLen:
		r.Swap.get((*[CompareSwapLen]byte)(ext))
	case AtomicLen:
		r.Swap.Atomic.get((*[AtomicLen]byte)(ext))
	case RendezvousLen:
		r.Rendezvous.get((*[RendezvousLen]byte)(ext))
	}
}

// AppendTo appends header and extension to b, in the form r.Form. AppendTo panics for
// any other form.
//
//uetcc:hot
func (r *Request) AppendTo(b []byte) []byte {
	if r.Form == pds.NextRequestStd && r.Opcode.IsPlain() {
		return r.Standard.AppendTo(b)
	}
	return r.appendTo(b)
}

// appendTo is AppendTo for all but the plain standard header.
func (r *Request) appendTo(b []byte) []byte {
	switch r.Form {
	case pds.NextRequestSmall:
		b = r.appendSmall(b)
	case pds.NextRequestMedium:
		b = r.appendMedium(b)
	case pds.NextRequestStd:
		b = r.appendStandard(b)
	default:
		panic("ses: Request.AppendTo: " + r.Form.String() + " is no request form")
	}
	switch {
	case r.Opcode.IsAtomic() && r.Swap.Opcode.IsSwap():
		return r.Swap.appendTo(b)
	case r.Opcode.IsAtomic():
		return r.Swap.Atomic.appendTo(b)
	case r.Opcode.IsRendezvous() && r.Form == pds.NextRequestStd:
		return r.Rendezvous.appendTo(b)
	}
	return b
}

// appendStandard is the inverse of decodeStandard.
func (r *Request) appendStandard(b []byte) []byte {
	h := r.Standard
	switch {
	case r.Opcode.IsDeferrable():
		h.BufferOffset = r.Token.word()
	case r.Opcode == OpcodeDeferrableRTR:
		h.Key = r.Token.word()
	}
	return h.AppendTo(b)
}

// Validate returns an [ErrField] for an undefined version, a reserved opcode or an opcode
// foreign to the form, a short form other than a whole message, and for a reserved opcode or
// datatype of an atomic extension.
func (r *Request) Validate() error {
	var err error
	switch r.Form {
	case pds.NextRequestSmall:
		err = r.validateShort(opsSmall)
	case pds.NextRequestMedium:
		err = r.validateShort(opsMedium)
	default:
		err = r.Standard.validate(^uint64(0))
	}
	if err == nil && r.Opcode.IsAtomic() {
		err = r.Swap.Atomic.validate()
	}
	return err
}

// String formats header and extension on a line.
func (r *Request) String() string {
	s := r.Standard.text()
	switch {
	case r.Form == pds.NextRequestSmall:
		s = "small " + s
	case r.Form == pds.NextRequestMedium:
		s = "medium " + s
	}
	switch {
	case r.Opcode.IsAtomic() && r.Swap.Opcode.IsSwap():
		s += " " + r.Swap.text()
	case r.Opcode.IsAtomic():
		s += " " + r.Swap.Atomic.text()
	case r.Opcode.IsRendezvous():
		s += " " + r.Rendezvous.text()
	}
	return s
}

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
		return errFraming
	}
	return nil
}

// RendezvousLen is the length of a [Rendezvous] extension, bytes.
const RendezvousLen = 24

// A Rendezvous follows the [Standard] header of a rendezvous send and says where
// the target may read the part not sent eagerly.
//
//	0                              32       40            52               64
//	+------------------------------+--------+-------------+----------------+
//	|         eager_length         | ri_gen | pid_on_fep  | resource_index |
//	+------------------------------+--------+-------------+----------------+
//	|                            buffer_offset                             |
//	+----------------------------------------------------------------------+
//	|                      memory_key or match_bits                        |
//	+----------------------------------------------------------------------+
//
// buffer_offset is taken as the place of the message's first byte in the region, as
// everywhere else, so the target reads from buffer_offset + eager_length on; the
// public sources leave the question open.
//
// Older dissectors place pid_on_fep and resource_index differently or know the
// first 8 bytes only; the layout here is the reference provider's.
type Rendezvous struct {
	EagerLength  uint32 // bytes sent with the request
	Generation   Generation
	PIDonFEP     PIDonFEP
	Index        ResourceIndex
	BufferOffset uint64
	Key          uint64
}

func (h *Rendezvous) get(b *[RendezvousLen]byte) {
	w := binary.BigEndian.Uint64(b[:])
	h.EagerLength = uint32(w >> 32)
	h.Generation = Generation(w >> 24)
	h.PIDonFEP = PIDonFEP(w >> 12 & 0xfff)
	h.Index = ResourceIndex(w & 0xfff)
	h.BufferOffset = binary.BigEndian.Uint64(b[8:])
	h.Key = binary.BigEndian.Uint64(b[16:])
}

func (h *Rendezvous) appendTo(b []byte) []byte {
	if (uint16(h.PIDonFEP)|uint16(h.Index))>>12 != 0 {
		panic("ses: rendezvous field wider than on the wire")
	}
	b, tail := extend(b, RendezvousLen)
	p := (*[RendezvousLen]byte)(tail)
	where := uint64(h.Generation)<<24 | uint64(h.PIDonFEP)<<12 | uint64(h.Index)
	binary.BigEndian.PutUint64(p[:], uint64(h.EagerLength)<<32|where)
	binary.BigEndian.PutUint64(p[8:], h.BufferOffset)
	binary.BigEndian.PutUint64(p[16:], h.Key)
	return b
}

func (h *Rendezvous) text() string {
	return fmt.Sprintf("eager %d read from pid %d ri 0x%03x gen %d key 0x%x offset 0x%x", h.EagerLength, h.PIDonFEP,
		uint16(h.Index), h.Generation, h.Key, h.BufferOffset)
}
