// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// pdcFlags are the yes-or-no facts of a PDC.
type pdcFlags uint16

const (
	flagInitiator  pdcFlags = 1 << iota // opened from here
	flagROD                             // ordered
	flagReserved                        // of the reserved pool
	flagClose                           // target: CLOSE_CMD has come, with PSN closePSN
	flagAskClose                        // target: the next ACK asks for a close
	flagClearDue                        // initiator: the target wants to hear a CLEAR
	flagRefused                         // quarantine: one INV_DPDCID has been sent
	flagOnData                          // in scheduler.data, or waiting for the context
	flagOnControl                       // in the list of PDCs with control packets
	flagRecovering                      // infers losses up to PDC.recover
	flagGap                             // target: ROD_OOO has been sent for the gap at rx.Missing
	flagFailed                          // closes in error
	flagMeasure                         // initiator: the context's first PDC, to measure the base RTT by a probe
	flagAsking                          // may send a packet without credit, to ask for credit
	flagTurn                            // in the list of PDCs with a buffered request whose turn has come
	flagExpected                        // initiator: the target expects later PSNs of the next PDC

	// flagUnproven: of a live target, the peer has only sent SYN packets, possible for anybody
	// in the name of anybody. See Table.prove.
	flagUnproven = flagRefused
)

// A PDC is one packet delivery context: both directions, at either end. A PDC is a value
// without pointers, to lie in a slab; see [Manager] for the rules. Single writer.
//
// Two cache lines are hot: the first, with the peer's identity and, of rx, the edge of the arrivals,
// and the third, that of tx. A source needs both, a target the first. The remaining lines are for
// packets out of order, handed over, or late. The first has to be a line that everybody needs: the
// compiler's nil check loads from the start of the struct.
type PDC struct {
	handle   Handle
	peerID   pds.PDCID // 0 while unknown
	state    State
	stalls   uint8 // attempts to move the peer's CACK since the last move
	flags    pdcFlags
	ctl      ctlFlags
	tc       uint8
	ackBytes uint32 // ack_gen_count
	peer     Addr
	activeAt int64      // last packet in or out
	rcvd     uint32     // nominal bytes received modulo 2^32, for rcvd_bytes
	cc       ccc.Handle // congestion control context, 0 none

	rx recvWindow // bits behind edges, on separate lines

	unsubmitted       int64  // announced and not submitted, nominal bytes
	nextData, nextCtl uint16 // next slot in the list of PDCs waiting for the context, and in scheduler.ctl
	openMsgs          uint16 // open_msg
	probes            probes // since something was acknowledged
	challenge         challenge

	asked    ctlFlags // of ctlOptional: sent, and not answered yet
	deaf     ctlFlags // of ctlOptional: unknown to the peer
	refusals uint8    // of CLEAR_REQs
	asks     uint8    // NOOPs sent while nothing new has come, see timers.asksOf
	ahead    int32    // see counted

	timerAt int64 // the wheel's deadline for the PDC
	auxAt   int64 // clear or stall timer
	probed  int64 // the last probe left then; 0 none

	tx      sendWindow
	took    uint32 // the last answer, units of 2^tripShift ns, plus 1; 0: none to be weighed
	counted counted

	probeAt  int64   // next probe
	closePSN pds.PSN // target, with flagClose: of CLOSE_CMD; initiator: rx.MaxRcvd when the last of asks went, with flagExpected the Expected_PSN
	recover  pds.PSN // end of the recovery, when recovering
	locks    uint16
	opaque   uint16 // of the last probe
	lapse    uint32 // lapseUnits; in PENDING and CLOSE_WAIT, and while isOpening, when to give up, otherwise see hoards
	local    Addr
	resp     respList
	before   pds.PSN // the last packet sent before the last probe
	cleared  pds.PSN // of the last CLEAR_CMD
}

// Handle returns the name of p, known as long as the PDC lives or rests.
func (p *PDC) Handle() Handle { return p.handle }

// Peer returns the address of the peer.
func (p *PDC) Peer() Addr { return p.peer }

// TC returns the traffic class of the PDC's requests.
func (p *PDC) TC() uint8 { return p.tc }

func (p *PDC) is(f pdcFlags) bool { return p.flags&f != 0 }

func (p *PDC) set(f pdcFlags, on bool) {
	if on {
		p.flags |= f
	} else {
		p.flags &^= f
	}
}

// inUse reports whether messages are open on p, or p is locked.
func (p *PDC) inUse() bool { return p.openMsgs != 0 || p.locks != 0 }

// syn reports whether packets still name the pool instead of the peer's PDCID.
func (p *PDC) syn() bool { return p.peerID == 0 && p.is(flagInitiator) }

// ctlFlags are the control packets a PDC is to send.
type ctlFlags uint8

const (
	ctlClearCmd ctlFlags = 1 << iota
	ctlClearReq
	ctlAckReq   // about the last packet sent, to move max_cack
	ctlQuestion // about packets arrived and not released
	ctlProbe
	ctlMeasure // a probe for the base round trip alone
	ctlCreditReq
	ctlClosingInErr // a NACK
)

// holdCACK keeps CACK below the lowest PSN whose response is owed.
func (p *PDC) holdCACK(s *responseStore) {
	if low, ok := s.lowest(&p.resp); ok {
		p.rx.HoldAt(low)
	} else {
		p.rx.Unhold()
	}
}
