// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/enum"
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
