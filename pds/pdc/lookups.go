// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/internal/pdc"

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
type Table = pdc.Table

// TableConfig sizes a [Table]: the pools of PDCIDs, the shares of sources and initiators, the
// quarantine. Everything is allocated at construction.
type TableConfig = pdc.TableConfig

// TargetKey is the identity of a PDC in a packet with the SYN flag.
type TargetKey = pdc.TargetKey

// InitiatorKey is the key that decides a message's PDC.
type InitiatorKey = pdc.InitiatorKey

// MaxPDCs is the number of PDCIDs: 16 bits, without 0.
const MaxPDCs = pdc.MaxPDCs

// NewTable makes an empty table. Errors wrap [ErrConfig] and name the field.
func NewTable(c TableConfig) (*Table, error) { return pdc.NewTable(c) }

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
