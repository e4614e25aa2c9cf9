// SPDX-License-Identifier: Apache-2.0

package faultnet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uetcc/uetcc/internal/agenda"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/pds/tss"
)

// Plan holds the rates of faults. Probabilities are for each packet sent, times
// ns.
type Plan struct {
	Secured bool // nobody opens PDCs in others' names, as with TSS

	Loss                            [NumClasses]float64
	Duplicate, LongDelay, Overtaken float64
	Corrupt, Mangle, Trim, Mark     float64
	Replay, ReplayLate, Forge       float64
	Blackhole, Partition            float64
	Delay                           int64 // shortest
	Jitter                          int64 // on top, uniform
	Tail                            int64 // on top of a long delay, uniform
	Dark                            int64 // longest blackhole or partition
	MangleAmong                     int   // so many places are mangled among each other, and no others; 0: all
}

// Life is the longest time a packet stays in the network.
func (p *Plan) Life() int64 { return p.Delay + 3*p.Jitter + p.Tail }

// Packet is a packet between two places. Head is the part looked at, from the
// PDS header on; Len the whole length with the untouched payload.
type Packet struct {
	From, To int
	Head     []byte
	Len      int
	Size     int64 // nominal, bytes
	CE       bool
	Trim     pds.NackCode
	Class    Class
	Fabled   bool // not from the place that it names: forged, or mangled
	sent     int64
}

// history is how many packets are remembered for replays.
const history = 256

// Net is the network. Places are 0 to the number given to [New], less one.
type Net struct {
	Plan   Plan
	Counts Counts
	Now    int64
	Sent   uint64 // packets that the places sent
	Rand   *rand.Rand

	places   int
	healed   bool
	queue    agenda.Agenda[int32] // slots of the slab
	slab     []Packet
	free     []int32
	seen     [history]Packet
	seenNext int
	dark     []int64 // from place x place: dark until
	scratch  [256]byte
	begun    [1024]uint64 // PDCIDs under which a PDC has been opened in the name of their owner
	hash     uint64
	domain   *tss.Domain
}

// New returns an empty network of n places.
func New(n int, seed uint64, p Plan) *Net {
	return &Net{
		Plan: p, Rand: rand.New(rand.NewPCG(seed, 0x6661756c74)), places: n, dark: make([]int64, n*n),
		hash: 0xcbf29ce484222325, domain: newDomain(),
	}
}

// Heal ends all faults. Packets under way stay so.
func (n *Net) Heal() {
	n.healed = true
	clear(n.dark)
}

// Healed reports whether [Net.Heal] was called.
func (n *Net) Healed() bool { return n.healed }

// Chance reports true with probability p.
func (n *Net) Chance(p float64) bool { return p > 0 && n.Rand.Float64() < p }

// hit is a fault with probability p, counted.
func (n *Net) hit(f Fault, p float64) bool {
	if n.healed || !n.Chance(p) {
		return false
	}
	n.Counts[f]++
	return true
}

// Hash sums up all packets sent and all notes of [Net.Note].
func (n *Net) Hash() uint64 { return n.hash }

// Note makes x part of the hash.
func (n *Net) Note(x uint64) {
	n.hash = (n.hash ^ x) * 0x100000001b3
	n.hash ^= n.hash >> 29
}

// Len returns how many packets are on their way.
func (n *Net) Len() int { return n.queue.Len() }

// Next is when the next packet arrives.
func (n *Net) Next() int64 {
	if at, ok := n.queue.Next(); ok {
		return at
	}
	return math.MaxInt64
}

// Take returns the packet to arrive next, if due. The packet is valid until the
// next call of a method.
func (n *Net) Take() (*Packet, bool) {
	if n.Next() > n.Now {
		return nil, false
	}
	_, slot := n.queue.Pop()
	n.free = append(n.free, slot)
	return &n.slab[slot], true
}

// Send takes a packet of a place. p is copied.
func (n *Net) Send(p *Packet) {
	n.Sent++
	p.Class, p.sent = classify(p.Head), n.Now
	n.Note(uint64(n.Now) ^ uint64(p.From)<<56 ^ uint64(len(p.Head))<<48)
	for _, b := range p.Head {
		n.hash = (n.hash ^ uint64(b)) * 0x100000001b3
	}
	if !n.healed {
		n.breakLinks(p)
		n.again()
		n.forge(p)
	}
	n.remember(p)
	if n.lost(p) {
		return
	}
	copies := 1
	if n.hit(Duplicate, n.Plan.Duplicate) {
		copies += 1 + n.Rand.IntN(3)
	}
	for range copies {
		n.carry(p)
	}
}

// lost decides whether p gets anywhere.
func (n *Net) lost(p *Packet) bool {
	if p.To >= n.places || p.To < 0 {
		return true
	}
	if n.dark[p.From%n.places*n.places+p.To] > n.Now {
		return true
	}
	if n.hit(LoseData+Fault(p.Class), n.Plan.Loss[p.Class]) {
		return true
	}
	if n.hit(Corrupt, n.Plan.Corrupt) {
		if n.Sent%2 == 0 {
			n.checkSeal(p)
		} else {
			n.checkCRC(p)
		}
		return true
	}
	return false
}

// checkCRC flips a byte and makes sure the CRC shows the flip.
func (n *Net) checkCRC(p *Packet) {
	b := binary.BigEndian.AppendUint32(append(n.scratch[:0], p.Head...), pds.CRC(p.Head))
	b[n.Rand.IntN(len(b))] ^= byte(1 + n.Rand.IntN(255))
	if end := len(b) - pds.CRCLen; pds.CRC(b[:end]) == binary.BigEndian.Uint32(b[end:]) {
		panic(fmt.Sprintf("faultnet: CRC misses a flipped byte in %x", b))
	}
}

