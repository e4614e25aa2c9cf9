package hw

// What a doorbell asks for.
const (
	doorbellTX    = 0 // packets up to the index wait to be sent
	doorbellProbe = 3 // send a round-trip probe
)

// A doorbell is one 64-bit word:
//
//	 0              16   20             24        32                  64
//	+----------------+----+--------------+---------+-------------------+
//	|     index      | op |              |   gen   |      context      |
//	+----------------+----+--------------+---------+-------------------+
//
// A probe, which has no index, puts there how many the page has asked for: a device takes a
// word that it has seen before for nothing new.
func doorbellWord(index uint16, op, gen uint8, context uint32) uint64 {
	return uint64(index) | uint64(op)<<16 | uint64(gen)<<24 | uint64(context)<<32
}

// Doorbell is a doorbell page. Each sending goroutine owns one, so that no lock
// is needed.
type Doorbell struct {
	space  Space
	page   uint32
	on     Feature
	probes uint16 // asked for
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
	w := doorbellWord(index, doorbellTX, generation, c.index)
	b.space.Flush()
	b.space.Store64(c.base+RegRecord.Offset, w)
	b.space.Store64(b.page+RegRing.Offset, w)
	b.space.Flush()
}

// Probe asks the device to send a round-trip probe with the context's next packet. It may
// be lost if the page's next doorbell overtakes it. Without [FeatureProbe] it changes nothing.
func (b *Doorbell) Probe(c *Context, generation uint8) {
	if b.on&FeatureProbe == 0 {
		return
	}
	b.probes++
	b.space.Store64(b.page+RegRing.Offset, doorbellWord(b.probes, doorbellProbe, generation, c.index))
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
