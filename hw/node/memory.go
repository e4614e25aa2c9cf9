// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/binary"
	"fmt"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ses"
)

// A Region names exposed memory: 0 for the first, 1 for the next, and so on.
type Region uint64

// Expose opens memory to all peers: peers may read, write and change the memory at any time from now
// on, so the process has to agree with the peers about the use. Data that came before the end of a
// Recv can be seen after the Recv. The error means too many regions, see Options.Regions.
func (n *Node) Expose(memory []byte) (Region, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed.Load() {
		return 0, ErrClosed
	}
	r := Region(n.regions)
	for _, s := range n.shards {
		if err := s.expose(r, memory); err != nil {
			return 0, fmt.Errorf("node: as many regions are open as Options.Regions allows, %d: %w", n.options.Regions, err)
		}
	}
	n.regions++
	return r, nil
}

// Withdraw closes a region. After the return nobody touches the memory any more, and reads under way
// fail. The number is not used again.
func (n *Node) Withdraw(r Region) {
	for _, s := range n.shards {
		s.mu.Lock()
		if r < Region(len(s.regions)) && s.regions[r].handle != 0 {
			_ = s.ep.Target().Withdraw(s.regions[r].handle)
			s.regions[r] = region{}
			s.forget()
		}
		s.mu.Unlock()
	}
}

// A region is exposed memory, as known to a shard.
type region struct {
	memory []byte
	handle ses.Handle
}

func (s *shard) expose(r Region, memory []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, err := s.ep.Target().Register(s.process, memoryIndex, ses.Region{
		Length: uint64(len(memory)), Key: uint64(r), Cookie: uint64(r) | cookieRegion, Job: job, Rights: ses.RightRead | ses.RightWrite | ses.RightAtomic,
	})
	if err == nil {
		s.regions = append(s.regions, region{memory, h})
	}
	return err
}

// The address of all operations: a process of a job, with memory and receive queue.
const (
	job         ses.JobID         = 1
	memoryIndex ses.ResourceIndex = 0
	queueIndex  ses.ResourceIndex = 1
)

// Cookies: of a region, or of an operation: the slot in the low bits, the slot's generation above.
const cookieRegion = 1 << 63

// bytesAt is the memory of n bytes at offset in the region or operation of a cookie, shorter at the
// end, nil if gone.
func (s *shard) bytesAt(cookie, offset uint64, n uint32) []byte {
	var b []byte
	if cookie&cookieRegion != 0 {
		if i := cookie &^ cookieRegion; i < uint64(len(s.regions)) {
			b = s.regions[i].memory
		}
	} else if x := s.slotOf(cookie); x != nil {
		b = x.data
	}
	if offset >= uint64(len(b)) {
		return nil
	}
	return b[offset:min(offset+uint64(n), uint64(len(b)))]
}

// payload returns the data of a packet, nothing after a refusal. The packet of an operation given up brings zeros: it
// says that the operation was, so the peer does not place them.
func (s *shard) payload(now int64, d *uetcc.Datagram) []byte {
	y := &d.Payload
	if y.Message != 0 {
		if b := s.bytesAt(y.Cookie, uint64(y.Offset), y.Length); len(b) == int(y.Length) {
			return b
		}
		return s.zeros[:y.Length]
	}
	b, code := s.bytesAt(y.Cookie, y.Address, y.Length), ses.RCOK
	if len(b) != int(y.Length) { // withdrawn
		code = ses.RCBadMKey
	} else if s.isNarrow(now, d) {
		code = ses.RCOpViolation // the reader's error then names the MTU of both ends
	}
	if code == ses.RCOK || s.ep.Refuse(now, y.Answer, code, d) != nil {
		return b
	}
	return nil
}

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
			_ = s.ep.Answer(now, r.Answer, s.bytesAt(r.Cookie, r.Address, r.Length), reply)
		}
	}
	if (r.Complete || r.Action == ses.ActionAbort) && r.Cookie&cookieRegion == 0 && r.Message == 0 {
		s.received(in, r)
	}
}

// isOrphan reports whether a packet was for a Recv given up, whose sender has to hear of that.
func (s *shard) isOrphan(r *uetcc.Received) bool {
	if r.Action != ses.ActionPlace || r.Message != 0 {
		return false
	}
	x := s.slotOf(r.Cookie)
	return x != nil && x.orphan
}

// received ends a Recv whose message is whole, or comes no more: the sender has given the message up, or the Recv has
// no byte for it.
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
		switch {
		case r.Action == ses.ActionAbort && r.Code != ses.RCTooLong:
			length, err = 0, fmt.Errorf("%w by the sender", uetcc.ErrCancelled)
		case length > len(op.Data):
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
