package fabric

import (
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// Bits of packet.flags.
const (
	flagCE     = 1 << iota // congestion experienced; on an answer: echo of it
	flagRTX                // sent again; on an answer: echo of it
	flagAckReq             // answer at once
	flagAnswer             // acknowledgement or refusal, not data
	flagNack               // refusal
	flagLast               // refusal: trimmed on the last hop
	flagCredit             // answer: carries credit only; with flagAckReq it asks for some
)

// An end is one of the two of a connection: twice the number of the connection, and one
// more for its source.
type end uint32

func source(conn uint32) end      { return end(conn<<1 | 1) }
func destination(conn uint32) end { return end(conn << 1) }

func (e end) conn() uint32 { return uint32(e >> 1) }

// A packet is what every hop needs of one: 16 bytes, so that the packets of a
// large fabric stay in the cache. The rest is in detail.
type packet struct {
	to    end
	at    uint32 // port of a switch that it leaves by next; below net.hosts: the host it is for
	size  uint16
	ev    uint16
	dscp  switchq.DSCP
	flags uint8
}

// A detail is what only the ends need of a packet.
type detail struct {
	psn  uint32 // of the data; of an answer: of the data that caused it
	cack uint32 // answer: next expected PSN
	sack uint64 // answer: bit i says that PSN base+i has arrived
	base uint32
	rcvd uint32 // answer: rcvd_bytes
	at   int64  // answer: when the data that caused it was taken in, ps; data behind a memory: when it arrived

	service nscc.ServiceTime // acknowledgement: how long it was kept
	pend    uint8            // acknowledgement: rcv_cwnd_pend
	restore bool             // acknowledgement: the window may come back
	credit  rccc.Quanta      // credit; of data and requests: credit target
}

// A pool holds all packets under way, by index.
type pool struct {
	pkts    []packet
	details []detail
	freed   []uint32
}

func (p *pool) get() uint32 {
	if n := len(p.freed); n > 0 {
		i := p.freed[n-1]
		p.freed = p.freed[:n-1]
		return i
	}
	p.pkts = append(p.pkts, packet{})
	p.details = append(p.details, detail{})
	return uint32(len(p.pkts) - 1)
}

func (p *pool) put(i uint32) { p.freed = append(p.freed, i) }

// live is how many packets are under way.
func (p *pool) live() int { return len(p.pkts) - len(p.freed) }

// A fifo is a ring of indices that doubles when full.
type fifo struct {
	buf  []uint32 // length a power of two, or 0
	head uint32
	n    uint32
}

func (f *fifo) push(v uint32) {
	if int(f.n) == len(f.buf) {
		buf := make([]uint32, max(4, 2*len(f.buf)))
		for i := range f.n {
			buf[i] = f.buf[(f.head+i)&uint32(len(f.buf)-1)]
		}
		f.buf, f.head = buf, 0
	}
	f.buf[(f.head+f.n)&uint32(len(f.buf)-1)] = v
	f.n++
}

// first is the oldest; the fifo must not be empty.
func (f *fifo) first() uint32 { return f.buf[f.head&uint32(len(f.buf)-1)] }

// pop takes the oldest; the fifo must not be empty.
func (f *fifo) pop() uint32 {
	v := f.buf[f.head&uint32(len(f.buf)-1)]
	f.head++
	f.n--
	return v
}
