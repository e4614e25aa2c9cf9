package pdc

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/random"
	"github.com/uetcc/uetcc/internal/siphash"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/internal/timerwheel"
	"github.com/uetcc/uetcc/pds"
)

// ManagerConfig sizes a [Manager]. Others may read Table, CC and Contexts; the manager is
// their only writer.
type ManagerConfig struct {
	Params   *Params
	Table    *Table       // PDCIDs and keys; its Quarantine is the one in force
	CC       *ccc.Manager // one more PDC than the table has, since indices are PDCIDs
	Contexts *ccc.Table
	Memory   MemoryConfig

	// Spare is how many of Contexts PDCs opened from here leave to those that peers have
	// opened. Messages hold theirs until the data has come that they wait for, and peers need
	// one to send it: without a spare one, ends whose messages hold all contexts wait for each
	// other for ever.
	Spare int

	// Algorithm, if not nil, is called for each context that is opened, before its first
	// packet, and returns what to plug in with [ccc.Manager.SetAlgorithm], nil for nothing.
	Algorithm func(ccc.Key) ccc.Algorithm

	TargetTC uint8 // traffic class of what goes back on PDCs that peers have opened: the data of reads

	// Awaited reports whether the layer above will come back to what the peer of a target PDC
	// has sent on it. That locks the PDC, at that end as it does at the other. nil: it
	// never does.
	Awaited func(Handle) bool

	Waiting int    // messages that may wait for a PDC of each pool, up to 65,535 (default 64)
	RUDI    int    // RUDI packets that may be outstanding, up to 65,535 (default 256)
	Seed    uint64 // of Start_PSNs and probe values, which do not tell it (default: drawn from crypto/rand)
	Now     int64  // the first time, ns
}

// fill gives what is 0 its default.
func (c *ManagerConfig) fill() error {
	if c.Params == nil || c.Table == nil || c.CC == nil || c.Contexts == nil {
		return fmt.Errorf("%w: ManagerConfig needs Params, Table, CC and Contexts", ErrConfig)
	}
	c.Memory.pdcs, c.Memory.ranges, c.Memory.responseLen = c.Table.ids(), c.Params.c.Range, c.Params.responseMax
	c.Memory.bufferROD = c.Params.c.BufferROD
	c.Seed = random.Seed(c.Seed)
	return cmp.Or(
		check.Range(ErrConfig, "Spare", c.Spare, 0, c.Contexts.Stats().Capacity-1),
		fill("Waiting", &c.Waiting, 64, 65535),
		fill("RUDI", &c.RUDI, 256, 65535),
	)
}

// Errors of a [Manager].
var (
	// ErrEvents: the ring has no room for the events of another packet; drain it
	// with [Manager.Event].
	ErrEvents = errors.New("pdc: events not drained")

	// ErrState: the PDC takes no message or packet in its state.
	ErrState = errors.New("pdc: PDC is closing")

	// ErrWaiting: the message waits for a PDC; an [EventMessage] will name it.
	ErrWaiting = errors.New("pdc: message waits for a PDC")

	// ErrPaused: as many messages wait as may (pds_pause). There is no event of its own for
	// the end of the pause: each [EventMessage], and each [EventError] with
	// [CausePending], makes room for one.
	ErrPaused = errors.New("pdc: no PDC, and too many messages wait for one")

	// ErrShortBuffer: the buffer is shorter than [ReplyMax].
	ErrShortBuffer = errors.New("pdc: buffer shorter than ReplyMax")
)

// ReplyMax is the longest packet that the manager writes by default: an ACK_CC with a
// response of [ResponseMax]. See [Params.ReplyMax].
const ReplyMax = pds.AckCCLen + ResponseMax

