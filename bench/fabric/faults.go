// SPDX-License-Identifier: Apache-2.0

package fabric

import "math/rand/v2"

// faults are the network's random faults of packets on the last link, at any load.
type faults struct {
	loss, reorder float64
	delay         int64 // ps
	rnd           *rand.Rand
	late          map[uint32]struct{} // packets that were delayed
}

func newFaults(c *Config, rnd *rand.Rand) *faults {
	return &faults{
		loss: c.Loss, reorder: c.Reorder, delay: int64(c.BaseRTT) / 2,
		rnd: rnd, late: map[uint32]struct{}{},
	}
}

// take reports whether a fault hits a packet about to reach the host.
func (f *faults) take(s *sim, pkt uint32) bool {
	if _, was := f.late[pkt]; was {
		delete(f.late, pkt)
		return false
	}
	if f.loss > 0 && f.rnd.Float64() < f.loss {
		s.count.Lost++
		s.dropped(pkt)
		return true
	}
	if f.reorder > 0 && f.rnd.Float64() < f.reorder {
		f.late[pkt] = struct{}{}
		s.events.push(s.now+f.delay, evArrive, pkt)
		return true
	}
	return false
}
