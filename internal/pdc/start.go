// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/internal/siphash"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

// An expectedStart is the Expected_PSN for a PDCID of an initiator. Initiators with the same hash
// displace each other; a displaced initiator is treated like a new one.
type expectedStart struct {
	src, dst Addr
	psn      pds.PSN
	id       pds.PDCID // 0: none
	moved    uint32    // how far psn has come, from the first Start_PSN on, with FreshKey from 0 on
}

// psnSpent is the limit of an Expected_PSN under a key. Half of all PSNs are before any given PSN,
// so from 2^31 on packets that opened the first PDCs would be in order again.
const psnSpent = psnEnd - 1<<24

// expectedStarts are as many as there are PDCIDs, or more.
type expectedStarts struct {
	slot   []expectedStart
	hasher table.Hasher

	// floor, with FreshKey, is the Expected_PSN of the secure domain, for initiators without a
	// place. A displaced initiator raises floor, so no old packet of the initiator opens a PDC
	// again. PSNs of these initiators are compared as numbers below 2^31.
	floor uint32
}

func newExpectedStarts(ids int, h table.Hasher) expectedStarts {
	return expectedStarts{slot: slab.Make[expectedStart](fifo.Size(ids)), hasher: h}
}

// starts draw and judge Start_PSNs, and so tell proven addresses.
type starts struct {
	p     *Params
	mem   *memory
	pdc   []PDC
	stats *Stats
	reply *answers
	timer *timers

	draw     *rand.ChaCha8 // peers see draws: a peer's draws must not tell others'
	secret   siphash.Key   // for values seen by peers and unpredictable for strangers
	hasher   table.Hasher
	starts   []askedStart
	expected expectedStarts // with StartExpected0RTT
}

func (s *starts) init(m *Manager, seed uint64, hasher table.Hasher) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	draw := rand.NewChaCha8(key)
	key[8] = 1
	secret := rand.NewChaCha8(key)
	ids := len(m.pdc) - 1
	*s = starts{
		p: m.p, mem: m.mem, pdc: m.pdc, stats: &m.stats, reply: &m.reply, timer: &m.timer,
		draw: draw, secret: siphash.Key{secret.Uint64(), secret.Uint64()}, hasher: hasher,
		starts: slab.Make[askedStart](min(fifo.Size(8*ids), askedMax)),
	}
	if m.p.c.Start == StartExpected0RTT {
		s.expected = newExpectedStarts(ids, hasher)
	}
}

func (s *starts) random() uint64 { return s.draw.Uint64() }

// at returns the place for PDCs with PDCID id of an initiator, and whether the place is the
// initiator's.
func (s *expectedStarts) at(src, dst Addr, id pds.PDCID) (e *expectedStart, known bool) {
	k := table.Key{src.Hi, src.Lo, dst.Hi, dst.Lo, uint64(id)}
	e = &s.slot[s.hasher.Sum(&k)&uint64(len(s.slot)-1)]
	return e, e.id == id && e.src == src && e.dst == dst
}

// remember keeps the Expected_PSN of a target PDC, ended in any way: the PDC's last PSN plus 1.
// The closing ACK tells the initiator, who counts on from there.
func (s *starts) remember(p *PDC) {
	if s.p.c.Start != StartExpected0RTT || p.is(flagInitiator) || p.state == StatePending {
		return
	}
	psn := p.rx.MaxRcvd() + 1
	moved := uint64(uint32(psn - p.tx.start))
	e, known := s.expected.at(p.peer, p.local, p.peerID)
	switch {
	case known:
		moved = uint64(e.moved) + uint64(uint32(psn-e.psn))
	case s.p.c.FreshKey:
		moved += uint64(max(uint32(p.tx.start), s.expected.floor))
		s.expected.floor = max(s.expected.floor, e.moved)
	}
	*e = expectedStart{src: p.peer, dst: p.local, id: p.peerID, psn: psn, moved: uint32(min(moved, psnEnd))}
}

