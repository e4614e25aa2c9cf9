// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"cmp"
	"math/bits"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/internal/karn"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/pds"
)

// rowLen is the number of packets in a row of send memory: one word of the bitmaps. chunkLen
// is the number of records handed out together.
const (
	rowLen   = 64
	chunkLen = 16
)

// A packet is the sender's record of a PSN until released, as far as needed by nearly every
// packet, see [chunk]. In a row of alike packets the record means nothing until the packet is
// sent: the row has all.
type packet struct {
	sentAt int64 // last transmission
	label
}

// A label is a packet without the time.
type label struct {
	size    uint16 // nominal, bytes
	entropy uint16 // of the last transmission
	kind    kind
	sends   karn.Copies
	rtos    uint8 // timeouts so far
	nacks   uint8 // resends caused by NACKs
}

// kind is a next_hdr, or a ctl_type with kindControl, and further header flags of a packet.
type kind uint8

const (
	kindMask    kind = 0x0f
	kindControl kind = 0x80 // a control packet: no congestion control, no event
	kindAR      kind = 0x40 // asks for an acknowledgement
	kindEOM     kind = 0x20 // the last packet of a message
	kindDue     kind = 0x10 // has been queued for retransmission: chunk.dueAt counts
)

func (k kind) control() bool     { return k&kindControl != 0 }
func (k kind) next() pds.NextHdr { return pds.NextHdr(k & kindMask) }
func (k kind) ctl() pds.CtlType  { return pds.CtlType(k & kindMask) }

// A row is the knowledge of 64 consecutive PSNs, bit i of each word being packet i's, and the
// places of the records: one cache line.
type row struct {
	released uint64 // the response, or word of none, has been handed up
	flight   uint64 // counted as in flight by congestion control
	queued   uint64 // waits for (re)transmission
	acked    uint64 // arrived at the target
	chunk    [rowLen / chunkLen]uint32
	handle   uint64 // of packet 0; later packets' handles count up from there; while size is not 0
	next     uint32 // next free row; in use, with high: see dueFrom
	size     uint16 // of every packet; 0: not alike
	kind     kind   // of every packet; while size is not 0
	high     uint8
}

// dueFrom returns a time before which no queued packet of r may go. It is kept in 40 bits, all that a line has left:
// nine minutes later it is taken for a time to come, which holds the packets back until r is the lowest row that waits.
func (r *row) dueFrom(now int64) int64 {
	from := int64(r.high)<<32 | int64(r.next)
	return now + (from-now)<<24>>24
}

// dueAt notes that a packet of r, queued, may go at a time; alone: no other packet goes earlier.
func (r *row) dueAt(now, at int64, alone bool) {
	if alone || at < r.dueFrom(now) {
		r.next, r.high = uint32(at), uint8(at>>32)
	}
}

// begin notes the first packet of a row, unless the packet is the last of a message: packets of the
// next message have other handles.
func (r *row) begin(i uint32, handle uint64, size uint16, k kind) {
	if k&kindEOM == 0 {
		r.handle, r.size, r.kind = handle-uint64(i), size, k
	}
}

// fits reports whether packet i is like the packets of the row, all alike.
//
//uetcc:hot inlines nobounds
func (r *row) fits(i uint32, handle uint64, size uint16, k kind) bool {
	return r.size == size && r.handle+uint64(i) == handle && r.kind == k
}

// A chunk is the records of 16 consecutive PSNs: four cache lines for each packet sent and
// acknowledged, and four for few packets. The content of a free chunk can be read until
// handed out again.
type chunk struct {
	packet [chunkLen]packet
	handle [chunkLen]uint64 // the submitter's, where the row's packets are not alike
	dueAt  [chunkLen]int64  // with kindDue; waiting for retransmission: not before; otherwise: timeout
}

// memory is the memory sized by [MemoryConfig]. Single writer, the manager's.
type memory struct {
	row   []row    // 0 is never handed out
	chunk []chunk  // likewise
	ring  []uint32 // by PDC and word of the PSN's offset: the rows
	bits  []uint64 // by PDC and word of the PSN: see far

	words, farWords uint32 // of ring and bits for a PDC, powers of two, less 1
	shift, farShift uint8  // the logarithms of the powers

	reserve int     // the most events caused by one packet: every packet queued fails, and a few about the PDC
	rtxAt   []int64 // by PDC, see sendWindow.rtxAt
	askAt   []int64 // by PDC, see recovery.clearMissing
	trip    []trip  // by PDC

	shortage []shortage // by PDC
	freeRow  uint32
	closing  int      // reserved for CLOSE_CMDs: no PDC is kept from ending by want of memory
	spare    int      // reserved, see keep
	kept     int      // chunks that the packet in hand has to leave free
	free     []uint32 // chunks, a stack: the last used is the next, as the lines may be near

	responses responseStore
	events    fifo.Queue[Event]
}

