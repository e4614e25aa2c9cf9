// SPDX-License-Identifier: Apache-2.0

package hw

// Operations of a doorbell.
const (
	opTX     = 0 // packets up to the index wait to be sent
	opProbe  = 3 // send a round-trip probe
	opCredit = 4 // the credit changed
)

// A doorbell is one 64-bit word:
//
//	 0              16   20             24        32                  64
//	+----------------+----+--------------+---------+-------------------+
//	|     index      | op |              |   gen   |      context      |
//	+----------------+----+--------------+---------+-------------------+
//
// An operation with no index fills in the page's number of requests so far: a
// device ignores a repeated word.
func doorbellWord(index uint16, op uint64, gen uint8, context uint32) uint64 {
	return uint64(index) | op<<16 | uint64(gen)<<24 | uint64(context)<<32
}

// Doorbell is a doorbell page. Each sending goroutine owns one, so no lock
// is needed.
type Doorbell struct {
	space Space
	page  uint32
	on    Feature
	asked uint16
}

// Doorbell returns doorbell page i. Errors: [ErrMissing], [ErrIndex].
func (d *Device) Doorbell(i int) (Doorbell, error) {
	page, err := d.offset(Reg.Ring, i)
	return Doorbell{space: d.space, page: page, on: d.on}, err
}

// Ring announces to the device the packets of a context up to index (absolute,
// modulo 2^16) that are ready in host memory. The same call twice changes
// nothing, and an older index is ignored. The word goes to the context's record
// first: where a page's doorbell is overtaken by the next doorbell, the device
// still finds the index in the record.
//
//uetcc:hot nobounds
func (b *Doorbell) Ring(c *Context, generation uint8, index uint16) {
	w := doorbellWord(index, opTX, generation, c.index)
	b.space.Flush()
	b.space.Store64(c.base+Reg.Record.Offset, w)
	b.space.Store64(b.page+Reg.Ring.Offset, w)
	b.space.Flush()
}

// Probe asks the device for a round-trip probe. The request may be lost if the page's next
// doorbell overtakes.
func (b *Doorbell) Probe(c *Context, generation uint8) { b.ask(c, generation, opProbe) }

// Credit tells the device that the credit has changed. The word may be lost like that of Probe.
func (b *Doorbell) Credit(c *Context, generation uint8) { b.ask(c, generation, opCredit) }

func (b *Doorbell) ask(c *Context, generation uint8, op uint64) {
	b.asked++
	b.space.Store64(b.page+Reg.Ring.Offset, doorbellWord(b.asked, op, generation, c.index))
	b.space.Flush()
}

// Room returns how many doorbells the device can take; at 0, wait. Without
// [FeatureRoom] there is no limit.
func (b *Doorbell) Room() uint32 {
	if b.on&FeatureRoom == 0 {
		return 1<<32 - 1
	}
	return b.space.Load32(b.page + Reg.Room.Offset)
}
