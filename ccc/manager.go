// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/random"
	"github.com/uetcc/uetcc/internal/slab"
)

// Errors of [Manager.Open] and [Manager.Bind].
var (
	errHandle = errors.New("ccc: handle out of range, or without a life")
	errInUse  = errors.New("ccc: the index is in use")
)

// ManagerConfig sizes a [Manager].
type ManagerConfig struct {
	Params *Params

	// Contexts and PDCs are the largest index plus one of each, at most 65,536.
	Contexts, PDCs int

	// Algorithms sets room aside for an [Algorithm] of each context. Without, and without credit of
	// receivers, the first call of [Manager.SetAlgorithm] allocates the room.
	Algorithms bool

	// Admission gives every context a [Gate]. A Gate costs an atomic operation for each
	// acknowledgement.
	Admission bool

	// Inbox is the most posted events waiting, of any kinds, a power of two up to 2^24; 0
	// means 1,024. Four cells of 16 bytes are set aside for each. A call of [Manager.Post]
	// takes a cell for each change of time among the events, three for an acknowledgement,
	// two for a packet sent or refused, and 1 for other events.
	Inbox int

	// Seed is the seed of path choices: 0 draws a seed from crypto/rand, and with other
	// values equal inputs give equal choices.
	Seed uint64

	// Now is the time at which the clock of all later calls starts, ns. Times are 0 or
	// more and below 2^62.
	Now int64
}

// A Manager is the CCC manager of a NIC: the contexts and the PDCs bound to the
// contexts, in slabs addressed by index, with an inbox and gates for several cores. The
// caller chooses the next PDC to send: package internal/pdc keeps turns.
//
// Only the owner may call the methods, a single owner at a time; any goroutine
// may call [Manager.Post], [Manager.TryOwn], [Manager.Gate] and [Manager.Refresh]. A
// goroutine making all calls is the owner without asking. Once others call the four
// methods, the owner is the goroutine that succeeded with TryOwn.
//
// Events whose handle is of an earlier life are ignored; [Manager.Stale] counts such
// events. Invariant: for each context the backlog is the sum over the PDCs, and so is
// rtx_backlog.
type Manager struct {
	p       *Params
	seats   []seat
	ledgers []counts
	side    []uint64
	extra   extra
	cells   []cellGate // with TFC
	pdcs    []member
	homes   []uint16 // by PDC: the index of the context, if bound; dense, so that caches hold all
	sole    member   // member's result for a sole PDC

	busy int64 // contexts with something to send
	runs bool  // contexts take several events in one step, see Exchange

	listens  bool   // path choice takes feedback in, or not all ports are up
	down     uint64 // ports that are, see SetPorts
	shares   bool   // a context has served two PDCs
	revision uint32

	gates []Gate
	edges []edge // with gates
	stale uint64
	seed  uint64
	inbox inbox
	clock int64 // latest time of a posted event

	_     [cacheLine]byte
	owner atomic.Uint32 // 1 while the manager is owned
	_     [cacheLine - 4]byte
}

// A seat is the part of a context needed in events, in one place: four cache lines; a plain
// event needs the last three.
type seat struct {
	context Context
	entropy Entropy
}