// lap is how many PSNs a ring tells of.
func (m *memory) lap() uint32 { return (m.words + 1) * rowLen }

// rowAt returns the place in the ring of slot for the row of an offset.
func (m *memory) rowAt(slot uint16, off uint32) *uint32 {
	return &m.ring[uint32(slot)<<m.shift|off/rowLen&m.words]
}

// A memoryConfig is a MemoryConfig, and what other settings say of the memory.
type memoryConfig struct {
	MemoryConfig
	pdcs        int  // PDCs sharing the memory, 1 to 65,535
	ranges      int  // Config.Range
	responseLen int  // of a long response, bytes
	bufferROD   bool // Config.BufferROD
}

const (
	maxChunks    = 1 << 24 // 2^28 packets
	maxResponses = 1 << 24
	maxEvents    = 1 << 24
)

// fill gives zero fields the defaults.
func (c *memoryConfig) fill() error {
	err := cmp.Or(
		fill("MemoryConfig.Chunks", &c.Chunks, max(min(c.pdcs, 1<<14), 2*((c.ranges+rowLen)/chunkLen+1)), maxChunks),
		fill("MemoryConfig.Responses", &c.Responses, min(max(c.pdcs, 4096), 1<<14), maxResponses),
		fill("MemoryConfig.Events", &c.Events, 1024, maxEvents),
		fill("MemoryConfig.LongResponses", &c.LongResponses, min(c.pdcs, 256), 65535),
		fill("MemoryConfig.Buffers", &c.Buffers, 2*defaultRange, 65535),
	)
	if !c.bufferROD {
		c.Buffers = 0
	}
	return err
}

// newMemory allocates. Errors wrap [ErrConfig] and name the field.
func newMemory(c memoryConfig) (*memory, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	closing := c.Chunks/16 + 1
	spare := c.Chunks/64 + 1
	chunks := c.Chunks + closing + 2*spare
	m := &memory{
		closing: closing, spare: spare, kept: closing + 2*spare,
		row:   slab.Make[row](chunks + 1), // every row in use has a chunk
		chunk: slab.Make[chunk](chunks + 1),
		rtxAt: slab.Make[int64](c.pdcs + 1),
		askAt: slab.Make[int64](c.pdcs + 1),
		trip:  slab.Make[trip](c.pdcs + 1),

		shortage: slab.Make[shortage](c.pdcs + 1),
	}
	ranges := max(c.ranges, defaultRange)
	room := ranges + rowLen
	m.shift, m.farShift = uint8(bits.Len32(uint32(room-1)/rowLen)), uint8(bits.Len32(uint32(ranges-1)/rowLen))
	m.words, m.farWords, m.reserve = 1<<m.shift-1, 1<<m.farShift-1, room+8
	m.ring, m.bits = slab.Make[uint32]((c.pdcs+1)<<m.shift), slab.Make[uint64]((c.pdcs+1)<<m.farShift)
	for i := len(m.row) - 1; i > 0; i-- {
		m.putRow(uint32(i))
	}
	m.free = slab.Make[uint32](chunks)[:0]
	for i := chunks; i > 0; i-- {
		m.putChunk(uint32(i))
	}
	m.responses.init(c.pdcs, c.Responses+c.Buffers, c.Buffers)
	if c.responseLen > ResponseMax {
		m.responses.long.init(c.LongResponses, c.responseLen)
	}
	m.events = fifo.Make[Event](c.Events + m.reserve)
	return m, nil
}

// takeRow returns an empty row.
func (m *memory) takeRow() uint32 {
	i := m.freeRow
	r := &m.row[i]
	m.freeRow = r.next
	*r = row{}
	return i
}

func (m *memory) putRow(i uint32) { m.row[i].next, m.freeRow = m.freeRow, i }

// freeChunks is the number of chunks free for any use.
func (m *memory) freeChunks() int { return max(len(m.free)-m.reserved(), 0) }

// reserved is how many chunks packets for no special use leave free.
func (m *memory) reserved() int { return m.closing + 2*m.spare }

