// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"iter"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/internal/list"
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
	if i := p.resp.Head; i != 0 {
		p.rx.HoldAt(s.slot[i].psn)
	} else {
		p.rx.Unhold()
	}
}

// A life opens and closes PDCs, gives PDCs contexts of congestion control, and keeps the
// messages waiting for a PDC.
type life struct {
	p      *Params
	mem    *memory
	pdc    []PDC
	cc     *ccc.Manager
	ctxs   *ccc.Table
	table  *Table
	stats  *Stats
	sched  *scheduler
	timer  *timers
	reply  *answers
	start  *starts
	source *source
	target *target
	rudi   *rudiTable

	algof   func(ccc.Key) ccc.Algorithm
	awaits  func(Handle) bool   // ManagerConfig.Awaited
	cccID   []uint8             // by context: the ccc_id known to the peer
	bound   []list.List[uint16] // with credit, by context: the PDCs, by slot
	binds   list.Links[uint16]  // of bound
	paths   knownPaths
	waiting [2]fifo.Queue[waiter] // for the general pool, and for the reserved pool

	open        int    // PDCs in StateCreating to StateEstablished
	cursor      uint16 // where the search for a PDC to close goes on
	searchAt    int64  // no makeRoom before
	most        int    // ManagerConfig.Waiting
	spare       int    // ManagerConfig.Spare
	spareCursor uint16 // where the search of takeContext goes on
	spareAt     int64  // no takeContext before
	deferred    bool   // a target lacks a context, and takeContext had to pause
	freed       bool   // a PDC has ended since the last look for waiting messages: the next gets what it had, and one more PDC closes
	vain        int    // PDCs looked at by relieve since the last that closed
}

// live reports whether the PDC is a context on which packets can be sent.
func live(s State) bool { return s > StateClosed && s < StateQuarantine }

// takesMessages reports whether a new message may begin on the PDC.
func takesMessages(s State) bool {
	return (1<<StateCreating|1<<StateEstablished|1<<StateCloseWait)>>s&1 != 0
}

// sendsData reports whether packets of open messages may still be queued.
func sendsData(s State) bool { return takesMessages(s) || s == StateQuiesce }

// nextCloseState is the way of an initiator asked to close, dependent only on
// the open work. The rest of the life is decided by the packet or timer that
// ends a state.
func nextCloseState(s State, inUse, unreleased bool) State {
	switch {
	case s != StateQuiesce && s != StateAckWait:
		return s
	case inUse:
		return StateQuiesce
	case unreleased:
		return StateAckWait
	default:
		return StateCloseAckWait
	}
}

// With Limit_PSN_Range a PDC closes before the PSN reaches Start_PSN + 2^31, so no
// PSN comes twice in the life of a key. New messages go to a new PDC from psnClose
// on: the rest is room for the messages open then, each of up to 2^22 packets. The
// return direction needs no limit: each packet answers a packet of the forward
// direction.
//
// Source: UE Specification 1.0.x section 3.5, Limit_PSN_Range.
const (
	psnEnd   = 1 << 31
	psnClose = psnEnd - 1<<26
)

// worn reports whether p has used all allowed PSNs, and then starts to close p.
func (l *life) worn(now int64, p *PDC) bool {
	if p.tx.tail < psnClose || !l.p.c.LimitPSNRange || l.mem.events.Free() < l.mem.reserve {
		return false
	}
	l.startClose(now, p)
	return true
}

// PDC returns a look at the PDC of h, false after the PDC's life. While the id rests, the
// look then has the ids and the addresses.
func (m *Manager) PDC(h Handle) (Info, bool) {
	p := m.get(h)
	if p == nil {
		if p = m.target.byID(h.ID()); p != nil && p.handle == h {
			return Info{ID: h.ID(), PeerID: p.peerID, Peer: p.peer, Local: p.local}, false
		}
		return Info{}, false
	}
	_, owed := m.mem.owed(p)
	return Info{
		State: p.state, Owed: owed, Initiator: p.is(flagInitiator), Ordered: p.is(flagROD),
		ID: h.ID(), PeerID: p.peerID, Peer: p.peer, Local: p.local, Context: p.cc,
		OpenMessages: int(p.openMsgs), Locks: int(p.locks),
		Unsent: p.tx.Unsent(), Outstanding: int(p.tx.next - p.tx.base),
		Base: p.tx.Base(), Next: p.tx.Next(), MaxCACK: p.tx.MaxCACK(),
		CACK: p.rx.CACK(), Contiguous: p.rx.Missing() - 1, MaxRcvd: p.rx.MaxRcvd(), Clear: p.rx.ClearPSN(),
	}, true
}

// Ends returns the addresses of a PDC, live or resting: [Manager.PDC] without what else is known.
//
//uetcc:hot inlines
func (f *FastPath) Ends(h Handle) (local, peer Addr) {
	if p := f.target.byID(h.ID()); p != nil && p.handle == h {
		return p.local, p.peer
	}
	return Addr{}, Addr{}
}

// FreeChunks returns the number of free chunks, of 16 packets each, in the memory for sent
// packets.
func (m *Manager) FreeChunks() int { return m.mem.freeChunks() }

// HasEvents reports whether Event has an event.
func (m *Manager) HasEvents() bool { return m.mem.events.Head != m.mem.events.Tail }

// All iterates over the live PDCs in the order of ids.
func (m *Manager) All() iter.Seq[Handle] { return m.table.All() }

// RUDI returns how many RUDI packets wait for their response.
func (m *Manager) RUDI() int { return m.rudi.live }

// Stats returns the counters.
func (m *Manager) Stats() Stats { return m.stats }
