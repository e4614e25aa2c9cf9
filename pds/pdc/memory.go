package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/pds"
)

// rowLen is how many packets a row of send memory tells of: those of one word of the
// bitmaps. chunkLen is how many records are handed out together.
const (
	rowLen   = 64
	chunkLen = 16
)

// A packet is what the sender keeps of one PSN until it is released.
type packet struct {
	handle uint64 // the submitter's
	sentAt int64  // last transmission
	dueAt  int64  // waiting for retransmission: not before; otherwise: timeout
	label
}

// A label is what packets that are submitted together have in common at first.
type label struct {
	size    uint16 // nominal, bytes
	entropy uint16 // of the last transmission
	kind    kind
	sends   uint8 // transmissions: 0, 1, 2, or 3 for more
	rtos    uint8 // timeouts so far
	nacks   uint8 // resends that NACKs have caused
}

// kind is a next_hdr, or a ctl_type with kindControl, and what else the header
// of a packet says.
type kind uint8

const (
	kindMask    kind = 0x0f
	kindControl kind = 0x80 // a control packet: no congestion control, no event
	kindAR      kind = 0x40 // asks for an acknowledgement
	kindEOM     kind = 0x20 // the last packet of its message
)

func (k kind) control() bool     { return k&kindControl != 0 }
func (k kind) next() pds.NextHdr { return pds.NextHdr(k & kindMask) }
func (k kind) ctl() pds.CtlType  { return pds.CtlType(k & kindMask) }

// A row is what is known of 64 consecutive PSNs, bit i of a word of packet i, and
// where their records are: one cache line.
type row struct {
	released uint64 // its response, or word that there is none, has been given up
	flight   uint64 // congestion control counts it as in flight
	queued   uint64 // waits for (re)transmission
	acked    uint64 // the target has it
	chunk    [rowLen / chunkLen]uint32
	handle   uint64 // while all have that size: of packet 0, from which the others' count up
	next     uint32 // next free row
	size     uint16 // that all packets have; 0: they are not alike
	kind     kind   // likewise, under kindMask
	_        [1]byte
}

// begin notes the first packet of a row, extend another one.
func (r *row) begin(i uint32, handle uint64, size uint16, k kind) {
	r.handle, r.size, r.kind = handle-uint64(i), size, k&kindMask
}

func (r *row) extend(i uint32, handle uint64, size uint16, k kind) {
	if r.size != size || r.handle+uint64(i) != handle || r.kind != k&kindMask {
		r.size = 0
	}
}

// A chunk is the records of 16 consecutive PSNs. A free one has the next of its list
// in the last record's dueAt, whose cache line is near when base has passed it; the rest
// of what it says can be read until it is handed out again.
type chunk [chunkLen]packet

// Memory is what the PDCs of one [Manager] share: records of packets sent,
// stored responses, and the events for the layer above. It is allocated once.
//
// Single writer, the manager's.
type Memory struct {
	row       []row               // 0 is never handed out
	chunk     []chunk             // likewise
	ring      [][ringWords]uint32 // by PDC: its rows, by word of the PSN's offset
	freeRow   uint32
	freeChunk uint32
	freeCount int // chunks

	responses responseStore
	events    eventRing
}

// MemoryConfig sizes a [Memory].
type MemoryConfig struct {
	PDCs      int // PDCs that share it, 1 to 65,535
	Chunks    int // records of sent packets in units of 16; 0 means 16 for each PDC, at most 262,144
	Responses int // stored responses besides the one that each PDC has to itself; 0 means 4 for each PDC
	Events    int // room for events beyond those of one packet; 0 means 1024

	// Where Config.MaxAckData is more than its default, LongResponses of the stored
	// responses may be longer than [ResponseMax], up to 65,535 (default: one for each
	// PDC, at most 256), of at most ResponseLen bytes, which is filled in.
	LongResponses, ResponseLen int
}

// NewMemory allocates.
func NewMemory(c MemoryConfig) *Memory {
	if c.Chunks == 0 {
		c.Chunks = min(16*c.PDCs, 1<<18)
	}
	if c.Responses == 0 {
		c.Responses = 4 * c.PDCs
	}
	if c.Events == 0 {
		c.Events = 1024
	}
	// A row has a chunk, but for one of each PDC.
	m := &Memory{row: slab.Make[row](c.Chunks + c.PDCs + 1), chunk: slab.Make[chunk](c.Chunks + 1), ring: slab.Make[[ringWords]uint32](c.PDCs + 1)}
	for i := len(m.row) - 1; i > 0; i-- {
		m.putRow(uint32(i))
	}
	for i := c.Chunks; i > 0; i-- {
		m.putChunk(uint32(i))
	}
	m.responses.init(c.PDCs, c.Responses)
	if c.ResponseLen > ResponseMax {
		m.responses.long.init(c.LongResponses, c.ResponseLen)
	}
	m.events.init(c.Events + eventReserve)
	return m
}

// takeRow returns a row of which nothing is known.
func (m *Memory) takeRow() uint32 {
	i := m.freeRow
	r := &m.row[i]
	m.freeRow = r.next
	*r = row{}
	return i
}

func (m *Memory) putRow(i uint32) { m.row[i].next, m.freeRow = m.freeRow, i }

// takeChunk returns a chunk, or 0 if there is none.
func (m *Memory) takeChunk() uint32 {
	i := m.freeChunk
	if i != 0 {
		m.freeChunk = uint32(m.chunk[i][chunkLen-1].dueAt)
		m.freeCount--
	}
	return i
}

func (m *Memory) putChunk(i uint32) {
	m.chunk[i][chunkLen-1].dueAt = int64(m.freeChunk)
	m.freeChunk = i
	m.freeCount++
}

// record returns that of packet i of a row.
func (m *Memory) record(r *row, i uint32) *packet {
	return &m.chunk[r.chunk[i/chunkLen%(rowLen/chunkLen)]][i%chunkLen]
}

// weigh counts the packets of a row that bits64 names, and their bytes.
func (m *Memory) weigh(r *row, bits64 uint64) (packets int32, bytes int64) {
	packets = int32(bits.OnesCount64(bits64))
	if r.size != 0 {
		return packets, int64(packets) * int64(r.size)
	}
	for b := bits64; b != 0; b &= b - 1 {
		bytes += int64(m.record(r, uint32(bits.TrailingZeros64(b))).size)
	}
	return packets, bytes
}

// FreeChunks returns how many chunks of 16 packets are free.
func (m *Memory) FreeChunks() int { return m.freeCount }
