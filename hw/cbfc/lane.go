// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"errors"

	"github.com/uetcc/uetcc/internal/check"
)

// Constants of InfiniBand flow control (volume 1, section 7.9).
const (
	BlockSize = 64   // bytes of a block, the unit of credit
	MaxGrant  = 2048 // blocks that can be granted ahead: 128 KiB, half the counter's range

	totalMask = 4096 - 1 // FCTBS, ABR and FCCL have 12 bits
)

// ErrConfig is wrapped by every error of a constructor or Validate; the message names
// the field.
var ErrConfig = errors.New("cbfc: invalid configuration")

// Blocks returns the credit a packet of the given length costs: whole
// 64-byte blocks over the packet from its local header through its final CRC.
func Blocks(bytes int64) int64 { return (bytes + BlockSize - 1) / BlockSize }

// Lane is one virtual lane of a port, both halves.
type Lane struct {
	Tx
	Rx

	sentAt  int64 // when the last flow control packet left
	heardAt int64 // when the last valid packet came
}

// Tx is the transmitting half of a virtual lane. The zero value is a lane whose
// link was just initialised: nothing may be sent before the first
// [Tx.OnFlowControl]. Single writer.
type Tx struct {
	sent  uint16 // FCTBS: blocks sent since initialisation, modulo 4096
	limit uint16 // FCCL of the newest flow control packet
	open  bool   // a limit has been received
}

// CanSend reports whether a packet of n blocks may start:
// (FCCL - (FCTBS + n)) mod 4096 <= 2048. A packet no grant could ever cover
// (n > 2048) is blocked. So is each of InfiniBand's packets, 66 blocks at most, without
// credit, and on a transmitter that is less than 1,982 blocks past its limit. The
// rule cannot tell n blocks too many from 4,096 - n left: it lets 2,048 blocks go
// without any credit.
//
//uetcc:hot inlines nobounds
func (t *Tx) CanSend(n int64) bool {
	room := (t.limit - t.sent - uint16(n)) & totalMask
	return t.open && uint64(n) <= MaxGrant && room <= MaxGrant
}

// OnSend counts a packet of n blocks as sent.
//
//uetcc:hot inlines nobounds
func (t *Tx) OnSend(n int64) { t.sent = (t.sent + uint16(n)) & totalMask }

// OnFlowControl takes the FCCL of a flow control packet for this lane. The value is
// absolute: a lost packet costs only time.
//
//uetcc:hot inlines nobounds
func (t *Tx) OnFlowControl(fccl uint16) { t.limit, t.open = fccl&totalMask, true }

// FCTBS returns the total of blocks sent, modulo 4096.
func (t *Tx) FCTBS() uint16 { return t.sent }

// Limit returns the newest FCCL, and false without any since initialisation.
func (t *Tx) Limit() (fccl uint16, ok bool) { return t.limit, t.open }

// Credits returns (FCCL - FCTBS) mod 4096. A value above [MaxGrant] means the
// transmitter went past its limit; no large credit.
func (t *Tx) Credits() uint16 { return (t.limit - t.sent) & totalMask }

// Rx is the receiving half of a virtual lane: the adjusted total of blocks
// received and the lane's own buffer. Single writer.
type Rx struct {
	abr      uint16 // adjusted blocks received, modulo 4096
	buffer   int64  // blocks dedicated to the lane
	occupied int64  // blocks in use; 0 <= occupied <= buffer
	overruns int64  // packets discarded since initialisation
}

// newRx returns the receiving half of a lane with a buffer of the given number
// of blocks. The error wraps [ErrConfig].
func newRx(buffer int64) (Rx, error) {
	if err := check.AtLeast(ErrConfig, "buffer", buffer, 0); err != nil {
		return Rx{}, err
	}
	return Rx{buffer: buffer}, nil
}

// Receive stores a packet of n blocks and reports true, or discards it, counts
// an overrun and reports false for lack of room. A loss can only make a
// receiver grant too little, so an overrun means a faulty transmitter.
//
//uetcc:hot inlines nobounds
func (r *Rx) Receive(n int64) bool {
	if n < 0 || n > r.buffer-r.occupied {
		r.overruns++
		return false
	}
	r.abr = (r.abr + uint16(n)) & totalMask
	r.occupied += n
	return true
}

// Release frees n blocks of the buffer, at most as many as are in use.
func (r *Rx) Release(n int64) { r.occupied -= max(0, min(n, r.occupied)) }

// OnFlowControl takes the FCTBS of a flow control packet for this lane: blocks
// of packets lost on the wire return to the credit. The rule relies on the order of
// the wire: every packet sent before has arrived or is lost.
func (r *Rx) OnFlowControl(fctbs uint16) { r.abr = fctbs & totalMask }

// FCCL returns the limit to announce: (ABR + min(2048, free)) mod 4096.
//
//uetcc:hot inlines nobounds
func (r *Rx) FCCL() uint16 {
	return (r.abr + uint16(min(MaxGrant, r.buffer-r.occupied))) & totalMask
}

// ABR returns the adjusted total of blocks received, modulo 4096.
func (r *Rx) ABR() uint16 { return r.abr }

// Occupied returns the blocks of the buffer in use.
func (r *Rx) Occupied() int64 { return r.occupied }

// Free returns the free blocks of the buffer.
func (r *Rx) Free() int64 { return r.buffer - r.occupied }

// Overruns returns the number of packets discarded since initialisation.
func (r *Rx) Overruns() int64 { return r.overruns }

// reinit restarts the accounting. Packets in the buffer stay there, so the
// first limit is the space really free.
func (r *Rx) reinit() { r.abr, r.overruns = 0, 0 }
