package hw

import "github.com/uetcc/uetcc/internal/enum"

// DoorbellOp says what a doorbell asks for.
type DoorbellOp uint8

// Doorbell operations.
const (
	DoorbellTX     DoorbellOp = 0 // packets up to the index wait to be sent
	DoorbellProbe  DoorbellOp = 3 // send a round-trip probe
	DoorbellCredit DoorbellOp = 4 // the credit changed
)

var doorbellNames = [...]string{DoorbellTX: "tx", DoorbellProbe: "probe", DoorbellCredit: "credit"}

// String returns a short name.
func (o DoorbellOp) String() string { return enum.Name(doorbellNames[:], o) }

// A doorbell is one 64-bit word:
//
//	 0              16   20             24        32                  64
//	+----------------+----+--------------+---------+-------------------+
//	|     index      | op |              |   gen   |      context      |
//	+----------------+----+--------------+---------+-------------------+
//
// An operation that has no index puts there how often the page has been asked: a
// device takes a word that it has seen before for nothing new.
func doorbellWord(index uint16, op DoorbellOp, gen uint8, context uint32) uint64 {
	return uint64(index) | uint64(op&15)<<16 | uint64(gen)<<24 | uint64(context)<<32
}

// Doorbell is a doorbell page. Each sending goroutine owns one, so that no lock
// is needed.
type Doorbell struct {
	space Space
	page  uint32
	on    Feature
	asked uint16
}

// Doorbell returns doorbell page i. Errors: [ErrMissing], [ErrIndex].
func (d *Device) Doorbell(i int) (Doorbell, error) {
	page, err := d.offset(RegRing, i)
	return Doorbell{space: d.space, page: page, on: d.on}, err
}

// Ring tells the device that the packets of a context up to index (absolute,
// modulo 2^16) are ready in host memory. The same call twice changes nothing, and
// an older index is ignored. The word goes to the context's record first: where a
// page's doorbell is overtaken by the next one, the device still finds the index
// there.
func (b *Doorbell) Ring(c *Context, generation uint8, index uint16) {
	w := doorbellWord(index, DoorbellTX, generation, c.index)
	b.space.Flush()
	b.space.Store64(c.base+RegRecord.Offset, w)
	b.space.Store64(b.page+RegRing.Offset, w)
	b.space.Flush()
}

// Ask rings for an operation that has no index. It may be lost if the page's
// next doorbell overtakes it.
func (b *Doorbell) Ask(c *Context, generation uint8, op DoorbellOp) {
	b.asked++
	b.space.Store64(b.page+RegRing.Offset, doorbellWord(b.asked, op, generation, c.index))
	b.space.Flush()
}

// Room returns how many doorbells the device can take; at 0, wait. Without
// [FeatureRoom] there is no limit.
func (b *Doorbell) Room() uint32 {
	if b.on&FeatureRoom == 0 {
		return 1<<32 - 1
	}
	return b.space.Load32(b.page + RegRoom.Offset)
}
