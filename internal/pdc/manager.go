// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/random"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/internal/timerwheel"
	"github.com/uetcc/uetcc/pds"
)

// ManagerConfig sizes a [Manager]. Anybody may read Table, CC and Contexts; the manager is
// the only writer.
type ManagerConfig struct {
	Params   *Params
	Table    *Table       // PDCIDs and keys; the Table's Quarantine is in force
	CC       *ccc.Manager // with one more PDC than the table, since indices are PDCIDs
	Contexts *ccc.Table
	Memory   MemoryConfig

	// Spare is the number of Contexts that PDCs opened from here leave to PDCs opened by
	// peers. Messages hold contexts until the awaited data has come, and peers need a context
	// to send data: without a spare context, ends whose messages hold all contexts wait for
	// each other for ever.
	Spare int

	// Algorithm, if not nil, is called for each context opened, before the first packet, and
	// returns the algorithm to plug in with [ccc.Manager.SetAlgorithm], nil for nothing.
	Algorithm func(ccc.Key) ccc.Algorithm

	TargetTC uint8 // traffic class of packets sent on PDCs opened by peers: the data of reads

	// Awaited reports whether the layer above will come back to a send of a target PDC's
	// peer. Such a send locks the PDC at both ends. nil: never.
	Awaited func(Handle) bool

	Waiting int    // most messages waiting for a PDC of each pool, up to 65,535 (default 64)
	RUDI    int    // most RUDI packets outstanding, up to 65,535 (default 1024), see places of rudiTable
	Seed    uint64 // of Start_PSNs and probe values, without revealing the seed (default: drawn from crypto/rand)
	Now     int64  // the first time, ns
}

// fill gives zero fields the defaults.
func (c *ManagerConfig) fill() error {
	if c.Params == nil || c.Table == nil || c.CC == nil || c.Contexts == nil {
		return fmt.Errorf("%w: ManagerConfig needs Params, Table, CC and Contexts", ErrConfig)
	}
	c.Seed = random.Seed(c.Seed)
	_, contexts := c.Contexts.Stats()
	return cmp.Or(
		check.Range(ErrConfig, "Spare", c.Spare, 0, contexts-1),
		fill("Waiting", &c.Waiting, 64, 65535),
		fill("RUDI", &c.RUDI, 1024, 65535),
	)
}

// Errors of a [Manager].
var (
	// ErrState: the PDC takes no message or packet in the present state.
	ErrState = errors.New("pdc: PDC is closing")

	// ErrWaiting: the message waits for a PDC; an [EventMessage] will name the PDC.
	ErrWaiting = errors.New("pdc: message waits for a PDC")
)

// ReplyMax is the longest packet the manager writes by default: an ACK_CC with a
// response of [ResponseMax]. See [Params.ReplyMax].
const ReplyMax = pds.AckCCLen + ResponseMax

// A Manager is the PDS manager of one fabric endpoint: it owns the PDCs, decides the next
// packet to send, and keeps the timers.
//
// Parts know only the parts above in the struct:
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

	run Run // at a small offset, so that its address needs no check for nil

	sched    scheduler
	timer    timers
	reply    answers
	start    starts
	target   target
	source   source
	life     life
	recovery recovery

	credits credits
	rudi    rudiTable

	asides     int  // calls of Aside that Transmit has not told of yet
	asideFirst bool // at the last turn of others
	targetTC   uint8
	stats      Stats
}

// NewManager allocates all memory of a manager. Errors wrap [ErrConfig] and name the
// field.
func NewManager(c ManagerConfig) (*Manager, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	ids := c.Table.ids()
	mem, err := newMemory(memoryConfig{
		MemoryConfig: c.Memory, pdcs: ids, ranges: c.Params.c.Range, responseLen: c.Params.responseMax,
		bufferROD: c.Params.c.BufferROD,
	})
	if err != nil {
		return nil, err
	}
	m := &Manager{
		p: c.Params, mem: mem, pdc: slab.Make[PDC](ids + 1), cc: c.CC, table: c.Table, targetTC: c.TargetTC,
		credits: credits{cc: c.CC},
	}
	for i := range m.pdc {
		m.pdc[i].timerAt = never
	}
	hasher := table.NewHasher(c.Seed)
	m.sched = scheduler{pdc: m.pdc, cc: m.cc, ctxs: c.Contexts, data: newQueue(ids + 1)}
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
	_, contexts := c.Contexts.Stats()
	m.life = life{
		p: m.p, mem: m.mem, pdc: m.pdc, cc: m.cc, ctxs: c.Contexts, table: m.table, stats: &m.stats, sched: &m.sched,
		timer: &m.timer, reply: &m.reply, start: &m.start, source: &m.source, target: &m.target, rudi: &m.rudi,
		algof: c.Algorithm, awaits: c.Awaited, cccID: make([]uint8, contexts+1), paths: newKnownPaths(ids, hasher),
		waiting: [2]fifo.Queue[waiter]{fifo.Make[waiter](c.Waiting), fifo.Make[waiter](c.Waiting)}, most: c.Waiting, spare: c.Spare,
	}
	if q := m.cc.Params(); q.RCCC().MaxCredit() != 0 || q.TFC() != nil {
		m.life.bound, m.life.binds = slab.Make[list.List[uint16]](contexts+1), list.Make[uint16](ids)
	}
	m.recovery = recovery{
		p: m.p, mem: m.mem, pdc: m.pdc, cc: m.cc, stats: &m.stats,
		sched: &m.sched, timer: &m.timer, reply: &m.reply, start: &m.start, target: &m.target, source: &m.source, life: &m.life,
	}
	m.rudi.init(c.RUDI, uint32(m.start.random()))
	return m, nil
}