// NewManager allocates all memory of the manager. Errors wrap [ErrConfig].
func NewManager(c ManagerConfig) (*Manager, error) {
	c.Inbox = cmp.Or(c.Inbox, 1024)
	err := cmp.Or(
		check.Range(ErrConfig, "Contexts", c.Contexts, 1, 1<<16),
		check.Range(ErrConfig, "PDCs", c.PDCs, 1, 1<<16),
		check.Range(ErrConfig, "Inbox", c.Inbox, 1, 1<<24),
	)
	switch {
	case c.Params == nil:
		return nil, fmt.Errorf("%w: Params is missing", ErrConfig)
	case err != nil:
		return nil, err
	case !powerOfTwo(c.Inbox):
		return nil, fmt.Errorf("%w: Inbox is %d, want a power of two", ErrConfig, c.Inbox)
	}
	m := &Manager{
		p:       c.Params,
		seats:   slab.Make[seat](c.Contexts),
		ledgers: slab.Make[counts](c.Contexts),
		side:    make([]uint64, c.Contexts*c.Params.entropy.Words()),
		pdcs:    slab.Make[member](c.PDCs),
		homes:   slab.Make[uint16](c.PDCs),
		seed:    random.Seed(c.Seed),
		inbox:   newInbox(c.Inbox),
		clock:   c.Now,
		runs:    c.Params.runs && !c.Admission,
		listens: c.Params.entropy.scheme != SchemeOblivious,
	}
	if c.Params.flow {
		m.cells = make([]cellGate, c.Contexts)
	}
	if c.Admission {
		m.gates, m.edges = make([]Gate, c.Contexts), make([]edge, c.Contexts)
	}
	if c.Params.credit || c.Params.flow || c.Algorithms {
		m.extra.init(c.Contexts, c.Now)
	}
	return m, nil
}

// Params returns the parameters of all contexts.
func (m *Manager) Params() *Params { return m.p }

// Stale returns the number of events for past lives.
func (m *Manager) Stale() uint64 { return m.stale }

// Open begins the life h of a context. baseRTT is from [Manager.Unbind] of the last context
// to the same destination, ns; 0 if none. The life ends when the last PDC is unbound; a
// context that never had a PDC lives on.
func (m *Manager) Open(h Handle, now, baseRTT int64) error {
	i := int(h.Index())
	if i >= len(m.seats) || h.Generation()&1 == 0 {
		return errHandle
	}
	c := &m.seats[i].context
	if c.handle != 0 {
		return errInUse
	}
	c.Init(m.p, now, baseRTT)
	c.handle, c.rec.last = h, now
	if m.p.window {
		c.how = howNew
	}
	if m.ledgers[i] = (counts{}); m.extra.due != nil {
		m.extra.waited[i] = [reasons]int64{}
	}
	clear(m.sideOf(c))
	m.seats[i].entropy.Init(&m.p.entropy, m.seed+uint64(h)*0x9e3779b97f4a7c15)
	if m.cells != nil {
		m.cells[i] = cellGate{p: &m.p.cells, mtu: m.p.mtu}
		m.cells[i].src.Init(&m.p.cells)
		m.setAlgorithm(c, now, &m.cells[i])
	}
	return nil
}

// SetMode changes how much context h has to say.
func (m *Manager) SetMode(h Handle, now int64, mode Mode) {
	if c := m.Context(h); c != nil {
		m.revision++
		c.SetMode(m.p, now, mode)
		m.classify(c)
		m.settle(c, now)
	}
}

// Revision changes with each [Manager.SetMode] and [Manager.SetAlgorithm]: PDCs refused
// before ([Waiters]) may try again then.
func (m *Manager) Revision() uint32 { return m.revision }

// Context returns the context of h for reading, nil if the life is over.
func (m *Manager) Context(h Handle) *Context {
	if i := int(h.Index()); h != 0 && i < len(m.seats) && m.seats[i].context.handle == h {
		return &m.seats[i].context
	}
	return nil
}

// Waiters returns the list of PDCs waiting for a context, for the caller to keep. The list
// is empty when the context's life begins. The handle's index must be in range; handle 0
// has a list, too.
func (m *Manager) Waiters(context Handle) *Waiters {
	return &m.seats[context.Index()].context.waiters
}

// Bind binds a PDC to a context. fixed keeps the PDC out of path choice: all packets take a
// single value of the PDC's, as ROD and TFC require.
func (m *Manager) Bind(pdc, context Handle, now int64, fixed bool) error {
	c := m.Context(context)
	j := int(pdc.Index())
	switch {
	case c == nil || j >= len(m.pdcs) || pdc.Generation()&1 == 0:
		return errHandle
	case m.pdcs[j].handle != 0:
		return errInUse
	}
	fixed = fixed || m.p.flow // with TFC the cells of one path count
	if fixed {
		c.how |= howFixed
	}
	m.classify(c)
	if c.pdcs == 0 {
		c.rec.sole = pdc
	} else if sole := c.rec.sole; sole != 0 { // the sole PDC has separate counters from now on
		m.pdcs[sole.Index()].count(c)
		c.rec.sole, m.shares = 0, true
	}
	m.homes[j] = context.Index()
	m.pdcs[j] = member{handle: pdc, fixed: fixed}
	m.pdcs[j].way = m.seats[context.Index()].entropy.fixedFor(&m.p.entropy, uint64(pdc))
	c.Bind(m.p, now)
	m.settle(c, now)
	return nil
}

