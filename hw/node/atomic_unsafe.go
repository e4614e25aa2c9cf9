// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/uetcc/uetcc/ses"
)

// atomicOps are the atomics open to peers, a bit for each code.
const atomicOps = 1<<ses.AtomicMin | 1<<ses.AtomicMax | 1<<ses.AtomicSum | 1<<ses.AtomicDiff | 1<<ses.AtomicBitOr | 1<<ses.AtomicBitAnd |
	1<<ses.AtomicBitXor | 1<<ses.AtomicRead | 1<<ses.AtomicWrite | 1<<ses.AtomicSwapEqual | 1<<ses.AtomicSwapNotEq

// apply applies an operation to the eight bytes of b, in a single step against peers' atomics and,
// where b is aligned, against sync/atomic in the process.
func (n *Node) apply(b []byte, code ses.AtomicOpcode, operand, compare uint64) (old uint64) {
	p := unsafe.Pointer(&b[0])
	if uintptr(p)%8 != 0 {
		n.odd.Lock()
		defer n.odd.Unlock()
		old = binary.NativeEndian.Uint64(b)
		binary.NativeEndian.PutUint64(b, result(old, code, operand, compare))
		return old
	}
	word := (*uint64)(p)
	for {
		old = atomic.LoadUint64(word)
		if x := result(old, code, operand, compare); x == old || atomic.CompareAndSwapUint64(word, old, x) {
			return old
		}
	}
}

// result is the outcome of an operation on a number.
func result(old uint64, code ses.AtomicOpcode, operand, compare uint64) uint64 {
	switch code {
	case ses.AtomicMin:
		return min(old, operand)
	case ses.AtomicMax:
		return max(old, operand)
	case ses.AtomicSum:
		return old + operand
	case ses.AtomicDiff:
		return old - operand
	case ses.AtomicBitOr:
		return old | operand
	case ses.AtomicBitAnd:
		return old & operand
	case ses.AtomicBitXor:
		return old ^ operand
	case ses.AtomicWrite:
		return operand
	case ses.AtomicSwapEqual:
		if compare == old {
			return operand
		}
	case ses.AtomicSwapNotEq:
		if compare != old {
			return operand
		}
	}
	return old
}