// expects takes note of a closing ACK with an Expected_PSN, for the next PDC with the PDCID of
// p. The target may have learnt the Expected_PSN from other members of the secure domain, so maybe
// later than the next PSN here.
func (p *PDC) expects(b []byte) {
	var a pds.AckExpected
	if _, err := a.Decode(b); err != nil || p.state != StateCloseAckWait {
		return
	}
	if d := a.Expected.Diff(p.tx.Next()); d >= 0 && d < 1<<30 {
		p.flags |= flagExpected
		p.closePSN = a.Expected
	}
}

// admitStart judges the Start_PSN of a new target PDC, and has the PDC wait for a new Start_PSN if
// need be. An initiator with a Start_PSN asked for here may be asked for that again, once p has waited
// in vain, and then come here again: the new Start_PSN is later than needed, and a different one each
// time, or late packets would open the PDC at a Start_PSN that the initiator has left.
func (s *starts) admitStart(now int64, p *PDC, b *inbound, shown bool) {
	start := pds.PSN(s.random())
	if s.p.c.Start == StartExpected0RTT {
		e, known := s.expected.at(b.src, b.dst, b.spdcid)
		floor := s.expected.floor
		switch {
		case known && e.moved >= psnSpent: // any PSN may have been there
		case known && b.start.Diff(e.psn) >= 0:
			return
		case known:
			start = e.psn
		case !s.p.c.FreshKey: // later than the refused Start_PSN, not to be taken when repeated
			start = b.start
		case floor >= psnSpent:
		case uint32(b.start) >= floor && uint32(b.start) < psnEnd:
			return
		default:
			start = pds.PSN(floor)
		}
		if shown {
			start += startApart + pds.PSN(s.random()%startSpread)
		}
	}
	if d := start.Diff(b.start); d > -startApart && d < startApart {
		start = b.start + startApart
	}
	p.rx.Init(start)
	p.tx.Init(s.p, s.mem, p.slot(), start)
	p.state = StatePending
	p.giveUpIn(now, s.p.c.NewPDCTime)
	s.timer.schedule(p, now)
}

// startApart is the distance between the Start_PSNs of a PDCID while earlier packets may still
// come: packets of a PDC asked to start elsewhere are refused, and such a refusal must not name a
// packet sent since.
const startApart = 1 << 16

// startSpread is how far apart Start_PSNs may be that are asked for one after the other: far less
// than psnSpent leaves of a key.
const startSpread = 1 << 20

// startPeriod, a power of two as ns, is the time a Start_PSN is asked of a sender, and the least
// time the Start_PSN is taken: some two seconds, more than a round trip with retransmissions.
const startPeriod = 31

// noPDC stands in a NEW_START_PSN for the PDCID of the PDC still to come, since 0 is not allowed:
// an initiator learns the true PDCID from the first acknowledgement.
const noPDC = MaxPDCs

// startFor is the Start_PSN that proves the sender of a SYN packet to receive, in the present
// period or the given number of periods before. The Start_PSN is derived from a secret, so no
// state of the asked peer is kept. A later PDC between the same ends may have the same Start_PSN:
// no packet of the first is under way by then, or the quarantine would not be over. held is the PDC
// that has the sender's PDCID with another Start_PSN, 0: none. The Start_PSN is then good for as
// long as held lives: the sender obeys such a refusal once, and may lose the packets after.
func (s *starts) startFor(now int64, b *inbound, held Handle, before uint64) pds.PSN {
	period := uint64(now)>>startPeriod - before
	if held != 0 {
		period = 0
	}
	return pds.PSN(s.secret.Sum(b.src.Hi, b.src.Lo, b.dst.Hi, b.dst.Lo, uint64(b.spdcid), period, uint64(held)))
}

// shows reports whether a SYN packet has the Start_PSN asked of the sender.
func (s *starts) shows(now int64, b *inbound, held Handle) bool {
	return b.start == s.startFor(now, b, held, 0) || b.start == s.startFor(now, b, held, 1)
}

// vendorStart, the vendor_code of an INVALID_SYN, says that the payload is a Start_PSN that the target
// takes. Other makes end the PDC, as specified.
const vendorStart = 1