// Repath gives a PDC that takes no part in path choice a new value, if possible: packets
// have been lost more than once on the PDC's path.
func (m *Manager) Repath(pdc Handle) {
	b := m.member(pdc) // maybe without a context yet
	if b == nil || !b.fixed {
		return
	}
	e, was := &m.seatOf(b).entropy, b.way
	b = &m.pdcs[pdc.Index()]
	for salt := uint64(1); b.way == was && salt < 64; salt++ {
		b.way = e.fixedFor(&m.p.entropy, uint64(pdc)+(salt+uint64(was))<<32)
	}
}

// Unbind takes a PDC out of the context, with the bytes unsent and in flight, see [Left];
// reservations of the PDC at the gate must have been sent or given back. With the last PDC
// the context goes too, and freed is the context's handle; baseRTT is worth keeping for the
// next [Manager.Open] to the same destination.
//
// Events of the PDC that were posted must have been handled: later events are stale, and
// bytes reported as sent stay reserved for ever. A [Manager.Drain] alone is no proof, since
// a batch waits behind a batch still being written on another core. A [Manager.Refresh] by
// the poster is, once the View is filled.
func (m *Manager) Unbind(pdc Handle, now int64) (freed Handle, baseRTT int64) {
	b := m.member(pdc)
	if b == nil {
		return 0, 0
	}
	c := &m.seatOf(b).context
	if m.cells != nil {
		m.cells[m.homes[pdc.Index()]].abandon(b.left())
	}
	last := c.Unbind(m.p, now, b.left())
	m.pdcs[pdc.Index()] = member{}
	m.settle(c, now)
	if !last {
		return 0, 0
	}
	return m.free(c, now)
}

// free ends the life of a context without PDCs.
func (m *Manager) free(c *Context, now int64) (Handle, int64) {
	h, rtt := c.handle, c.BaseRTT()
	*c = Context{handle: h, how: c.how & (howArmed | howBusy)}
	if m.extra.due != nil {
		m.extra.algs[h.Index()] = nil
	}
	m.settle(c, now)
	*c = Context{}
	return h, rtt
}

// member returns the PDC's record, nil if that life is over. For the sole PDC of a context it is
// a copy with the context's counters, valid until the next call: changes go to the context.
func (m *Manager) member(pdc Handle) *member {
	j := int(pdc.Index())
	if pdc == 0 || j >= len(m.pdcs) || m.pdcs[j].handle != pdc {
		return nil
	}
	b := &m.pdcs[j]
	if c := &m.seatOf(b).context; c.rec.sole == pdc {
		m.sole = *b
		m.sole.count(c)
		return &m.sole
	}
	return b
}

// seatOf is the seat of the context that a PDC is bound to.
func (m *Manager) seatOf(b *member) *seat { return m.seatAt(b.handle) }

// seatAt is seatOf by the PDC's handle: a pointer and not an index, which saves the compiler a
// register. Where the PDC is not bound it is any seat, or nil.
//
//uetcc:hot inlines
func (m *Manager) seatAt(pdc Handle) *seat {
	if i := int(pdc.Index()); i < len(m.homes) {
		if j := int(m.homes[i]); j < len(m.seats) {
			return &m.seats[j]
		}
	}
	return nil
}

// sideOf is the side memory of the path choice of a context of the manager's.
func (m *Manager) sideOf(c *Context) []uint64 {
	i, n := int(c.handle.Index()), m.p.entropy.Words()
	return m.side[i*n : (i+1)*n]
}