// keep returns how many chunks packets like q leave free: requests for data some, and what brings data more. What the
// peer refuses until the peer's reads have got their data would keep that data back, and the reads here, for ever.
func (m *memory) keep(q *Packet) int {
	switch {
	case q.Next.IsResponse():
		return m.closing
	case q.Asks:
		return m.closing + m.spare
	}
	return m.reserved()
}

// has reports whether there is a chunk for packets of a kind.
func (m *memory) has(k kind) bool {
	n := len(m.free)
	return n > m.kept || k.control() && (n > m.closing+m.spare || k.ctl() == pds.CtlCloseCmd && n > 0)
}

// takeChunk returns a chunk; one must be free.
//
//uetcc:hot inlines
func (m *memory) takeChunk() uint32 {
	last := len(m.free) - 1
	i := m.free[last]
	m.free = m.free[:last]
	return i
}

//uetcc:hot inlines
func (m *memory) putChunk(i uint32) {
	n := len(m.free)
	m.free = m.free[:n+1] // within the capacity: the chunk came from here
	m.free[n] = i
}

// chunkOf returns the number of the chunk a packet at an offset is in, whose row is
// number i.
func (m *memory) chunkOf(i, offset uint32) uint32 { return m.row[i].chunk[offset%rowLen/chunkLen] }

// in returns the chunk of packet i of a row.
func (m *memory) in(r *row, i uint32) *chunk {
	return &m.chunk[r.chunk[i/chunkLen%(rowLen/chunkLen)]]
}

// record returns the record of packet i of a row.
func (m *memory) record(r *row, i uint32) *packet { return &m.in(r, i).packet[i%chunkLen] }

// handle returns the submitter's handle of packet i of a row.
//
//uetcc:hot inlines
func (m *memory) handle(r *row, i uint32) uint64 {
	if r.size != 0 {
		return r.handle + uint64(i)
	}
	h, _, _ := m.unlike(r, i)
	return h
}

// told is record and handle, calling nothing, so that callers may keep what they have in registers.
//
//uetcc:hot inlines
func (m *memory) told(r *row, i uint32) (pkt *packet, handle uint64) {
	c := m.in(r, i)
	if handle = r.handle + uint64(i); r.size == 0 {
		handle = c.handle[i%chunkLen]
	}
	return &c.packet[i%chunkLen], handle
}

// submitted returns packet i of a row as submitted. Once sent the record has the same.
//
//uetcc:hot
func (m *memory) submitted(r *row, i uint32) (handle uint64, size uint16, k kind) {
	if r.size != 0 {
		return r.handle + uint64(i), r.size, r.kind
	}
	return m.unlike(r, i)
}

// unlike is submitted where the row's packets are not alike.
//
//go:noinline
func (m *memory) unlike(r *row, i uint32) (handle uint64, size uint16, k kind) {
	c := m.in(r, i)
	pkt := &c.packet[i%chunkLen]
	return c.handle[i%chunkLen], pkt.size, pkt.kind &^ kindDue
}

// write begins the record of packet i of a row whose packets are not alike.
func (m *memory) write(r *row, i uint32, handle uint64, l label) {
	c := m.in(r, i)
	c.handle[i%chunkLen] = handle
	c.packet[i%chunkLen].label = l // sent before the times mean anything
}

// due returns the time of the next look at packet i of a row, sent before; rto is the time
// allowed for the first answer.
func (m *memory) due(rto int64, r *row, i uint32) int64 {
	c := m.in(r, i)
	if pkt := &c.packet[i%chunkLen]; pkt.kind&kindDue == 0 {
		return deadline.After(pkt.sentAt, rto)
	}
	return c.dueAt[i%chunkLen]
}

// postpone sets the due time of a packet queued now or before.
func (m *memory) postpone(r *row, i uint32, at int64) {
	c := m.in(r, i)
	c.packet[i%chunkLen].kind |= kindDue
	c.dueAt[i%chunkLen] = at
}

// weigh counts the packets of a row named by bits64, and the bytes.
func (m *memory) weigh(r *row, bits64 uint64) (packets int32, bytes int64) {
	packets = int32(bits.OnesCount64(bits64))
	if r.size != 0 {
		return packets, int64(packets) * int64(r.size)
	}
	for b := bits64; b != 0; b &= b - 1 {
		bytes += int64(m.record(r, uint32(bits.TrailingZeros64(b))).size)
	}
	return packets, bytes
}
