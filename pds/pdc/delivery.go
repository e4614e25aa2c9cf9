// SPDX-License-Identifier: Apache-2.0

// Package pdc names the packet delivery contexts (PDC) of an endpoint of the root package: the
// settings of delivery, the causes of failure, and a look at single PDCs through a [Manager]. The
// [Table] of PDCIDs is usable alone, by any number of goroutines, without a lock.
//
// Delivery is the work of the root package's Endpoint: windows, acknowledgement, retransmission,
// opening and closing of PDCs.
//
// # Guarantees
//
//   - Each packet of a message ends exactly once: answered, or failed with a [Cause].
//   - Each request of RUD and ROD is delivered exactly once; of ROD in order.
//   - Nothing a peer sends makes an endpoint panic, loop longer than a window, or hold more memory.
//   - Congestion control hears of each byte once: sent, then arrived or lost. Bytes are
//     counted by the record of sent packets; a peer's rcvd_bytes beyond the packets shown by CACK
//     and SACK leave flight at once, up to the bytes in flight.
//
// # What differs from the specification
//
// A target takes a congestion control context with the first data to send, so never says
// NO_CCC_AVAIL to a SYN packet; and keeps each guaranteed response until cleared, so never says
// GTD_RESP_UNAVAIL. A source obeys both codes. The quarantine of [TableConfig], half at the source,
// stands for Syn_Retx_Safety_Time. An INVALID_SYN about a Start_PSN has the vendor_code 1 and, as payload, a
// Start_PSN that the target takes; a source obeys once, and ends the PDC as specified where the
// vendor_code is another.
//
// Source: UE Specification 1.0.x, section 3.5.
package pdc

import (
	"iter"
	"net/netip"

	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// Addr is a fabric address: an IPv6 address, or an IPv4 address in mapped form,
// as two big-endian words, Hi and Lo. The zero Addr is none.
type Addr = pdc.Addr

// AddrFrom returns the Addr of a. Zones are ignored.
func AddrFrom(a netip.Addr) Addr { return pdc.AddrFrom(a) }

// Handle names a PDC: the PDCID, and a generation, odd while the PDC lives. The zero Handle is
// none.
type Handle = pdc.Handle

// State is the stage of a PDC's life, see [Info].
type State = pdc.State

// The stages of a PDC's life.
const (
	StateClosed       = pdc.StateClosed       // no context
	StateCreating     = pdc.StateCreating     // initiator: nothing heard from the target yet
	StatePending      = pdc.StatePending      // target: waits for the Start_PSN asked for
	StateEstablished  = pdc.StateEstablished  // both: the peer's PDCID is known
	StateCloseWait    = pdc.StateCloseWait    // target: asked the initiator to close
	StateQuiesce      = pdc.StateQuiesce      // initiator: takes no new message, finishes open messages
	StateAckWait      = pdc.StateAckWait      // initiator: waits for the last packets to be released
	StateCloseAckWait = pdc.StateCloseAckWait // initiator: CLOSE_CMD is under way
	StateQuarantine   = pdc.StateQuarantine   // gone; the id rests and the peer is remembered
)

// Config is how packets are delivered: windows, acknowledgement, retransmission and the life of
// PDCs. Zero fields have the defaults in the comments of the fields, which go doc shows of internal/pdc.
type Config = pdc.Config

// MemoryConfig sizes the memory for packets, responses and events. Everything is allocated at
// construction; zero fields have the defaults in the comments of the fields, as of [Config].
type MemoryConfig = pdc.MemoryConfig

// StartMethod is the choice of Start_PSNs that a target takes from an initiator opening a PDC, see
// [Config].
type StartMethod = pdc.StartMethod

// The methods of UE Specification 1.0.x section 3.5, PDCs that TSS secures.
const (
	StartAny          = pdc.StartAny          // the initiator's choice
	StartRandom1RTT   = pdc.StartRandom1RTT   // drawn by the target: one more round trip
	StartExpected0RTT = pdc.StartExpected0RTT // the initiator's choice, at or after the Expected_PSN
)

// MaxRange is the most PSNs tracked in each direction of a PDC.
const MaxRange = pdc.MaxRange

// AckState is the host's part of an acknowledgement, for congestion control.
type AckState = pdc.AckState

// Info is the state of one PDC: life, windows and work left.
type Info = pdc.Info

// Stats counts what has happened to packets and PDCs.
type Stats = pdc.Stats

// Cause is why a message, a packet or a PDC failed. Values below [CauseRTO] are the codes of
// NACKs, see [pds.NackCode].
type Cause = pdc.Cause

// The causes that are no codes of NACKs.
const (
	CauseNone           = pdc.CauseNone           // no failure
	CauseRTO            = pdc.CauseRTO            // retransmission timeouts exhausted
	CauseNack           = pdc.CauseNack           // resends caused by NACKs exhausted
	CausePending        = pdc.CausePending        // no PDC became free in Pend_Timeout
	CauseClosed         = pdc.CauseClosed         // the PDC closed before the packet was sent
	CauseAborted        = pdc.CauseAborted        // the caller gave the PDC up
	CauseMessageTimeout = pdc.CauseMessageTimeout // a message made no progress for too long
	CauseNoCredit       = pdc.CauseNoCredit       // the peer has not granted credit for too long
)

// Errors of the work with packets and messages.
var (
	ErrConfig      = pdc.ErrConfig      // wrapped by errors about a configuration
	ErrDuplicate   = pdc.ErrDuplicate   // the packet has arrived before
	ErrOrder       = pdc.ErrOrder       // the packet of an ordered PDC has come ahead of a gap
	ErrTrimmed     = pdc.ErrTrimmed     // a switch has cut the packet
	ErrStale       = pdc.ErrStale       // the packet or call speaks of something that is over
	ErrPaused      = pdc.ErrPaused      // as many messages wait for a PDC as may (pds_pause)
	ErrShortBuffer = pdc.ErrShortBuffer // too little room for a reply
	ErrEvents      = pdc.ErrEvents      // completions have to be fetched first
)

// A Manager is the PDS manager of an endpoint, for a look at PDCs, and for closing PDCs. Single
// writer: the calls belong to the goroutine of the endpoint.
//
// Source: UE Specification 1.0.x section 3.5, PDS manager.
type Manager pdc.Manager

func (m *Manager) engine() *pdc.Manager { return (*pdc.Manager)(m) }

// PDC returns the state of h, or false if h has gone. Of a PDC in quarantine the Info still holds
// the ids and addresses.
func (m *Manager) PDC(h Handle) (Info, bool) { return m.engine().PDC(h) }

// All iterates over the live PDCs in the order of PDCIDs. PDCs may be closed meanwhile.
func (m *Manager) All() iter.Seq[Handle] { return m.engine().All() }

// Stats returns the counters.
func (m *Manager) Stats() Stats { return m.engine().Stats() }

// Close asks for h to be closed: no new message begins; when the open messages have ended, the PDC
// goes. A target asks the initiator. The errors are [ErrUnknown] and [ErrEvents].
func (m *Manager) Close(now int64, h Handle) error { return m.engine().Close(now, h) }

// Abort gives h up: every message on h fails with [CauseAborted]. Errors as from Close.
func (m *Manager) Abort(now int64, h Handle) error { return m.engine().Abort(now, h) }

// SetStartPSN makes an initiator PDC with nothing to send yet start at a given PSN, and
// reports success: for tests and recorded walks.
func (m *Manager) SetStartPSN(h Handle, start pds.PSN) bool { return m.engine().SetStartPSN(h, start) }
