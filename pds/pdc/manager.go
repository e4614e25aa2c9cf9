package pdc

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/random"
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
// Its parts know only the parts above them in the struct:
//
//	sched    which PDC sends next
//	timer    when a PDC is looked at again
//	reply    what goes back at once: acknowledgements and NACKs
//	start    Start_PSNs, and whose address is proven
//	target   requests that arrive
//	source   packets in flight, and what congestion control hears of them
//	life     how PDCs open, close and fail, and who waits for one
//	recovery what follows from acknowledgements, NACKs and time
//
// Single writer, and not to be copied. See the package comment for the calls.
//
// Source: UE Specification 1.0.x section 3.5, PDS manager.
type Manager struct {
	p     *Params
	mem   *memory
	pdc   []PDC // by PDCID
	cc    *ccc.Manager
	table *Table

	sched    scheduler
	timer    timers
	reply    answers
	start    starts
	target   target
	source   source
	life     life
	recovery recovery

	plain    [RunMax]ccc.PlainAck // those of one Exchange
	rudi     rudiTable
	targetTC uint8
	stats    Stats
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
	m := &Manager{
		p: c.Params, mem: mem, pdc: slab.Make[PDC](ids + 1), cc: c.CC, table: c.Table, targetTC: c.TargetTC,
	}
	for i := range m.pdc {
		m.pdc[i].timerAt = never
	}
	hasher := table.NewHasher(c.Seed)
	m.sched = scheduler{pdc: m.pdc, cc: m.cc, ctxs: c.Contexts, data: newQueue(ids)}
	m.timer = timers{p: m.p, mem: m.mem, wheel: timerwheel.New(ids+2, 1024, c.Now)}
	m.reply = answers{p: m.p, mem: m.mem, stats: &m.stats, limiter: limiter{hasher: hasher}}
	m.start.init(m, c.Seed, hasher)
	m.target = target{
		p: m.p, mem: m.mem, pdc: m.pdc, stats: &m.stats, reply: &m.reply, timer: &m.timer, turns: newQueue(ids),
	}
	if m.p.c.RcvrInferLoss != 0 {
		m.target.holes = slab.Make[pds.PSN](ids + 1)
	}
	m.source = source{p: m.p, mem: m.mem, pdc: m.pdc, cc: m.cc, stats: &m.stats, sched: &m.sched, timer: &m.timer}
	m.life.init(m, &c, hasher)
	m.recovery = recovery{
		p: m.p, mem: m.mem, pdc: m.pdc, cc: m.cc, stats: &m.stats,
		sched: &m.sched, timer: &m.timer, reply: &m.reply, start: &m.start, target: &m.target, source: &m.source, life: &m.life,
	}
	m.rudi.init(c.RUDI, uint32(m.start.random()))
	return m, nil
}

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
