// SPDX-License-Identifier: Apache-2.0

package pcc

// giveUp is how long the answer to a probe is awaited at first, in nanoseconds.
const giveUp = 300000

// A Probe keeps one probe of a flow under way and asks again when probe or
// answer is lost.
type Probe struct {
	SentAt   uint32 // when the burst that carried the probe left
	Backoff  uint8  // times in a row that the probe was given up
	InFlight bool   // a probe has left and its answer is awaited
	Wait     uint8  // bursts since the request that carried no probe
}

// onTX takes a burst and reports whether to ask for a probe. age is the time
// since SentAt, which counts only while a probe is out. A probe given
// up is still welcome later, so the probe stays in flight.
func (b *Probe) onTX(e *Event, age uint32) (ask bool) {
	if e.Flags&ProbeSent != 0 && !b.InFlight {
		b.InFlight, b.Wait, b.SentAt = true, 0, e.Time
		return false
	}
	if !b.InFlight {
		b.Wait++
	}
	late := b.InFlight && age > giveUp<<(b.Backoff&31) // as processors shift; the sample's language leaves 32 and more open
	if !late && b.Wait <= 2 {
		return false
	}
	if late {
		b.Backoff++
	}
	b.Wait = 1
	return true
}

// onAnswer takes the answer to a probe. The next probe is asked for at once, so
// a probe is always under way.
func (b *Probe) onAnswer() { b.InFlight, b.Backoff, b.Wait = false, 0, 1 }
