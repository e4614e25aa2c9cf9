// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

// Handle names a PDC: the PDCID, and a generation, odd while the PDC lives. The zero Handle is
// none.
type Handle uint32

// ID returns the PDCID.
func (h Handle) ID() pds.PDCID { return pds.PDCID(h) }

// Generation returns the generation of the PDCID.
func (h Handle) Generation() uint16 { return uint16(h >> 16) }

// State is the stage of a PDC's life. The zero value is closed.
type State uint8

const (
	StateClosed       State = iota // no context
	StateCreating                  // initiator: nothing heard from the target yet
	StatePending                   // target: waits for the Start_PSN asked for
	StateEstablished               // both: the peer's PDCID is known
	StateCloseWait                 // target: asked the initiator to close
	StateQuiesce                   // initiator: takes no new message, finishes open messages
	StateAckWait                   // initiator: waits for the last packets to be released
	StateCloseAckWait              // initiator: CLOSE_CMD is under way
	StateQuarantine                // gone; the id rests and the peer is remembered
)

var stateNames = [...]string{"CLOSED", "CREATING", "PENDING", "ESTABLISHED", "CLOSE_WAIT", "QUIESCE", "ACK_WAIT",
	"CLOSE_ACK_WAIT", "QUARANTINE"}

// String returns the specification's name.
func (s State) String() string { return enum.Name(stateNames[:], s) }

// Info is the state of a PDC: life, windows and work left.
type Info struct {
	State        State
	Initiator    bool
	Ordered      bool
	ID, PeerID   pds.PDCID
	Peer, Local  Addr
	Context      ccc.Handle // of congestion control; 0 at a target without data sent
	OpenMessages int
	Locks        int
	Unsent       int  // packets queued and not sent
	Outstanding  int  // Next - Base
	Owed         bool // a packet of the layer above, no control packet, is queued or not released

	// Sending: MaxCACK <= Next-1, ClearPSN = Base-1.
	Base, Next, MaxCACK pds.PSN
	// Receiving: everything up to Contiguous has arrived.
	CACK, Contiguous, MaxRcvd, Clear pds.PSN
}

// AckState is the part of an acknowledgement the receiver side of congestion
// control decides.
type AckState struct {
	Type    pds.CCType // CCNSCC or CCCredit
	Pend    uint8      // rcv_cwnd_pend
	Restore bool
	Service uint16 // service_time, 128 ns units; 0: not known
	Credit  uint32 // credit so far, 256 B units; cells of transport flow control
}

// Cause is the reason that a packet or a PDC failed: a [pds.NackCode], or a Cause
// below.
type Cause uint16

const (
	CauseNone    Cause = 0            // no failure
	CauseRTO     Cause = 0x100 + iota // retransmission timeouts exhausted
	CauseNack                         // resends caused by NACKs exhausted
	CausePending                      // no PDC became free in Pend_Timeout
	CauseClosed                       // the PDC closed before the packet was sent
	CauseAborted                      // the caller gave the PDC up

	// Of the layer above, for messages without progress for too long.
	CauseMessageTimeout // the awaited event has not come
	CauseNoCredit       // one end has not granted the other credit: maybe under a different congestion control
)

// String returns the cause in words.
func (c Cause) String() string {
	switch c {
	case CauseNone:
		return "none"
	case CauseRTO:
		return "timeouts exhausted"
	case CauseNack:
		return "NACK resends exhausted"
	case CausePending:
		return "no PDC in time"
	case CauseClosed:
		return "PDC closed"
	case CauseAborted:
		return "aborted"
	case CauseMessageTimeout:
		return "no progress in MessageTimeout"
	case CauseNoCredit:
		return "no credit between the two"
	default:
		return pds.NackCode(c).String()
	}
}

// Errors of the work with packets and messages.
var (
	// ErrConfig is wrapped by every error about a configuration; the text names the field and
	// the limit.
	ErrConfig = errors.New("pdc: invalid configuration")

	ErrDuplicate = errors.New("pdc: packet has arrived before")
	ErrOrder     = errors.New("pdc: packet of an ordered PDC ahead of a gap")
	ErrTrimmed   = errors.New("pdc: packet was trimmed") // by a switch
	ErrStale     = errors.New("pdc: speaks of something that is over")

	// ErrPaused: as many messages wait for a PDC as may (pds_pause).
	ErrPaused = errors.New("pdc: no PDC, and too many messages wait for one")

	// ErrShortBuffer: too little room for a reply.
	ErrShortBuffer = errors.New("pdc: buffer shorter than ReplyMax")

	// ErrEvents: there is no room for the events of one more packet; fetch completions first.
	ErrEvents = errors.New("pdc: events not drained")
)

// Addr is a fabric address: an IPv6 address, or an IPv4 address in mapped form,
// as two big-endian words. The zero Addr is none.
type Addr struct{ Hi, Lo uint64 }

// AddrFrom returns the Addr of a. Zones are ignored.
func AddrFrom(a netip.Addr) Addr {
	hi, lo := table.AddrWords(a)
	return Addr{hi, lo}
}

// Netip returns a in the form of the standard library.
func (a Addr) Netip() netip.Addr {
	if a.Hi == 0 && a.Lo>>32 == 0xffff {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(a.Lo)) // a literal would be built byte by byte
		return netip.AddrFrom4(b)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], a.Hi)
	binary.BigEndian.PutUint64(b[8:], a.Lo)
	return netip.AddrFrom16(b)
}

// String returns the usual text form.
func (a Addr) String() string { return a.Netip().String() }
