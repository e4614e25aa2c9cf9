// SPDX-License-Identifier: Apache-2.0

package rccc

import "sync/atomic"

// view is a sender as visible to other goroutines. The owner writes each word
// separately; generation is the last word of a new sender and the first of a
// removed one.
type view struct {
	generation  atomic.Uint32
	cum, target atomic.Int64
}

// Publish makes the newest credit and target of the sender named h visible to
// [Senders.Load] in other goroutines. Owners sharing nothing need not call
// Publish.
func (r *Receiver) Publish(h Handle) {
	if r.t.find(h) != nil {
		r.t.publish(h.Slot())
	}
}

// publish makes the state of slot i visible to Load.
func (t *Senders) publish(i Slot) {
	s, v := &t.slab[i], &t.views[i]
	if s.generation&1 == 0 {
		v.generation.Store(uint32(s.generation))
		return
	}
	v.cum.Store(s.cum)
	v.target.Store(s.target)
	v.generation.Store(uint32(s.generation))
}

// Load returns the cumulative credit and the target of the sender named h, in
// bytes, as last published ([Receiver.Publish]), and false when the sender is
// gone. The two may be of different moments. Safe for concurrent use.
func (t *Senders) Load(h Handle) (cum, target int64, ok bool) {
	if int(h.Slot()) >= len(t.views) || h.generation()&1 == 0 {
		return 0, 0, false
	}
	v := &t.views[h.Slot()]
	if v.generation.Load() != uint32(h.generation()) {
		return 0, 0, false
	}
	cum, target = v.cum.Load(), v.target.Load()
	return cum, target, v.generation.Load() == uint32(h.generation())
}
