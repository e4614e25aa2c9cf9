package pdc

import (
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// To an address that may not be its sender's go at most three bytes for each that came from it,
// IP and UDP headers included. A source shows that it receives what is sent to it when it names
// the PDCID that it was given in a packet without the SYN flag, or starts at the PSN that it was
// asked for. Until then:
//
//   - a SYN packet has one answer, which is shorter than itself or little longer;
//   - so many control packets go, for each SYN packet that has come, CLOSE_REQ and CREDIT among them;
//   - what asks for more than fits into an acknowledgement, and is the first on its PDC, is
//     refused: the layer above asks [Manager.Doubts], and refuses with NEW_START_PSN;
//   - data that was submitted nevertheless waits, behind a NOOP that asks for a sign.
//
// Source: RFC 9000, section 8.1, has the factor. What UET says of it is not public; that the
// NEW_START_PSN of section 3.5 serves for it is this package's choice.

// So many control packets, of 44 bytes, does a SYN packet pay for beside its acknowledgement: a
// request of 72 bytes or more beside 96, a control packet of 44 beside 60.
const (
	tellsPerRequest = 2
	tellsPerControl = 1
)

// Doubts reports whether the peer of h, a PDC that it has opened, has yet to show that it
// receives what is sent to it, and whether nothing has been taken on the PDC. Then a request whose
// answer takes packets of its own is to be refused ([RespondRefuse]) with [pds.NackNewStartPSN], and
// comes again one round trip later. What such a refusal finds others taken before it counts as
// lost, and comes again as soon as those are acknowledged.
func (m *Manager) Doubts(h Handle) (doubts, first bool) {
	p := m.get(h)
	if p == nil || !m.reply.doubts(p) {
		return false, false
	}
	return true, p.isUnheard()
}

// isUnheard reports whether the peer of p, a target, can know nothing of it: nothing has been taken
// or sent on it.
func (p *PDC) isUnheard() bool {
	return p.rx.seen == seenNothing && p.tx.tail == 0 && p.state == StateEstablished
}

func (w *answers) doubts(p *PDC) bool { return p.is(flagUnproven) && !w.p.c.KnownSources }

// DoubtsSource is [Manager.Doubts] for packets without a PDC: it reports whether there is no PDC
// with an address, nor has been of late, on which it has shown that it receives.
func (m *Manager) DoubtsSource(src Addr) bool {
	return !m.p.c.KnownSources && m.table.proven.Held(m.table.held.Source(src.Hi, src.Lo)) == 0
}

// showContext tells the PDCs that show has apart from those of messages.
const showContext = 0xffff

// show has a PDC with a peer that has refused a RUDI packet because it knows none: when the NOOP
// that opens the PDC is acknowledged, an ACK_REQ names the PDCID that the peer has given. The PDC
// stays until it has been idle for long, and is asked about when the peer refuses again.
func (m *Manager) show(now int64, local, peer Addr) {
	k := InitiatorKey{Source: local.Netip(), Destination: peer.Netip(), Context: showContext}
	h := m.life.usable(now, &k)
	if h == 0 {
		var err error
		if h, err = m.life.openInitiator(now, &k); err != nil || m.Noop(h) != nil {
			return // the RUDI packet comes again, and may find memory then
		}
	}
	if p := m.get(h); p.ctl&ctlAckReq == 0 && (p.peerID == 0 || deadline.After(p.activeAt, m.p.c.RTOInit) <= now) {
		m.sched.control(p, ctlAckReq)
	}
}

// mayTell reports whether a control packet may go to the peer of p.
func (w *answers) mayTell(p *PDC) bool {
	if !w.doubts(p) {
		return true
	}
	if p.resp.tells == 0 {
		w.stats.Muted++
		return false
	}
	p.resp.tells--
	return true
}

// doubt refuses a request of a peer that has yet to show that it receives. If it is the first
// the PDC is forgotten, and the peer asked to start at another PSN. Otherwise the request counts
// as lost: it comes again, with the PDCID that the peer has been told by then. The first copy is
// answered so that this is at once, no other, or the peer would count the answers to each.
func (m *Manager) doubt(now int64, p *PDC, b *inbound, out []byte) int {
	if !p.isUnheard() || b.flags&pds.FlagSYN == 0 {
		if m.stats.Doubted++; b.flags&pds.FlagRetx != 0 {
			return 0
		}
		return m.reply.refuse(p, b, out, pds.NackPktNotRcvd)
	}
	p.state = StatePending // which has taken no packet, so that nothing has to be remembered
	m.life.retire(now, p, CauseNone)
	return m.start.askStart(now, b, out)
}
