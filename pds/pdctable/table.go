// SPDX-License-Identifier: Apache-2.0

// Package pdctable finds and names packet delivery contexts (PDC): the lock-free table of PDCIDs
// that an Endpoint of the root package works with, for use without one.
package pdctable

import (
	"iter"
	"net/netip"

	engine "github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// Table finds the PDCs of one FEP and hands out PDCIDs. Any goroutine may call any
// method, without waiting or allocation.
//
//	packet, syn=0    dpdcid, source, spdcid           Match: an index, no hash
//	packet, syn=1    pdc.TargetKey                    Target, OpenTarget
//	message          pdc.InitiatorKey                 Initiator, OpenInitiator
//
// A Table knows identities only. The PDCs lie in an array of the caller's, indexed by
// id, each with one owner at a time; a PDC found by a look-up may be released before
// the caller gets there, and the handle then is stale.
//
// A released PDCID rests for [pdc.TableConfig].Quarantine. The key of a target PDC rests,
// too, so late SYN packets hit the key and are dropped; Reap forgets both. A
// stale handle or a wrong peer never matches.
type Table engine.Table

// New makes an empty table. Errors wrap [pdc.ErrConfig] and name the field.
func New(c pdc.TableConfig) (*Table, error) {
	t, err := engine.NewTable(c)
	return (*Table)(t), err
}

// ByID returns the live PDC with the given id, 0 without one. The peer is not checked.
func (t *Table) ByID(id pds.PDCID) pdc.Handle { return (*engine.Table)(t).ByID(id) }

// Match finds the PDC of a packet without the SYN flag: the PDC of dpdcid, if the
// packet comes from the PDC's peer. While the peer's PDCID is unknown any is right, and
// the spdcid 0 of a NACK is not compared. The errors are [pdc.ErrUnknown] and [pdc.ErrPeer].
func (t *Table) Match(dpdcid pds.PDCID, source netip.Addr, spdcid pds.PDCID) (pdc.Handle, error) {
	return (*engine.Table)(t).Match(dpdcid, source, spdcid)
}

// Learn records the PDCID of the peer of h, found by an initiator in the peer's first
// packet. The result reports whether peer is the peer's PDCID now: false if h has gone
// or the peer has a different known PDCID.
func (t *Table) Learn(h pdc.Handle, peer pds.PDCID) bool { return (*engine.Table)(t).Learn(h, peer) }

// Live reports whether h names a live PDC.
func (t *Table) Live(h pdc.Handle) bool { return (*engine.Table)(t).Live(h) }

// Target returns the PDC of a SYN packet with the given key. The errors are
// [pdc.ErrUnknown] if none, and [pdc.ErrResting] if closed a while ago, with the old handle.
func (t *Table) Target(k *pdc.TargetKey) (pdc.Handle, error) { return (*engine.Table)(t).Target(k) }

// Initiator returns the PDC for new messages of k, 0 without one.
func (t *Table) Initiator(k *pdc.InitiatorKey) pdc.Handle { return (*engine.Table)(t).Initiator(k) }

// All iterates over the live PDCs in the order of ids without stopping anybody. A PDC
// opened or closed meanwhile may or may not be seen.
func (t *Table) All() iter.Seq[pdc.Handle] { return (*engine.Table)(t).All() }

// Stats counts, in time proportional to the size.
func (t *Table) Stats() pdc.TableStats { return (*engine.Table)(t).Stats() }

// OpenTarget returns the PDC of a SYN packet, opened if absent; opened tells so. Of several
// cores receiving SYN packets of the same PDC at the same time, one opens the PDC and the
// rest get the same PDC. reserved is the packet's use_rsv_pdc. The errors are [pdc.ErrResting],
// with the handle the PDC had, [pdc.ErrQuota], [pdc.ErrNoPDC] and [pdc.ErrTableFull].
//
// The PDC is visible at once: the owner must be able to hold back packets from other cores
// until the PDC's state is set up.
func (t *Table) OpenTarget(now int64, k *pdc.TargetKey, reserved bool) (h pdc.Handle, opened bool, err error) {
	return (*engine.Table)(t).OpenTarget(now, k, reserved)
}

// OpenInitiator returns the PDC for messages of a key, opened if absent; opened tells so. Of
// several cores missing the key at the same time, one opens the PDC and the rest get the same
// PDC. The PDCID comes from the key's pool. The errors are [pdc.ErrInitiators], [pdc.ErrNoPDC] and
// [pdc.ErrTableFull].
func (t *Table) OpenInitiator(now int64, k *pdc.InitiatorKey) (h pdc.Handle, opened bool, err error) {
	return (*engine.Table)(t).OpenInitiator(now, k)
}

// Retire takes the key of an initiator PDC out of the table, so no new message finds the
// closing PDC; Match still does. The result reports whether the call did the removal. The key
// of a target PDC stays until the end of the quarantine.
func (t *Table) Retire(h pdc.Handle) bool { return (*engine.Table)(t).Retire(h) }

// Release ends the life of h and puts the PDCID into quarantine. The handle of a past life
// gets [pdc.ErrUnknown], so of several calls one succeeds.
func (t *Table) Release(now int64, h pdc.Handle) error { return (*engine.Table)(t).Release(now, h) }

// Reap frees at most limit PDCIDs of each pool after quarantine and returns the number. Opens
// reap, too; call Reap when idle to forget keys in time, and with no harm at any time.
func (t *Table) Reap(now int64, limit int) int { return (*engine.Table)(t).Reap(now, limit) }

// NextReap is the time at which the oldest quarantine ends, if any.
func (t *Table) NextReap() (int64, bool) { return (*engine.Table)(t).NextReap() }
