// SPDX-License-Identifier: Apache-2.0

package hw

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
