// SPDX-License-Identifier: Apache-2.0

package rccc

// Add puts a sender in the table, when the first packet of its context arrives; the caller
// remembers the peer and context of the handle. weight is the sender's relative share, 0
// means 1. start is the sender's cumulative credit so far, in bytes: 0, the initial credit
// where both sides count the initial credit, or [Receiver.Resume] for a forgotten context.
// The only error is [ErrFull].
func (r *Receiver) Add(now int64, weight uint16, start int64) (Handle, error) {
	return r.t.add(now, max(weight, 1), start)
}

// Resume returns the start for a context forgotten by the destination only, by the target of
// the first packet: target - MaxDemand, as a source may ask ahead no farther. The start is
// never ahead of the source's credit, except by a debt of less than a packet, also asked for
// by the target. The first grants may repeat known credit.
func (r *Receiver) Resume(target int64) int64 { return target - r.maxNeed }

// Remove drops a sender, when the context closes, and writes off the sender's credit. The
// result reports whether h named a sender.
func (r *Receiver) Remove(h Handle) bool {
	if r.t.find(h) == nil {
		return false
	}
	r.t.remove(h.Slot())
	return true
}

// expireVisits bounds the work of an Expire.
const expireVisits = 32

// Expire forgets a sender from which nothing arrived for the credit timeout while the sender
// holds unused credit, and all credit asked for, and returns the handle. Each call looks at
// the next 32 slots; call Expire until false, at least as often as once a timeout for every
// 32 slots of the table.
func (r *Receiver) Expire(now int64) (Handle, bool) { return r.forget(now, false) }

// Displace is Expire for when a new sender needs a place: silent senders without unused
// credit are forgotten, too. A call looks at the next 32 slots; call Displace once.
func (r *Receiver) Displace(now int64) (Handle, bool) { return r.forget(now, true) }

// forget is Expire, or Displace.
func (r *Receiver) forget(now int64, displace bool) (Handle, bool) {
	t := &r.t
	for range min(expireVisits, len(t.slab)) {
		i := t.hand
		t.hand++
		if t.hand == len(t.slab) {
			t.hand = 0
		}
		s := &t.slab[i]
		if s.generation&1 == 1 && s.list != ListActive && (displace || s.cum > s.spent) && now-s.seen > r.timeout {
			h := s.handle(Slot(i))
			t.remove(Slot(i))
			return h, true
		}
	}
	return 0, false
}
