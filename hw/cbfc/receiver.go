// SPDX-License-Identifier: Apache-2.0

package cbfc

// Receiver is the receiving side of one virtual channel. The zero value is a
// channel that was just brought up. Single writer.
type Receiver struct {
	Consumed uint32 // R_CC: credits of frames that arrived, modulo 2^20; to read
	Freed    uint32 // R_CF, modulo 2^20: the content of a CF_Update; to read
}

// OnFrame counts a stored frame of the given cost.
//
//uetcc:hot inlines nobounds
func (r *Receiver) OnFrame(credits int64) { r.Consumed = (r.Consumed + uint32(credits)) & counterMask }

// OnDrain counts a frame of the given cost as drained from the buffer.
func (r *Receiver) OnDrain(credits int64) { r.Freed = (r.Freed + uint32(credits)) & counterMask }

// OnCCUpdate takes the S_CC a CC_Update carries for the channel and returns
// the credits of lost frames, freed thereby. A CC_Update must not
// overtake frames of its channel: overtaken frames would be freed twice until
// the next CC_Update.
//
//uetcc:hot inlines nobounds
func (r *Receiver) OnCCUpdate(consumed uint32) (lost int64) {
	d := (consumed - r.Consumed) & counterMask
	r.Freed = (r.Freed + d) & counterMask
	r.Consumed = consumed & counterMask
	return int64(d)
}

// Held returns the credits of frames in the buffer.
func (r *Receiver) Held() int64 { return int64((r.Consumed - r.Freed) & counterMask) }

// Up starts the channel afresh with both counters at start.
func (r *Receiver) Up(start uint32) { r.Consumed, r.Freed = start&counterMask, start&counterMask }