// A Manager is the PDS manager of one fabric endpoint: it owns the PDCs, decides
// which packet is sent next, and keeps their timers.
//
// Single writer, and not to be copied. See the package comment for the calls.
//
// Source: UE Specification 1.0.x section 3.5, PDS manager.
type Manager struct {
	p      *Params
	cc     *ccc.Manager
	ctxs   *ccc.Table
	algof  func(ccc.Key) ccc.Algorithm
	table  *Table
	mem    *memory
	awaits func(Handle) bool // ManagerConfig.Awaited
	pdc    []PDC             // by PDCID
	wheel  *timerwheel.Wheel
	draw   *rand.ChaCha8 // peers see what it gives: that must not tell what it gives others
	stats  Stats

	data  queue   // PDCs with packets to send that congestion control may allow
	ctl   list    // PDCs with control packets to send
	turns queue   // PDCs with a buffered request whose turn has come
	cccID []uint8 // by context: what the peer knows it by

	in      inbound              // the packet that is being received
	plain   [RunMax]ccc.PlainAck // those of one Exchange
	limiter limiter              // of answers to packets without a PDC
	secret  siphash.Key          // of what peers see and strangers must not guess
	waiting [2]waitQueue         // for the general pool, and for the reserved one

	starts   []askedStart
	paths    knownPaths
	expected expectedStarts // with StartExpected0RTT
	rudi     rudiTable
	open     int // PDCs in StateCreating to StateEstablished
	targetTC uint8
	cursor   uint16 // where the search for a PDC to close goes on
	searchAt int64  // no makeRoom before
	spare    int    // ManagerConfig.Spare
	spareAt  int64  // no takeContext before
	deferred bool   // a target lacks a context, and takeContext had to pause
	revision uint32 // of cc, when those who wait for a context were last looked at
}

// NewManager allocates all that a manager ever uses. Errors wrap [ErrConfig] and name the
// field.
func NewManager(c ManagerConfig) (*Manager, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	mem, err := newMemory(c.Memory)
	if err != nil {
		return nil, err
	}
	ids := c.Memory.pdcs
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], c.Seed)
	m := &Manager{
		p: c.Params, table: c.Table, mem: mem, cc: c.CC, ctxs: c.Contexts,
		algof: c.Algorithm, awaits: c.Awaited, targetTC: c.TargetTC,
		pdc:   slab.Make[PDC](ids + 1),
		data:  newQueue(ids),
		turns: newQueue(ids),
		wheel: timerwheel.New(ids+2, 1024, c.Now),
		draw:  rand.NewChaCha8(key),
		cccID: make([]uint8, c.Contexts.Stats().Capacity+1),
		spare: c.Spare,
	}
	m.limiter.hasher = table.NewHasher(c.Seed)
	key[8] = 1
	secret := rand.NewChaCha8(key)
	m.secret = siphash.Key{secret.Uint64(), secret.Uint64()}
	for i := range m.pdc {
		m.pdc[i].timerAt = never
	}
	m.starts = newAskedStarts(ids)
	m.paths = newKnownPaths(ids, m.limiter.hasher)
	if m.p.c.Start == StartExpected0RTT {
		m.expected = newExpectedStarts(ids, m.limiter.hasher)
	}
	for i := range m.waiting {
		m.waiting[i].ring = make([]waiter, c.Waiting)
	}
	m.rudi.init(c.RUDI, uint32(m.random()))
	return m, nil
}

func (m *Manager) random() uint64 { return m.draw.Uint64() }

// get returns the PDC of a handle, nil if its life is over.
func (m *Manager) get(h Handle) *PDC {
	if id := int(h.ID()); id < len(m.pdc) {
		if p := &m.pdc[id]; p.handle == h && p.state.live() {
			return p
		}
	}
	return nil
}

// changing is get for calls that may end the PDC, and so cause events.
func (m *Manager) changing(h Handle) (*PDC, error) {
	p := m.get(h)
	switch {
	case p == nil:
		return nil, ErrUnknown
	case m.mem.events.free() < m.mem.reserve:
		return nil, ErrEvents
	}
	return p, nil
}

// slot is the index of a PDC in the slab, in the lists and in the wheel.
func (p *PDC) slot() uint16 { return uint16(p.handle.ID()) }

// Event moves the oldest event out of the ring to ev, false if there is none.
func (m *Manager) Event(ev *Event) bool { return m.mem.events.pop(ev) }
