// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"iter"
	"net/netip"

	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// Table finds the PDCs of one FEP and hands out PDCIDs. Any goroutine may call any
// method, without waiting or allocation.
//
//	packet, syn=0    dpdcid, source, spdcid           Match: an index, no hash
//	packet, syn=1    TargetKey                        Target, OpenTarget
//	message          InitiatorKey                     Initiator, OpenInitiator
//
// A Table knows identities only. The PDCs lie in an array of the caller's, indexed by
// id, each with one owner at a time; a PDC found by a look-up may be released before
// the caller gets there, and the handle then is stale.
//
// A released PDCID rests for TableConfig.Quarantine. The key of a target PDC rests,
// too, so late SYN packets hit the key and are dropped; Reap forgets both. A
// stale handle or a wrong peer never matches.
type Table pdc.Table

// TableConfig sizes a [Table]: the pools of PDCIDs, the shares of sources and initiators, the
// quarantine. Everything is allocated at construction.
type TableConfig = pdc.TableConfig

// TableStats counts the PDCIDs of both pools, General and Reserved, each Capacity = Free + Live + Resting.
type TableStats = pdc.TableStats

// TargetKey is the identity of a PDC in a packet with the SYN flag.
type TargetKey = pdc.TargetKey

// InitiatorKey is the key that decides a message's PDC.
type InitiatorKey = pdc.InitiatorKey

// MaxPDCs is the number of PDCIDs: 16 bits, without 0.
const MaxPDCs = pdc.MaxPDCs

// NewTable makes an empty table. Errors wrap [ErrConfig] and name the field.
func NewTable(c TableConfig) (*Table, error) {
	t, err := pdc.NewTable(c)
	return (*Table)(t), err
}

// ByID returns the live PDC with the given id, 0 without one. The peer is not checked.
func (t *Table) ByID(id pds.PDCID) Handle { return (*pdc.Table)(t).ByID(id) }

// Match finds the PDC of a packet without the SYN flag: the PDC of dpdcid, if the
// packet comes from the PDC's peer. While the peer's PDCID is unknown any is right, and
// the spdcid 0 of a NACK is not compared. The errors are [ErrUnknown] and [ErrPeer].
func (t *Table) Match(dpdcid pds.PDCID, source netip.Addr, spdcid pds.PDCID) (Handle, error) {
	return (*pdc.Table)(t).Match(dpdcid, source, spdcid)
}

// Learn records the PDCID of the peer of h, found by an initiator in the peer's first
// packet. The result reports whether peer is the peer's PDCID now: false if h has gone
// or the peer has a different known PDCID.
func (t *Table) Learn(h Handle, peer pds.PDCID) bool { return (*pdc.Table)(t).Learn(h, peer) }

// Live reports whether h names a live PDC.
func (t *Table) Live(h Handle) bool { return (*pdc.Table)(t).Live(h) }

// Target returns the PDC of a SYN packet with the given key. The errors are
// [ErrUnknown] if none, and [ErrResting] if closed a while ago, with the old handle.
func (t *Table) Target(k *TargetKey) (Handle, error) { return (*pdc.Table)(t).Target(k) }

// Initiator returns the PDC for new messages of k, 0 without one.
func (t *Table) Initiator(k *InitiatorKey) Handle { return (*pdc.Table)(t).Initiator(k) }

// All iterates over the live PDCs in the order of ids without stopping anybody. A PDC
// opened or closed meanwhile may or may not be seen.
func (t *Table) All() iter.Seq[Handle] { return (*pdc.Table)(t).All() }

// Stats counts, in time proportional to the size.
func (t *Table) Stats() TableStats { return (*pdc.Table)(t).Stats() }

// OpenTarget returns the PDC of a SYN packet, opened if absent; opened tells so. Of several
// cores receiving SYN packets of the same PDC at the same time, one opens the PDC and the
// rest get the same PDC. reserved is the packet's use_rsv_pdc. The errors are [ErrResting],
// with the handle the PDC had, [ErrQuota], [ErrNoPDC] and [ErrTableFull].
//
// The PDC is visible at once: the owner must be able to hold back packets from other cores
// until the PDC's state is set up.
func (t *Table) OpenTarget(now int64, k *TargetKey, reserved bool) (h Handle, opened bool, err error) {
	return (*pdc.Table)(t).OpenTarget(now, k, reserved)
}

// OpenInitiator returns the PDC for messages of a key, opened if absent; opened tells so. Of
// several cores missing the key at the same time, one opens the PDC and the rest get the same
// PDC. The PDCID comes from the key's pool. The errors are [ErrInitiators], [ErrNoPDC] and
// [ErrTableFull].
func (t *Table) OpenInitiator(now int64, k *InitiatorKey) (h Handle, opened bool, err error) {
	return (*pdc.Table)(t).OpenInitiator(now, k)
}

// Retire takes the key of an initiator PDC out of the table, so no new message finds the
// closing PDC; Match still does. The result reports whether the call did the removal. The key
// of a target PDC stays until the end of the quarantine.
func (t *Table) Retire(h Handle) bool { return (*pdc.Table)(t).Retire(h) }

// Release ends the life of h and puts the PDCID into quarantine. The handle of a past life
// gets [ErrUnknown], so of several calls one succeeds.
func (t *Table) Release(now int64, h Handle) error { return (*pdc.Table)(t).Release(now, h) }

// Reap frees at most limit PDCIDs of each pool after quarantine and returns the number. Opens
// reap, too; call Reap when idle to forget keys in time, and with no harm at any time.
func (t *Table) Reap(now int64, limit int) int { return (*pdc.Table)(t).Reap(now, limit) }

// NextReap is the time at which the oldest quarantine ends, if any.
func (t *Table) NextReap() (int64, bool) { return (*pdc.Table)(t).NextReap() }

// Errors of a [Table]. After an error nothing has changed.
var (
	ErrNoPDC      = pdc.ErrNoPDC      // no PDCID is free now
	ErrQuota      = pdc.ErrQuota      // the source holds the most PDCs allowed to a source
	ErrInitiators = pdc.ErrInitiators // initiators hold the most PDCIDs allowed
	ErrResting    = pdc.ErrResting    // a late SYN packet of a closed PDC in quarantine: drop the packet
	ErrTableFull  = pdc.ErrTableFull  // no place for the key's hash; answer as for ErrNoPDC
	ErrUnknown    = pdc.ErrUnknown    // the PDCID names no live PDC, or the handle's has gone
	ErrPeer       = pdc.ErrPeer       // the packet comes from an address other than the PDC's peer
)
