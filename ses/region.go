// SPDX-License-Identifier: Apache-2.0

package ses

// AnyJob admits every job, as the Job of a [Region] or an [Index]. AnyJob is wider
// than a JobID, so never carried by a packet.
const AnyJob JobID = 1 << 24

// Rights are a remote initiator's rights on a [Region].
type Rights uint8

const (
	RightRead   Rights = 1 << iota // remote read
	RightWrite                     // remote write
	RightAtomic                    // atomics, fetching or not
)

// A Region is memory a key opens for remote access. The addresses are the
// caller's own numbers: nothing is ever read or written here.
type Region struct {
	Base   uint64 // first address
	Length uint64 // bytes; Base+Length must not pass 2^64
	// Key is the region's name in requests. Small requests carry no key and find
	// the region of key 0.
	Key    uint64
	Cookie uint64 // returned with each [Decision] about the region
	Job    JobID  // the only job admitted, or [AnyJob]
	Rights Rights
	// Idempotent allows RUDI, where a request may be applied more than once.
	Idempotent bool
}

// Register opens memory under a key of a resource index.
//
// Errors: [ErrNotFound], [ErrRange] (an end beyond 2^64, an invalid job),
// [ErrExists] (the key), [ErrFull].
func (t *Target) Register(process Handle, ri ResourceIndex, r Region) (Handle, error) {
	e, n, err := t.validEntry(process, ri)
	switch {
	case err != nil:
		return 0, err
	case e.kind == IndexQueue || r.Job > AnyJob || r.Base != 0 && r.Length > -r.Base:
		return 0, ErrRange
	}
	if _, ok := t.keys.find(pair{uint64(n), r.Key}); ok {
		return 0, ErrExists
	}
	i, ok := t.regionSlots.take()
	if !ok {
		return 0, ErrFull
	}
	t.regions[i] = region{Region: r, entry: n}
	t.keys.insert(pair{uint64(n), r.Key}, i)
	return t.regionSlots.handle(i), nil
}

// Withdraw closes a region. Packets for it are refused from now on, also for
// messages half way.
//
// Errors: [ErrNotFound].
func (t *Target) Withdraw(h Handle) error {
	i, ok := t.regionSlots.at(h)
	if !ok {
		return ErrNotFound
	}
	t.keys.remove(pair{uint64(t.regions[i].entry), t.regions[i].Key})
	t.regionSlots.release(i)
	t.changed()
	return nil
}

type region struct {
	Region
	entry uint32
}
