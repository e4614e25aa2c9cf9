package rccc

// Add puts a sender in the table, when the first packet of its context arrives; which
// peer and context the handle is for is the caller's to remember. weight is its share
// relative to others, 0 means 1. start is the cumulative credit that it has already, in
// bytes: 0, the initial credit where both sides count that, or [Receiver.Resume] for a
// context that was forgotten. The only error is [ErrFull].
func (r *Receiver) Add(now int64, weight uint16, start int64) (Handle, error) {
	return r.t.add(now, max(weight, 1), start)
}

// Resume returns the start for a context that the destination forgot while its source did
// not, by the target of its first packet: MaxDemand below it, which is as far as a source may
// ask ahead. That is not ahead of the credit that the source has, except by a debt of less
// than a packet, which the target asks for too. The first grants may repeat what it has.
func (r *Receiver) Resume(target int64) int64 { return target - r.maxNeed }

// Remove drops a sender, when its context closes, and writes off its credit. It
// reports whether h named one.
func (r *Receiver) Remove(h Handle) bool {
	if r.t.find(h) == nil {
		return false
	}
	r.t.remove(h.Slot())
	return true
}

// expireVisits bounds the work of one Expire.
const expireVisits = 32

// Expire forgets a sender from which nothing arrived for the credit timeout while
// it holds credit that it did not use, and all that it asked for, and returns its
// handle. Each call looks at the next 32 slots; call it until it returns false, at
// least as often as once a timeout for every 32 slots of the table.
func (r *Receiver) Expire(now int64) (Handle, bool) { return r.forget(now, false) }

// Displace is Expire for when a place is needed for another sender: it also forgets a silent
// one that holds no unused credit. It looks at the next 32 slots; call it once.
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
		s, m := &t.slab[i], &t.arrivals[i]
		if s.generation&1 == 1 && s.list != ListActive && (displace || s.cum > m.spent) && now-m.seen > r.timeout {
			h := s.handle(Slot(i))
			t.remove(Slot(i))
			return h, true
		}
	}
	return 0, false
}
