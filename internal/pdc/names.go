// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"net/netip"

	"github.com/uetcc/uetcc/pds/pdc"
)

// The settings, states, causes and errors of delivery that users see are defined in the public
// package.
type (
	Addr         = pdc.Addr
	AckState     = pdc.AckState
	Cause        = pdc.Cause
	Config       = pdc.Config
	Handle       = pdc.Handle
	Info         = pdc.Info
	InitiatorKey = pdc.InitiatorKey
	MemoryConfig = pdc.MemoryConfig
	PoolStats    = pdc.PoolStats
	StartMethod  = pdc.StartMethod
	State        = pdc.State
	Stats        = pdc.Stats
	TableConfig  = pdc.TableConfig
	TableStats   = pdc.TableStats
	TargetKey    = pdc.TargetKey
)

const (
	MaxPDCs  = pdc.MaxPDCs
	MaxRange = pdc.MaxRange

	StateClosed       = pdc.StateClosed
	StateCreating     = pdc.StateCreating
	StatePending      = pdc.StatePending
	StateEstablished  = pdc.StateEstablished
	StateCloseWait    = pdc.StateCloseWait
	StateQuiesce      = pdc.StateQuiesce
	StateAckWait      = pdc.StateAckWait
	StateCloseAckWait = pdc.StateCloseAckWait
	StateQuarantine   = pdc.StateQuarantine

	CauseNone           = pdc.CauseNone
	CauseRTO            = pdc.CauseRTO
	CauseNack           = pdc.CauseNack
	CausePending        = pdc.CausePending
	CauseClosed         = pdc.CauseClosed
	CauseAborted        = pdc.CauseAborted
	CauseMessageTimeout = pdc.CauseMessageTimeout
	CauseNoCredit       = pdc.CauseNoCredit

	StartAny          = pdc.StartAny
	StartRandom1RTT   = pdc.StartRandom1RTT
	StartExpected0RTT = pdc.StartExpected0RTT
)

var (
	ErrConfig      = pdc.ErrConfig
	ErrDuplicate   = pdc.ErrDuplicate
	ErrOrder       = pdc.ErrOrder
	ErrTrimmed     = pdc.ErrTrimmed
	ErrStale       = pdc.ErrStale
	ErrPaused      = pdc.ErrPaused
	ErrShortBuffer = pdc.ErrShortBuffer
	ErrEvents      = pdc.ErrEvents
	ErrNoPDC       = pdc.ErrNoPDC
	ErrQuota       = pdc.ErrQuota
	ErrInitiators  = pdc.ErrInitiators
	ErrResting     = pdc.ErrResting
	ErrTableFull   = pdc.ErrTableFull
	ErrUnknown     = pdc.ErrUnknown
	ErrPeer        = pdc.ErrPeer
)

// AddrFrom is the public package's.
func AddrFrom(a netip.Addr) Addr { return pdc.AddrFrom(a) }
