package pdc

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/internal/siphash"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

// A StartMethod says which Start_PSN a target takes from an initiator that opens a PDC,
// against packets of an earlier one that somebody repeats. Where it takes another one
// only, the first data costs a round trip more.
//
// By itself, with each of them, a target begins to ask for another one when PDCs of peers that
// have not shown that they receive what is sent to them hold a fifth of the PDCIDs that these
// and new ones could have. As with the cookies of TCP and the Retry of QUIC, it keeps nothing of whoever it
// asks. So a flood of SYN packets with false sources takes no PDCID that an honest peer needs.
//
// Source: UE Specification 1.0.x section 3.5, PDCs that TSS secures.
type StartMethod uint8

const (
	// StartAny: the one that the initiator has chosen.
	StartAny StartMethod = iota

	// StartRandom1RTT (RANDOM_1RTT_START): one that this side draws.
	StartRandom1RTT

	// StartExpected0RTT (EXPECTED_0RTT_START): the initiator's own, if it is at or after
	// the Expected_PSN, the one that follows the last that came on a PDC with the same
	// address and PDCID of the initiator. From others as StartRandom1RTT, unless
	// [Config.FreshKey]. As an initiator, a manager with this method counts on from the last
	// PSN of a PDCID.
	StartExpected0RTT
)

var startNames = [...]string{"ANY", "RANDOM_1RTT_START", "EXPECTED_0RTT_START"}

// String returns the specification's name.
func (s StartMethod) String() string { return enum.Name(startNames[:], s) }

// An expectedStart is the Expected_PSN for one PDCID of one initiator. Initiators that hash to
// the same place displace each other; one that was displaced is treated like a new one.
type expectedStart struct {
	src, dst Addr
	psn      pds.PSN
	id       pds.PDCID // 0: none
	moved    uint32    // how far psn has come, from the first Start_PSN on, with FreshKey from 0 on
}

// psnSpent is how far an Expected_PSN may come under one key. Half of all PSNs are before any other,
// so from 2^31 on packets that opened the first PDCs would be in order again.
const psnSpent = psnEnd - 1<<24

// expectedStarts are as many as there are PDCIDs, or more.
type expectedStarts struct {
	slot   []expectedStart
	hasher table.Hasher

	// floor, with FreshKey, is the Expected_PSN of the secure domain, which holds for initiators
	// without a place. One that is displaced raises it, so that nothing that came from there opens
	// a PDC again. PSNs of these are compared as numbers below 2^31.
	floor uint32
}

func newExpectedStarts(ids int, h table.Hasher) expectedStarts {
	return expectedStarts{slot: slab.Make[expectedStart](ringSize(ids)), hasher: h}
}

// starts draw and judge Start_PSNs, and so tell who has shown that an address is his.
type starts struct {
	p     *Params
	mem   *memory
	pdc   []PDC
	stats *Stats
	reply *answers
	timer *timers

	draw     *rand.ChaCha8 // peers see what it gives: that must not tell what it gives others
	secret   siphash.Key   // of what peers see and strangers must not guess
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
		draw: draw, secret: siphash.Key{secret.Uint64(), secret.Uint64()}, hasher: hasher, starts: newAskedStarts(ids),
	}
	if m.p.c.Start == StartExpected0RTT {
		s.expected = newExpectedStarts(ids, hasher)
	}
}

func (s *starts) random() uint64 { return s.draw.Uint64() }

// at returns the place for PDCs with PDCID id of an initiator, and whether the place is that
// initiator's.
func (s *expectedStarts) at(src, dst Addr, id pds.PDCID) (e *expectedStart, known bool) {
	k := table.Key{src.Hi, src.Lo, dst.Hi, dst.Lo, uint64(id)}
	e = &s.slot[s.hasher.Sum(&k)&uint64(len(s.slot)-1)]
	return e, e.id == id && e.src == src && e.dst == dst
}

// remember keeps what a target PDC has come to, however it ends: the Expected_PSN, which is one
// after its last. The initiator, which counts on from there, is told by the closing ACK.
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
// p. The target may have it from others of its secure domain, so it may be later than what
// comes next here.
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

// admitStart judges the Start_PSN of a new target PDC, and has it wait for another one if
// need be.
func (s *starts) admitStart(now int64, p *PDC, b *inbound) {
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
		case !s.p.c.FreshKey: // later than what is refused, which is not to be taken when it comes again
			start = b.start
		case floor >= psnSpent:
		case uint32(b.start) >= floor && uint32(b.start) < psnEnd:
			return
		default:
			start = pds.PSN(floor)
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

// startApart is how far the Start_PSNs of one PDCID lie apart where packets from before may still
// come: those of a PDC that was asked to start elsewhere are refused, and such a refusal must
// not name what has been sent since.
const startApart = 1 << 16

// startPeriod, a power of two as ns, is how long a Start_PSN is asked of one sender, and at
// least how long it is taken: some two seconds, more than a round trip and packets sent again.
const startPeriod = 31

// noPDC stands in a NEW_START_PSN for the PDCID of the PDC that there is not yet, since 0 may not:
// an initiator learns that PDCID from the first acknowledgement.
const noPDC = MaxPDCs

// startFor is the Start_PSN that the sender of a SYN packet has to show that it receives what is
// sent to it, in this period or so many before. It follows from a secret, so nothing has to be
// kept of whoever is asked for it. A later PDC between the same ends may have the same: nothing
// of the first is under way by then, or its quarantine would not be over.
func (s *starts) startFor(now int64, b *inbound, before uint64) pds.PSN {
	period := uint64(now)>>startPeriod - before
	return pds.PSN(s.secret.Sum(b.src.Hi, b.src.Lo, b.dst.Hi, b.dst.Lo, uint64(b.spdcid), period))
}

// shows reports whether a SYN packet has the Start_PSN that its sender was asked for.
func (s *starts) shows(now int64, b *inbound) bool {
	return b.start == s.startFor(now, b, 0) || b.start == s.startFor(now, b, 1)
}

// An askedStart remembers a sender that was asked to start at another PSN. Packets that it has sent
// before may come later, and must not open the PDC where it began: it sends all of them again, and
// the PDC would refuse them with INVALID_SYN.
type askedStart struct {
	key   uint64
	until int64
}

// The memory of senders that were asked: a sender has askedWays places, of which it takes the one
// whose time is over first, and eight times as many senders as there are PDCIDs have room, up to
// askedMax. A flood displaces all, and is met by asking everybody.
const (
	askedWays = 4
	askedMax  = 4096
)

func newAskedStarts(ids int) []askedStart {
	return slab.Make[askedStart](min(ringSize(8*ids), askedMax))
}

// askedOf returns the places of the sender of a SYN packet, and what stands there for it.
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

// askStart answers a SYN packet whose sender has yet to show that it receives: it writes where to
// start to out and returns how long that is.
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
	n.SPDCID, n.Payload = noPDC, uint32(s.startFor(now, b, 0))
	return s.reply.putNACK(out, &n)
}

// startPSN draws a Start_PSN at least 2^16 away from the last PSN that was used with the
// same PDCID; where targets expect it to be later, it is, also for one that has not seen
// the PDCs in between, with other targets. The first one in a secure domain is from
// 2^16 to 2^30, which leaves its key 2^30 PSNs for each PDCID.
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
// would use up the PSNs of a key with 32,768 PDCs of one PDCID.
func (s *starts) startAfter(psn pds.PSN) pds.PSN { return psn + pds.PSN(s.random()>>56) }
