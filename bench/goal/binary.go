// SPDX-License-Identifier: Apache-2.0

package goal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// The binary form: little endian, nothing is padded.
//
//	0   8     magic
//	8   4     ranks
//	12  1     highest CPU
//	13  1     highest NIC
//	14  16 *  of each rank the begin and the end of its block, counted from offset 8
//
// and a block:
//
//	0   4     operations K
//	4   4     roots Q: operations that wait for none
//	8   4*Q   their indices
//	    39*K  operations
//	    4*E   followers, by operation: those of its end, then those of its start
const (
	magic     = 4223
	headBytes = 14
	spanBytes = 16
	opBytes   = 39
	base      = 8 // begin and end are counted from there
)

// ParseBinary reads the binary form; file is the name in errors of type [*Error].
// Everything stored twice must agree.
func ParseBinary(file string, b []byte) (*Schedule, error) {
	s, err := parseBinary(b)
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		err.(*Error).File = file
		return nil, err
	}
	return s, nil
}

func errorf(format string, a ...any) error { return &Error{Reason: fmt.Sprintf(format, a...)} }

func parseBinary(b []byte) (*Schedule, error) {
	le := binary.LittleEndian
	switch {
	case len(b) < headBytes:
		return nil, errorf("%d bytes are too few for a header", len(b))
	case le.Uint64(b) != magic:
		return nil, errorf("magic number %d, want %d", le.Uint64(b), magic)
	}
	ranks := int64(le.Uint32(b[8:]))
	if int64(len(b)-headBytes) < ranks*spanBytes {
		return nil, errorf("%d bytes are too few for %d ranks", len(b), ranks)
	}
	s := &Schedule{Ranks: make([]Rank, ranks)}
	last := uint64(headBytes + ranks*spanBytes - base)
	for r := range s.Ranks {
		span := b[headBytes+r*spanBytes:]
		begin, end := le.Uint64(span), le.Uint64(span[8:])
		if begin != last || end < begin || end > uint64(len(b)-base) {
			return nil, errorf("rank %d is said to lie from %d to %d, want from %d to at most %d", r, begin, end, last, len(b)-base)
		}
		last = end
		if err := s.Ranks[r].decode(b[base+begin : base+end]); err != nil {
			return nil, errorf("rank %d: %v", r, err)
		}
	}
	if last != uint64(len(b)-base) {
		return nil, errorf("%d bytes behind the last rank", uint64(len(b)-base)-last)
	}
	if cpus, nics := s.CPUs(), s.NICs(); cpus != int(b[12])+1 || nics != int(b[13])+1 {
		return nil, errorf("the header says %d CPUs and %d NICs, the operations use %d and %d", int(b[12])+1, int(b[13])+1, cpus, nics)
	}
	return s, nil
}

// decode reads the block of a rank.
func (r *Rank) decode(b []byte) error {
	le := binary.LittleEndian
	if len(b) < 8 {
		return fmt.Errorf("%d bytes are too few for a block", len(b))
	}
	k, q := int64(le.Uint32(b)), int64(le.Uint32(b[4:]))
	if q > k || int64(len(b))-8 < 4*q+opBytes*k {
		return fmt.Errorf("%d bytes are too few for %d operations, %d of them roots", len(b), k, q)
	}
	ops, appendix := b[8+4*q:8+4*q+opBytes*k], b[8+4*q+opBytes*k:]
	r.Ops = make([]Op, k)
	waits, next := make([]uint32, k), uint64(0)
	for i := range r.Ops {
		n, err := r.decodeOp(i, ops[i*opBytes:(i+1)*opBytes], appendix, next, waits)
		if err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
		next = n
	}
	if next*4 != uint64(len(appendix)) {
		return fmt.Errorf("%d bytes of followers, the operations have %d", len(appendix), next*4)
	}
	var roots []byte
	for i, w := range waits {
		if said := le.Uint32(ops[i*opBytes:]); said != w {
			return fmt.Errorf("operation %d is said to wait for %d, and %d have it for a follower", i, said, w)
		}
		if w == 0 {
			roots = le.AppendUint32(roots, uint32(i))
		}
	}
	if !bytes.Equal(roots, b[8:8+4*q]) {
		return fmt.Errorf("the roots are not the %d operations that wait for none", len(roots)/4)
	}
	return nil
}

// decodeOp reads operation i and its followers, beginning at entry next of the appendix,
// counts the followers in waits, and returns the entry behind them.
func (r *Rank) decodeOp(i int, b, appendix []byte, next uint64, waits []uint32) (uint64, error) {
	le := binary.LittleEndian
	o := Op{
		Kind: Kind(b[4]), Peer: le.Uint32(b[5:]), Size: int64(min(le.Uint64(b[9:]), math.MaxInt64)),
		Tag: le.Uint32(b[17:]), CPU: b[21], NIC: b[22],
	}
	if o.Kind == KindSend && o.Peer == Any {
		return 0, fmt.Errorf("a send to any rank")
	}
	r.Ops[i] = o
	for _, at := range [...]int{23, 31} {
		n, first := uint64(le.Uint32(b[at:])), uint64(le.Uint32(b[at+4:]))
		if n > 0 && first != next || (next+n)*4 > uint64(len(appendix)) {
			return 0, fmt.Errorf("%d followers from %d on, want them from %d to at most %d", n, first, next, len(appendix)/4)
		}
		for ; n > 0; n-- {
			op := le.Uint32(appendix[next*4:])
			if int64(op) >= int64(len(r.Ops)) {
				return 0, fmt.Errorf("follower %d of %d operations", op, len(r.Ops))
			}
			waits[op]++
			r.Deps = append(r.Deps, Dep{Op: op, On: uint32(i), Started: at == 31})
			next++
		}
	}
	return next, nil
}
