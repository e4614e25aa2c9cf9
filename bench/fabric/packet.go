// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/nscc"
)

// Bits of packet.flags.
const (
	flagCE     = 1 << iota // congestion experienced; on an answer: echo of it
	flagRTX                // sent again; on an answer: echo of it
	flagAckReq             // answer at once; on an answer: sack begins at psn
	flagAnswer             // acknowledgement or refusal, not data
	flagNack               // refusal
	flagLast               // refusal: trimmed on the last hop; acknowledgement: of no data
	flagCredit             // answer: carries credit only; with flagAckReq it asks for some
	flagSYN                // nothing has been heard of the destination yet
)

// flagProbe is the flags of a packet that only asks for an acknowledgement.
const flagProbe = flagAnswer | flagCredit | flagNack

func (p *packet) isProbe() bool { return p.flags&flagProbe == flagProbe }

// answersProbe and answersRequest report what an acknowledgement of no data is of.
func (p *packet) answersProbe() bool {
	return p.flags&(flagNack|flagLast|flagAckReq) == flagLast
}

func (p *packet) answersRequest() bool {
	return p.flags&(flagNack|flagLast|flagAckReq) == flagLast|flagAckReq
}

// An end is an end of a connection: twice the number of the connection, and 1 more for the
// source.
type end uint32

func source(conn uint32) end      { return end(conn<<1 | 1) }
func destination(conn uint32) end { return end(conn << 1) }

func (e end) conn() uint32 { return uint32(e >> 1) }

func (e end) isSource() bool { return e&1 != 0 }

// A packet is the part needed at every hop: 16 bytes, so that the packets of a
// large fabric stay in the cache. The rest is in detail.
type packet struct {
	to end
	// port of the next switch; below net.hosts: the destination host; while waiting in a
	// nic: the packet behind
	at    uint32
	size  uint16
	ev    uint16
	dscp  switchq.DSCP
	flags uint8
}

// A detail is the part of a packet needed only at the ends; 32 bytes.
type detail struct {
	psn   uint32 // of the data; of an answer: of the data that caused it
	cack  uint32 // answer: next expected PSN; data: that of the last answer
	sack  uint64 // answer: bit i says that PSN base+i has arrived
	at    int64  // answer: when the data that caused it was taken in, ps; data behind a memory: when it arrived
	units uint32 // answer: rcvd_bytes; other control: credit; data and requests: credit target

	service nscc.ServiceTime // acknowledgement: how long it was kept
	pend    uint8            // acknowledgement: rcv_cwnd_pend
	restore bool             // acknowledgement: the window may come back
}

// sackBase is the PSN of bit 0 of an answer's sack: the PSN behind cack, unless the bits would
// not reach psn. With flagAckReq the bits begin at psn.
func (d *detail) sackBase(flags uint8) uint32 {
	base, first := d.cack+1, d.psn-63
	if flags&flagAckReq != 0 {
		first = d.psn
	}
	if int32(first-base) > 0 {
		return first
	}
	return base
}

// sackMask has the bits of an answer's sack that tell anything: all, except with flagAckReq the bits
// beyond psn+63, and those beyond the destination's ring.
func (d *detail) sackMask(flags uint8, ring uint32) uint64 {
	if flags&flagAckReq == 0 {
		return ^uint64(0)
	}
	base := d.sackBase(flags)
	n := max(min(int32(d.psn+64-base), int32(d.cack+ring+1-base)), 0)
	return 1<<n - 1
}

// A pool holds all packets under way, by index.
type pool struct {
	pkts    []packet
	details []detail
	numbers []uint64 // of packets as Config.Watch knows them; nil without
	freed   []uint32
}

// reserve makes room for n packets; more may come.
func (p *pool) reserve(n int) {
	p.pkts, p.details = slab.Make[packet](n)[:0], slab.Make[detail](n)[:0]
}

func (p *pool) get() uint32 {
	if n := len(p.freed); n > 0 {
		i := p.freed[n-1]
		p.freed = p.freed[:n-1]
		return i
	}
	p.pkts = append(grown(p.pkts), packet{})
	p.details = append(grown(p.details), detail{})
	return uint32(len(p.pkts) - 1)
}

// grown is s with room for another element; as append, but large arrays are on huge pages.
func grown[T any](s []T) []T {
	if len(s) < cap(s) {
		return s
	}
	more := slab.Make[T](max(2*len(s), 16))
	return more[:copy(more, s)]
}

func (p *pool) put(i uint32) { p.freed = append(p.freed, i) }

// live is how many packets are under way.
func (p *pool) live() int { return len(p.pkts) - len(p.freed) }

// A list is a queue of packets or connections; with the link in each element.
type list struct{ first, last, n uint32 }

// add puts v at the end; after is the link in the last element.
func (l *list) add(v uint32, after *uint32) {
	if l.n == 0 {
		l.first = v
	} else {
		*after = v
	}
	l.last = v
	l.n++
}

// take takes the first, whose note is after; the list must not be empty.
func (l *list) take(after uint32) {
	l.first = after
	l.n--
}
