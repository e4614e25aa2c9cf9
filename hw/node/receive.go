// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/binary"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ses"
)

// do acts on a packet's request.
func (s *shard) do(now int64, in, reply *uetcc.Datagram, r *uetcc.Received) {
	switch r.Action {
	case ses.ActionPlace:
		offset := r.Address
		if r.Message != 0 {
			offset = uint64(r.Offset)
		}
		n := copy(s.bytesAt(r.Cookie, offset, r.Length), in.Packet[r.Payload:])
		s.counts.receivedBytes += uint64(n)
	case ses.ActionAtomic:
		s.atomic(now, in, reply, r)
	case ses.ActionRead:
		if r.Answer != 0 {
			_ = s.ep.Answer(now, r.Answer, s.payload(r.Cookie, r.Address, r.Length), reply)
		}
	}
	if r.Complete && r.Cookie&cookieRegion == 0 && r.Message == 0 {
		s.received(in, r)
	}
}

// received ends a Recv whose message is whole.
func (s *shard) received(in *uetcc.Datagram, r *uetcc.Received) {
	x := s.slotOf(r.Cookie)
	if x == nil || !x.recv {
		return
	}
	if op := x.op; op != nil {
		op.Peer = s.node.scheme.peer(in.Src)
		var err error
		length := int(r.Length)
		if _, bad := s.request.Decode(r.Form, in.Packet[r.Header:]); bad == nil {
			length = int(s.request.RequestLength)
		}
		if length > len(op.Data) {
			length, err = len(op.Data), uetcc.ErrTruncated
		}
		op.N = length
		s.finish(x, err)
	}
	s.vacate(uint32(r.Cookie))
}

// atomic applies an operation to eight bytes, and answers with the old value.
func (s *shard) atomic(now int64, in, reply *uetcc.Datagram, r *uetcc.Received) {
	var old uint64
	if _, err := s.request.Decode(r.Form, in.Packet[r.Header:]); err == nil {
		code, operand, compare := s.request.Swap.Opcode, uint64(0), s.request.Swap.Compare.Lo
		if code.IsSwap() {
			operand = s.request.Swap.Swap.Lo
		} else if b := in.Packet[r.Payload:]; len(b) >= 8 {
			operand = binary.BigEndian.Uint64(b)
		}
		if b := s.bytesAt(r.Cookie, r.Address, r.Length); len(b) == 8 {
			old = s.node.apply(b, code, operand, compare)
		}
	}
	if r.Answer != 0 {
		binary.BigEndian.PutUint64(s.word[:], old)
		_ = s.ep.Answer(now, r.Answer, s.word[:], reply)
	}
}