// refuseStart answers a SYN packet under the PDCID of a PDC with another Start_PSN, opened in the
// name of the sender by somebody else, or by the sender's former life. Who obeys has a PDC of which
// the target has taken nothing, see [recovery.restarts], and shows so by a Start_PSN asked for while
// p has the PDCID: p then gives way. Expected_PSNs leave no choice of Start_PSNs.
func (s *starts) refuseStart(now int64, p *PDC, b *inbound, out []byte) int {
	n := b.nack(pds.NackInvalidSYN)
	if n.SPDCID = p.handle.ID(); s.p.c.Start != StartExpected0RTT {
		n.Vendor, n.Payload = vendorStart, uint32(s.startFor(now, b, p.handle, 0))
	}
	return s.reply.putNACK(out, &n)
}

// succeeds reports whether a SYN packet has the Start_PSN for which p gives way.
func (s *starts) succeeds(now int64, b *inbound, p *PDC) bool {
	return p.tx.start != b.start && p.state != StatePending && s.p.c.Start != StartExpected0RTT && s.shows(now, b, p.handle)
}

// An askedStart remembers a sender asked to start at a new PSN. Packets sent before may come
// later, and must not open the PDC at the old PSN: the sender repeats all of them from the new
// PSN, and the PDC would refuse those with INVALID_SYN.
type askedStart struct {
	key   uint64
	until int64
}

// The memory of senders asked: a sender has askedWays places and takes the place that expires
// first; eight times as many senders as PDCIDs have room, up to askedMax. A flood displaces all,
// and is met by asking everybody.
const (
	askedWays = 4
	askedMax  = 4096
)

// askedOf returns the places of the sender of a SYN packet, and the sender's key there.
func (s *starts) askedOf(b *inbound) (places []askedStart, key uint64) {
	key = s.hasher.Sum(&table.Key{b.src.Hi, b.src.Lo, b.dst.Hi, b.dst.Lo, uint64(b.spdcid)})
	at := key & uint64(len(s.starts)/askedWays-1) * askedWays
	return s.starts[at : at+askedWays], key
}

// wasAsked reports whether the sender of a SYN packet was asked to start elsewhere a while ago.
func (s *starts) wasAsked(now int64, b *inbound) bool {
	places, key := s.askedOf(b)
	for i := range places {
		if a := &places[i]; a.key == key && now < a.until && a.until-now <= 1<<startPeriod {
			return true
		}
	}
	return false
}

// askStart answers a SYN packet whose sender has yet to show that it receives: the demanded start
// is written to out; the result is the length.
func (s *starts) askStart(now int64, b *inbound, out []byte) int {
	s.stats.Doubted++
	places, key := s.askedOf(b)
	to := &places[0]
	for i := range places {
		if a := &places[i]; a.key == key {
			to = a
			break
		} else if a.until < to.until {
			to = a
		}
	}
	*to = askedStart{key, deadline.After(now, 1<<startPeriod)}
	n := b.nack(pds.NackNewStartPSN)
	n.SPDCID, n.Payload = noPDC, uint32(s.startFor(now, b, 0, 0))
	return s.reply.putNACK(out, &n)
}

// startPSN draws a Start_PSN at least 2^16 away from the last PSN used with the
// same PDCID; where targets expect later PSNs, the Start_PSN is later, even for a target that has
// not seen the PDCs in between, with other targets. The first Start_PSN in a secure domain is from
// 2^16 to 2^30, leaving the key 2^30 PSNs for each PDCID.
func (s *starts) startPSN(h Handle) pds.PSN {
	old := &s.pdc[h.ID()]
	last := old.tx.Next()
	switch expected := s.p.c.Start == StartExpected0RTT; {
	case old.is(flagExpected):
		return s.startAfter(old.closePSN)
	case expected && last != 0:
		return s.startAfter(last)
	case expected:
		return startApart + pds.PSN(s.random()%(psnEnd/2-startApart))
	}
	for {
		psn := pds.PSN(s.random())
		if d := psn.Diff(last); d >= startApart || d <= -startApart {
			return psn
		}
	}
}

// startAfter draws a Start_PSN less than 2^8 after psn. Steps of 2^16, as between PDCs in the clear,
// would use up the PSNs of a key with 32,768 PDCs of a PDCID.
func (s *starts) startAfter(psn pds.PSN) pds.PSN { return psn + pds.PSN(s.random()>>56) }
