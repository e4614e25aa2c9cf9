// SPDX-License-Identifier: Apache-2.0

package hw

// uetTickPs is the tick of UET stamps, 128 ns, in picoseconds.
const uetTickPs = 128_000

// Clock is a device's free-running clock. Safe for concurrent use.
type Clock struct {
	space     Space
	now       uint32
	tickPs    uint32
	stampBits uint32
}

// Ticks returns the clock's reading. The reading never steps back.
func (c Clock) Ticks() uint64 { return c.space.Load64(c.now) }

// Ticks32 returns the reading over a bus of 32 bits: high, low, and high again.
// If the high half moved meanwhile, the low half has just passed zero.
func (c Clock) Ticks32() uint64 {
	hi := c.space.Load32(c.now + 4)
	lo := c.space.Load32(c.now)
	if again := c.space.Load32(c.now + 4); again != hi {
		return uint64(again) << 32
	}
	return uint64(hi)<<32 | uint64(lo)
}

// Extend returns the full time, in ticks, of a short stamp taken at most
// 2^bits - 1 ticks before now: now - ((now - stamp) mod 2^bits), where bits is the
// device's stamp width, at most the 32 of an event. For 16 bits of 128 ns that is
// 8.39 ms; an older stamp comes out as many turns too late, so reject ages above
// half the range where the age matters.
func (c Clock) Extend(stamp uint32, now uint64) uint64 {
	mask := uint64(1)<<c.stampBits - 1
	return now - (now-uint64(stamp))&mask
}

// Nanoseconds converts ticks to nanoseconds, rounding down, modulo 2^64.
func (c Clock) Nanoseconds(ticks uint64) int64 { return ticksToNs(ticks, c.tickPs) }

func ticksToNs(ticks uint64, tickPs uint32) int64 {
	return int64(ticks/1000*uint64(tickPs) + ticks%1000*uint64(tickPs)/1000)
}

// nsToTicks converts nanoseconds (>= 0) to ticks of the given length
// (picoseconds, >= 1), rounding down, modulo 2^64.
func nsToTicks(ns int64, tickPs uint32) uint64 {
	t := uint64(tickPs)
	return uint64(ns)/t*1000 + uint64(ns)%t*1000/t
}

// Watch tells whether a device lives: the clock must move. Single writer.
type Watch struct {
	ticks   uint64
	since   int64
	timeout int64
}

// NewWatch returns a watch taking a device for dead when the clock has stood
// still for timeout nanoseconds.
func NewWatch(c Clock, now, timeout int64) Watch { return Watch{c.Ticks(), now, timeout} }

// Alive reports whether the device's clock has moved within the timeout before
// now.
func (w *Watch) Alive(c Clock, now int64) bool {
	if t := c.Ticks(); t != w.ticks {
		w.ticks, w.since = t, now
	}
	return now-w.since < w.timeout
}
