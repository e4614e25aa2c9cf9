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
	FCTBS uint16 // blocks sent since initialisation, modulo 4096; to read
	Limit uint16 // FCCL of the newest flow control packet; to read
	Open  bool   // a limit has been received; to read
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
	room := (t.Limit - t.FCTBS - uint16(n)) & totalMask
	return t.Open && uint64(n) <= MaxGrant && room <= MaxGrant
}

// OnSend counts a packet of n blocks as sent.
//
//uetcc:hot inlines nobounds
func (t *Tx) OnSend(n int64) { t.FCTBS = (t.FCTBS + uint16(n)) & totalMask }

// OnFlowControl takes the FCCL of a flow control packet for this lane. The value is
// absolute: a lost packet costs only time.
//
//uetcc:hot inlines nobounds
func (t *Tx) OnFlowControl(fccl uint16) { t.Limit, t.Open = fccl&totalMask, true }

// Credits returns (FCCL - FCTBS) mod 4096. A value above [MaxGrant] means the
// transmitter went past its limit; no large credit.
func (t *Tx) Credits() uint16 { return (t.Limit - t.FCTBS) & totalMask }

// Rx is the receiving half of a virtual lane: the adjusted total of blocks
// received and the lane's own buffer. Single writer.
type Rx struct {
	ABR      uint16 // adjusted blocks received, modulo 4096; to read
	Buffer   int64  // blocks dedicated to the lane; to read
	Occupied int64  // blocks in use, 0 to Buffer; to read
	Overruns int64  // packets discarded since initialisation; to read
}

// newRx returns the receiving half of a lane with a buffer of the given number
// of blocks. The error wraps [ErrConfig].
func newRx(buffer int64) (Rx, error) {
	if err := check.AtLeast(ErrConfig, "buffer", buffer, 0); err != nil {
		return Rx{}, err
	}
	return Rx{Buffer: buffer}, nil
}

// Receive stores a packet of n blocks and reports true, or discards it, counts
// an overrun and reports false for lack of room. A loss can only make a
// receiver grant too little, so an overrun means a faulty transmitter.
//
//uetcc:hot inlines nobounds
func (r *Rx) Receive(n int64) bool {
	if n < 0 || n > r.Buffer-r.Occupied {
		r.Overruns++
		return false
	}
	r.ABR = (r.ABR + uint16(n)) & totalMask
	r.Occupied += n
	return true
}

// Release frees n blocks of the buffer, at most as many as are in use.
func (r *Rx) Release(n int64) { r.Occupied -= max(0, min(n, r.Occupied)) }

// OnFlowControl takes the FCTBS of a flow control packet for this lane: blocks
// of packets lost on the wire return to the credit. The rule relies on the order of
// the wire: every packet sent before has arrived or is lost.
func (r *Rx) OnFlowControl(fctbs uint16) { r.ABR = fctbs & totalMask }

// FCCL returns the limit to announce: (ABR + min(2048, free)) mod 4096.
//
//uetcc:hot inlines nobounds
func (r *Rx) FCCL() uint16 {
	return (r.ABR + uint16(min(MaxGrant, r.Buffer-r.Occupied))) & totalMask
}

// reinit restarts the accounting. Packets in the buffer stay there, so the
// first limit is the space really free.
func (r *Rx) reinit() { r.ABR, r.Overruns = 0, 0 }