// get returns the PDC of a handle, nil after the PDC's life.
func (m *Manager) get(h Handle) *PDC {
	if id := int(h.ID()); id < len(m.pdc) {
		if p := &m.pdc[id]; p.handle == h && live(p.state) {
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
	case m.mem.events.Free() < m.mem.reserve:
		return nil, ErrEvents
	}
	return p, nil
}

// slot is the index of a PDC in the slab, in the lists and in the wheel.
func (p *PDC) slot() uint16 { return uint16(p.handle.ID()) }

// Event moves the oldest event out of the ring to ev, or reports false.
func (m *Manager) Event(ev *Event) bool { return m.mem.pop(ev) }

// A FastPath is a [Manager] with faster methods for the most frequent packets. Each declines
// any other packet, without a change: the caller takes such a packet to the Manager's
// method.
//
//	Named, MayAnswer, Take              a request: Receive and Respond
//	ReceiveACK                          an acknowledgement: Receive
//	TransmitRun                         new packets: Transmit
//	NextSender, Upcoming                who would be next in Transmit
//	Exchange                            acknowledgements, and what they let go: Receive, Transmit
//	Joins, Usable                       a message on a known PDC: Open
//	Ends                                how to send to a PDC's peer: PDC
//	Room, SubmitBatch                   messages of one packet: Begin, SubmitRun
//	Lines and the like                  nothing: they tell what memory a later call will read
//
// Single writer, the Manager's.
type FastPath Manager

// Fast returns the faster methods of m.
func (m *Manager) Fast() *FastPath { return (*FastPath)(m) }

// EventKind is the kind of an [Event]. The zero value is no event.
type EventKind uint8

const (
	EventNone     EventKind = iota
	EventResponse           // acknowledged by a separate ACK, without a response behind
	EventImplicit           // acknowledged by CACK: the default response, success
	EventError              // will not be delivered, or unknown; with Cause
	EventClosing            // the PDC takes no new messages
	EventClosed             // the PDC has gone; Cause is 0 for a close in order
	EventMessage            // a waiting message has a PDC: Submit the message's packets

	EventRoom // a control packet has left a window, maybe full before
)

var eventNames = [...]string{"none", "response", "implicit", "error", "closing", "closed", "message", "room"}

// String returns the kind in a word.
func (k EventKind) String() string { return enum.Name(eventNames[:], k) }

// Event is a piece of news for the layer above.
type Event struct {
	Handle uint64 // of the packet or message, as submitted
	PDC    Handle
	PSN    pds.PSN
	Cause  Cause
	Kind   EventKind
	Nack   pds.NackCode // the peer's last code, with CauseNack or a Cause that is such a code
	More   uint16       // EventImplicit: so many packets more, with handles and PSNs counting up
}

func (m *memory) push(e Event) {
	if m.events.Free() == 0 {
		panic("pdc: event ring full") // what fills it asks for room first
	}
	*m.events.Push() = e
}

// pop copies field by field, as the fields were written a moment ago: a wider load
// would wait until the narrow stores have left the store buffer.
func (m *memory) pop(ev *Event) bool {
	e := m.events.First()
	if e == nil {
		return false
	}
	ev.Handle, ev.PDC, ev.PSN, ev.Cause, ev.Kind, ev.Nack, ev.More = e.Handle, e.PDC, e.PSN, e.Cause, e.Kind, e.Nack, e.More
	m.events.Drop()
	return true
}

// event tells the layer above about the PDC.
func (m *memory) event(p *PDC, k EventKind, c Cause) {
	m.push(Event{Kind: k, PDC: p.handle, Cause: c, Nack: m.said(p, c)})
}

// said is the NACK behind a cause of the failure of p, or 0.
func (m *memory) said(p *PDC, c Cause) pds.NackCode {
	switch {
	case c == CauseNack:
		return m.shortage[p.slot()].nack
	case c < CauseRTO:
		return pds.NackCode(c)
	}
	return 0
}
