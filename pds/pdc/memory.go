package pdc

import "github.com/uetcc/uetcc/pds"

// chunkLen is how many packets a chunk of send memory holds: those of one word
// of the bitmaps.
const chunkLen = 64

// A packet is what the sender keeps of one PSN until it is released.
type packet struct {
	handle  uint64 // the submitter's
	sentAt  int64  // last transmission
	dueAt   int64  // waiting for retransmission: not before; otherwise: timeout
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

// A chunk holds the packets of 64 consecutive PSNs; bit i of a word is packet i.
type chunk struct {
	released uint64 // its response, or word that there is none, has been given up
	flight   uint64 // congestion control counts it as in flight
	queued   uint64 // waits for (re)transmission
	acked    uint64 // the target has it
	next     uint32 // next free chunk
	_        [3]uint64
	pkt      [chunkLen]packet
}

// Memory is what the PDCs of one [Manager] share: records of packets sent,
// stored responses, and the events for the layer above. It is allocated once.
//
// Single writer, the manager's.
type Memory struct {
	chunk     []chunk // 0 is never handed out
	freeChunk uint32
	freeCount int

	responses responseStore
	events    eventRing
}

// MemoryConfig sizes a [Memory].
type MemoryConfig struct {
	PDCs      int // PDCs that share it, 1 to 65,535
	Chunks    int // records of sent packets in units of 64, 1 to 65,535; 0 means 4 for each PDC, at most 65,535
	Responses int // stored responses besides the one that each PDC has to itself; 0 means 4 for each PDC
	Events    int // room for events beyond those of one packet; 0 means 1024
}

// NewMemory allocates.
func NewMemory(c MemoryConfig) *Memory {
	if c.Chunks == 0 {
		c.Chunks = min(4*c.PDCs, 65535)
	}
	if c.Responses == 0 {
		c.Responses = 4 * c.PDCs
	}
	if c.Events == 0 {
		c.Events = 1024
	}
	m := &Memory{chunk: make([]chunk, c.Chunks+1)}
	for i := c.Chunks; i > 0; i-- {
		m.putChunk(uint16(i))
	}
	m.responses.init(c.PDCs, c.Responses)
	m.events.init(c.Events + eventReserve)
	return m
}

// takeChunk returns a chunk with all words zero, or 0 if there is none.
func (m *Memory) takeChunk() uint16 {
	i := m.freeChunk
	if i == 0 {
		return 0
	}
	c := &m.chunk[i]
	m.freeChunk = c.next
	c.released, c.flight, c.queued, c.acked = 0, 0, 0, 0
	m.freeCount--
	return uint16(i)
}

func (m *Memory) putChunk(i uint16) {
	m.chunk[i].next = m.freeChunk
	m.freeChunk = uint32(i)
	m.freeCount++
}

// FreeChunks returns how many chunks of 64 packets are free.
func (m *Memory) FreeChunks() int { return m.freeCount }
