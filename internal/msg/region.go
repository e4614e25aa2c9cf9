// SPDX-License-Identifier: Apache-2.0

package msg

import "github.com/uetcc/uetcc/ses"

// Register opens memory under a key of a resource index.
//
// Errors: [ErrNotFound], [ErrRange] (an end beyond 2^64, an invalid job),
// [ErrExists] (the key), [ErrFull].
func (t *Target) Register(process ses.Handle, ri ses.ResourceIndex, r ses.Region) (ses.Handle, error) {
	e, n, err := t.validEntry(process, ri)
	switch {
	case err != nil:
		return 0, err
	case e.kind == ses.IndexQueue || r.Job > ses.AnyJob || r.Base != 0 && r.Length > -r.Base:
		return 0, ses.ErrRange
	}
	if _, ok := t.keys.find(pair{uint64(n), r.Key}); ok {
		return 0, ses.ErrExists
	}
	i, ok := t.regionSlots.take()
	if !ok {
		return 0, ses.ErrFull
	}
	t.regions[i] = region{Region: r, entry: n}
	t.keys.insert(pair{uint64(n), r.Key}, i)
	return t.regionSlots.handle(i), nil
}

// Withdraw closes a region. Packets for it are refused from now on, also for
// messages half way.
//
// Errors: [ErrNotFound].
func (t *Target) Withdraw(h ses.Handle) error {
	i, ok := t.regionSlots.at(h)
	if !ok {
		return ses.ErrNotFound
	}
	t.keys.remove(pair{uint64(t.regions[i].entry), t.regions[i].Key})
	t.regionSlots.release(i)
	t.changed()
	return nil
}

type region struct {
	ses.Region
	entry uint32
}