// checkSeal flips a byte of p as the transport security sublayer seals it, and makes sure that what
// opens, where the byte was one that routers may change, is what was sealed.
func (n *Net) checkSeal(p *Packet) {
	const ethernet, ip = 14, 24 // with the entropy header
	f := frame.Frame{Native: true, Src: [16]byte{10: 0xff, 0xff, 10, 15: 1}, Dst: [16]byte{10: 0xff, 0xff, 10, 15: 2}}
	b, err := f.Seal(n.scratch[:0], p.Head, nil, n.domain, 0)
	if err != nil {
		panic(fmt.Sprintf("faultnet: sealing %x: %v", p.Head, err))
	}
	b = b[ethernet:]
	b[n.Rand.IntN(len(b))] ^= byte(1 + n.Rand.IntN(255))
	var h pds.TSS
	if n.domain.Open(b, &h) == nil && !bytes.Equal(b[ip+h.Len():len(b)-pds.TSSTagLen], p.Head) {
		panic(fmt.Sprintf("faultnet: %x opens as %x", p.Head, b))
	}
}

// newDomain is a secure domain with one member, that opens what it has sealed.
func newDomain() *tss.Domain {
	d, err := tss.New(tss.Config{SDI: 9})
	if err == nil {
		err = d.Load(0, tss.Key{Secret: [32]byte{1}})
	}
	if err = cmp.Or(err, d.Use(0)); err != nil {
		panic(err)
	}
	return d
}

// breakLinks lets a direction or a place go dark with p.
func (n *Net) breakLinks(p *Packet) {
	if p.To >= n.places {
		return
	}
	if n.hit(Blackhole, n.Plan.Blackhole) {
		n.dark[p.From*n.places+p.To] = n.Now + 1 + n.Rand.Int64N(n.Plan.Dark)
	}
	if n.hit(Partition, n.Plan.Partition) {
		until := n.Now + 1 + n.Rand.Int64N(n.Plan.Dark)
		for i := range n.places {
			n.dark[p.From*n.places+i], n.dark[i*n.places+p.From] = until, until
		}
	}
}

// carry puts a copy of p on the way.
func (n *Net) carry(p *Packet) {
	d := n.Plan.Delay + n.Rand.Int64N(n.Plan.Jitter+1)
	if n.hit(LongDelay, n.Plan.LongDelay) {
		d += n.Rand.Int64N(n.Plan.Tail + 1)
	}
	if n.hit(Overtaken, n.Plan.Overtaken) {
		d += 2 * n.Plan.Jitter
	}
	q := n.place(p, n.Now+d)
	if n.mangled(p) && n.hit(Mangle, n.Plan.Mangle) {
		q.Head[n.Rand.IntN(len(q.Head))] ^= byte(1 + n.Rand.IntN(255))
		q.Fabled = true
	}
	if p.Class == ACKData && n.hit(TrimACK, n.Plan.Trim) {
		q.Trim = pds.NackTrimmed
	}
	if p.Class <= SYN {
		if n.hit(Mark, n.Plan.Mark) {
			q.CE = true
		}
		if n.hit(TrimData+Fault(p.Class), n.Plan.Trim) {
			q.Trim = pds.NackTrimmed + pds.NackCode(n.Rand.IntN(2))
		}
	}
}

// mangled reports whether p may be.
func (n *Net) mangled(p *Packet) bool {
	among := n.Plan.MangleAmong
	return among == 0 || p.From < among && p.To < among
}

// place copies p into a slot and queues it.
func (n *Net) place(p *Packet, at int64) *Packet {
	var slot int32
	if k := len(n.free); k > 0 {
		slot = n.free[k-1]
		n.free = n.free[:k-1]
	} else {
		slot = int32(len(n.slab))
		n.slab = append(n.slab, Packet{})
	}
	q := &n.slab[slot]
	q.copy(p)
	n.queue.Push(at, slot)
	return q
}

// copy makes q equal p, with separate bytes.
func (q *Packet) copy(p *Packet) {
	b := append(q.Head[:0], p.Head...)
	*q = *p
	q.Head = b
}

// remember keeps p for a replay.
func (n *Net) remember(p *Packet) {
	n.seen[n.seenNext%history].copy(p)
	n.seenNext++
}

// again replays a packet from the past.
func (n *Net) again() {
	if n.seenNext == 0 || !n.Chance(n.Plan.Replay+n.Plan.ReplayLate) {
		return
	}
	p := &n.seen[n.Rand.IntN(min(n.seenNext, history))]
	if p.To >= n.places {
		return
	}
	if n.Now-p.sent < n.Plan.Life()-n.Plan.Jitter-n.Plan.Delay {
		n.Counts[Replay]++
	} else if n.Plan.ReplayLate > 0 {
		n.Counts[ReplayLate]++
	} else {
		return
	}
	n.place(p, n.Now+n.Plan.Delay+n.Rand.Int64N(n.Plan.Jitter+1))
}

// Inject sends a packet made by a forger or a liar: the packet meets no fault,
// and the place of origin is the claimed place.
func (n *Net) Inject(f Fault, from, to int, head []byte) {
	if to < 0 || to >= n.places {
		return
	}
	n.Counts[f]++
	p := Packet{From: from, To: to, Head: head, Len: len(head), Size: 64, Fabled: true, sent: n.Now}
	p.Class = classify(head)
	n.Note(uint64(n.Now) ^ uint64(f)<<40)
	n.place(&p, n.Now+n.Plan.Delay+n.Rand.Int64N(n.Plan.Jitter+1))
}
