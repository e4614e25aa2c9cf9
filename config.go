package uetcc

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/netip"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/hbm"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/prefetch"
	"github.com/uetcc/uetcc/internal/random"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/internal/timerwheel"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/ses"
)

// ErrConfig is wrapped by every error of [NewEndpoint], together with that of the package
// whose part is wrong.
var ErrConfig = errors.New("uetcc: invalid configuration")

// A Config sizes an [Endpoint] and sets its parameters. All memory is taken at
// construction; a zero field means what its comment says. The defaults take some 4 MB.
type Config struct {
	Address netip.Addr // of this FEP

	// MTU is the payload bytes of a full packet: 1024, 2048, 4096 or 8192 (default 4096). A peer
	// with a smaller one refuses the first message on each PDC, which then goes in packets that
	// it takes. The first packet of a read that brings header data has no room to say how much it
	// asks for: such reads need a target with the same MTU.
	MTU uint32

	// Network is what lies between the peers, and says what the fields of PDS and CC that
	// belong together are where they are zero. The default is safe on any.
	Network Network

	// PDS is delivery: timers, windows, acknowledgement. InferLoss follows from Network. For
	// BufferROD see [Endpoint.Replay]. Range is twice what the path holds by CC.NSCC.LinkRate and
	// BaseRTT, at least 1024, so that one message fills it. BaseRTT, which the timers follow, defaults to CC.NSCC.BaseRTT, and
	// TargetQDelay to that of CC.NSCC.Tuning.
	PDS pdc.Config

	// CC is congestion control. Of CC.NSCC set LinkRate (default 100 Gb/s) and BaseRTT (12 us, or
	// what is measured, see Network). Leave its Profile to Network, and its MTU, which follows from the one above: with
	// a smaller one each full packet may exceed the window by the difference.
	// BaseRTT is that of a full packet on the longest path when nothing else is on it, with
	// the packet's own time on the links: Path.BaseRTT of package hw/link, plus the time that
	// the software of both ends takes.
	CC ccc.Config

	// Algorithm, if not nil, gives each new congestion control context an algorithm of your
	// own, or none if it returns nil: before the first packet to a peer goes, be it data or
	// the answer to a read. It runs beside what CC.Control names, or alone with
	// [ccc.ControlNone]. [ccc.Manager.SetAlgorithm] changes it later.
	Algorithm func(ccc.Key) ccc.Algorithm

	PDCs    pdc.TableConfig // PDCIDs (default: 1024 in the general pool, 2 s of quarantine)
	Memory  pdc.MemoryConfig
	Waiting int // messages that may wait for a PDC of each pool, up to 65,535 (default 64)
	RUDI    int // RUDI packets that may be outstanding, up to 65,535 (default 256)

	// Contexts is how many congestion control contexts messages may use, one for each peer and
	// traffic class with PDCs, up to 65,535 (default 256); there is one more for answers. A message
	// to one peer more waits as for a PDC. So does the read of what did not come with a rendezvous
	// send, which needs a context of its own where AnswerTC is not the class of messages; if it
	// finds none, both ends are told that the send has failed.
	Contexts int

	// Messages is how many messages of this endpoint may be in progress, up to 65,534 (default
	// 1024). What it starts by itself for sends of peers, rendezvous and deferrable ones, has a
	// quarter as many places of its own.
	Messages int

	// Answers is how many reads and fetching atomics of peers, counted in packets, may wait
	// for their answer at once, up to 65,535 (default twice PDS.Range, so 2048). A PDC gets another one only while
	// more are free than it has, so one alone may have half of them.
	Answers int

	// Target bounds what peers may use here (default: 1 process with 16 indices, 16
	// regions, 16 receive buffers, 1024 messages and 1024 pending sends). Its MTU is
	// filled in.
	Target ses.TargetConfig

	// Receiver is the scheduler of receiver credit, in use where CC.Control has RCCC. Credit
	// goes out in CREDIT packets; each ACK_CC repeats it (CC_CREDIT), unless there is NSCC, too,
	// whose state it then has.
	// Zero fields: Senders is Contexts, Rate is CC.NSCC.LinkRate, MaxCredit and MaxDemand
	// are those of CC.RCCC, Timeout is 8 round trips (CC.RCCC.RTT, else CC.NSCC.BaseRTT)
	// and at least 1 ms, Policy is a [rccc.PullPolicy]. An address gets another sender only
	// while more are free than it has. In idle time that policy gives each sender up to
	// MaxCredit unasked, with a packet for each Grant; one with NoIdleCredit does not.
	Receiver rccc.ReceiverConfig

	// Penalty is the rcv_cwnd_pend of acknowledgements while bytes wait on the way into the memory
	// of this host, see [Endpoint.SetBacklog] (High 0: none). HostLimits is how receiver
	// credit slows meanwhile (default: [rccc.DefaultHostLimits]).
	Penalty    hbm.PolicyConfig
	HostLimits rccc.HostLimits

	// Retries and Backoff of messages that found no match or an old generation, see
	// [ses.InitiatorConfig].
	Retries int
	Backoff int64

	// SwapBoth is for peers whose compare and swap has a length of 32 bytes, see
	// [ses.InitiatorConfig].
	SwapBoth bool

	// MessageTimeout is how long a message of this endpoint may stand still, ns, up to 2^60: one
	// of which nothing is sent, acknowledged, read or tried again ends after that, and before half
	// as much again, with [pdc.CauseMessageTimeout], or [pdc.CauseNoCredit] if it waits for
	// credit; what else has stood still on its PDC ends with it. A deferrable send whose peer
	// posts no buffer stands still (default: 60 s).
	MessageTimeout int64

	// Tap, if not nil, is shown each packet: those that come before they are looked at, then those
	// that have to be sent, in the order of their batch; sent says which. What [Endpoint.Refuse] and
	// [Endpoint.Fail] write again is shown again. The datagram is the caller's: nothing of it may
	// be kept or changed. Without a Tap no packet costs an instruction more.
	Tap func(now int64, sent bool, d Datagram)

	ControlTC uint8 // traffic class of acknowledgements and control packets, except probes that look for losses
	AnswerTC  uint8 // of what peers have this side send: data of RUD and ROD reads, reads of rendezvous, ready to restart

	// Seed is what PDCIDs, Start_PSNs, hashes and the choice of paths are drawn from. 0, for
	// every network, draws one from crypto/rand. Any other asks for determinism, in simulations
	// and tests: equal inputs then give equal packets, so that peers take the first packets of an
	// endpoint that starts again for those of its former life, and acknowledge what they never
	// deliver.
	Seed uint64

	Now int64 // the first time, ns: this and all later ones are 0 or more and below 2^62
}

// fill sets the defaults.
func (c *Config) fill() {
	c.Seed = random.Seed(c.Seed)
	c.Contexts = cmp.Or(c.Contexts, 256)
	c.Messages = cmp.Or(c.Messages, 1024)
	c.MTU = cmp.Or(c.MTU, 4096)
	c.MessageTimeout = cmp.Or(c.MessageTimeout, 60_000_000_000)
	c.PDCs.General = cmp.Or(c.PDCs.General, 1024)
	c.PDCs.Quarantine = cmp.Or(c.PDCs.Quarantine, 2_000_000_000)
	t := &c.Target
	t.Processes = cmp.Or(t.Processes, 1)
	t.Indices = cmp.Or(t.Indices, 16)
	t.Regions = cmp.Or(t.Regions, 16)
	t.Receives = cmp.Or(t.Receives, 16)
	t.Messages = cmp.Or(t.Messages, 1024)
	t.Pending = cmp.Or(t.Pending, 1024)
	c.fillNetwork()
	n := &c.CC.NSCC
	n.MTU = cmp.Or(n.MTU, c.overhead()+ses.StandardLen+int64(c.MTU))
	n.LinkRate = cmp.Or(n.LinkRate, 100e9/8)
	n.BaseRTT = cmp.Or(n.BaseRTT, 12_000)
	n.AckTrigger = cmp.Or(n.AckTrigger, c.PDS.AckTrigger)
	c.PDS.BaseRTT = cmp.Or(c.PDS.BaseRTT, n.BaseRTT)
	c.PDS.Range = cmp.Or(c.PDS.Range, c.reach())
	c.Answers = cmp.Or(c.Answers, min(2*c.PDS.Range, 65535))
	c.PDS.TargetQDelay = cmp.Or(c.PDS.TargetQDelay, n.Tuning.TargetQdelay)
	c.Target.MTU = c.MTU
	c.HostLimits = cmp.Or(c.HostLimits, rccc.DefaultHostLimits())
	c.PDCs.Seed = cmp.Or(c.PDCs.Seed, c.seedFor(seedIDs))
	c.Target.Seed = cmp.Or(c.Target.Seed, c.seedFor(seedTarget))
}

// reach is how many packets a PDC may have under way where nothing says it: twice what the path
// holds, but no fewer than the specification's default, and no more than can be announced.
func (c *Config) reach() int {
	n := &c.CC.NSCC
	packets := 2 * float64(n.LinkRate) * float64(n.BaseRTT) / 1e9 / float64(c.MTU)
	return int(min(max(packets, 1024), pdc.MaxRange))
}

// maxMessages is how many messages there may be of an endpoint, errands among them.
const maxMessages = 65535

// credits reports whether receivers grant credit, of their rate or of the cells of their buffer.
func (c *Config) credits() bool {
	return c.CC.Control == ccc.ControlRCCC || c.CC.Control == ccc.ControlBoth || c.CC.TFC.CellSize != 0
}

// overhead is the nominal size of a request beyond its semantic header and its payload. With a
// full payload behind a standard header that is the largest packet, and no byte more may be the
// MTU of a window: a window cut to the two packets that have arrived would let only one go.
func (c *Config) overhead() int64 {
	if c.credits() {
		return pds.NominalSize(udpLen + pds.RequestCCLen)
	}
	return pds.NominalSize(udpLen + pds.RequestLen)
}

// errands is how many messages that this side starts for sends of peers have a place of
// their own. Sends of the application keep theirs until the peer has come back to them, so
// ends whose sends held all places would wait for each other for ever.
func (c *Config) errands() int { return min(c.Messages/4+1, maxMessages-c.Messages) }

func (c *Config) validate() error {
	if !c.Address.IsValid() {
		return fmt.Errorf("%w: Address is missing", ErrConfig)
	}
	if c.Algorithm != nil && c.CC.TFC.CellSize != 0 {
		return fmt.Errorf("%w: Algorithm with CC.TFC, which has its place", ErrConfig)
	}
	return cmp.Or(
		check.Range(ErrConfig, "Contexts", c.Contexts, 1, ccc.MaxContexts),
		check.Range(ErrConfig, "Messages", c.Messages, 1, maxMessages-1),
		check.Range(ErrConfig, "Answers", c.Answers, 1, 65535),
		check.Range(ErrConfig, "MessageTimeout", c.MessageTimeout, 1, 1<<60),
	)
}

// NewEndpoint validates c and allocates all that the endpoint ever uses. The error wraps
// [ErrConfig] and names the field.
func NewEndpoint(c Config) (*Endpoint, error) {
	c.fill()
	if err := c.validate(); err != nil {
		return nil, err
	}
	e := &Endpoint{local: pdc.AddrFrom(c.Address), mtu: int64(c.MTU), tap: c.Tap}
	e.clock = clock{last: max(c.Now, 0), tapped: c.Tap != nil}
	e.clock.end()
	err := e.newSES(&c)
	if err == nil {
		err = e.newPDS(&c)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	e.join(&c)
	return e, nil
}

// join shows the parts of e to each other, and each what it has of c.
func (e *Endpoint) join(c *Config) {
	s, x, l := &e.source, &e.recv, &e.loader
	s.pds, s.cc, s.target, s.credit, s.flows, s.stats, s.local, s.mtu = e.pds, e.cc, e.target, e.credit, e.flows, &e.stats, e.local, e.mtu
	s.key, s.answerTC, s.lendTag = pdc.InitiatorKey{Source: c.Address}, c.AnswerTC, c.seedFor(seedLentRegions)>>32
	x.pds, x.target, x.credit, x.flows, x.stats, x.mtu, x.source = e.pds, e.target, e.credit, e.flows, &e.stats, e.mtu, s
	x.controlTC, x.tells = c.ControlTC, e.credit != nil || x.backlog.on
	l.pds, l.cc, l.target, l.flows, l.source = e.pds, e.cc, e.target, e.flows, s
}

// newSES makes the semantic half of e and what it needs.
func (e *Endpoint) newSES(c *Config) (err error) {
	if e.target, err = ses.NewTarget(c.Target); err != nil {
		return err
	}
	messages := c.Messages + c.errands()
	e.source.sender, err = ses.NewInitiator(ses.InitiatorConfig{
		MTU: c.MTU, Messages: messages, Retries: c.Retries, Backoff: c.Backoff, SwapBoth: c.SwapBoth,
	})
	if err != nil {
		return err
	}
	e.source.unanswered = slab.Make[uint32](messages)
	e.source.messages, e.source.errandRoom = slab.Make[message](messages), c.errands()
	e.source.retries = timerwheel.New(messages, 1024, c.Now)
	e.source.hand.init(messages, c.MessageTimeout)
	e.source.fetching, e.source.reading = newPlaces(messages), newPlaces(messages)
	e.source.events.init(messages + c.Target.Messages)
	return nil
}

// newPDS makes the delivery half of e and what it needs.
func (e *Endpoint) newPDS(c *Config) error {
	cp, err := ccc.NewParams(c.CC)
	if err != nil {
		return err
	}
	p, err := pdc.NewParams(c.PDS)
	if err != nil {
		return err
	}
	e.recv.ackData, e.replyMax = uint32(p.MaxAckData()), max(HeaderMax, p.ReplyMax())
	table, err := pdc.NewTable(c.PDCs)
	if err != nil {
		return err
	}
	ids := c.PDCs.General + c.PDCs.Reserved
	e.source.answers.init(c.Answers, ids)
	if err := e.newCC(c, &cp, ids); err != nil {
		return err
	}
	e.pds, err = pdc.NewManager(pdc.ManagerConfig{
		Params: &p, Table: table, CC: e.cc, Contexts: e.contexts, Algorithm: c.Algorithm,
		Spare: e.contexts.Stats().Capacity - c.Contexts, TargetTC: c.AnswerTC, Memory: c.Memory,
		Awaited: func(h pdc.Handle) bool { return e.target.Awaited(uint64(h)) },
		Waiting: c.Waiting, RUDI: c.RUDI, Seed: c.seedFor(seedPSNs), Now: c.Now,
	})
	if err != nil {
		return err
	}
	e.flows, e.source.asking = slab.Make[flow](ids+1), slab.Make[asking](ids+1)
	if ids < scattered || !prefetch.Enabled {
		e.loader.prefetched = math.MaxInt
	}
	e.source.submitAhead = int16(min(max(submitLeast*e.pds.FreeChunks()/(4*ids), submitLeast), submitMost))
	return nil
}

// newCC makes congestion control for so many PDCs.
func (e *Endpoint) newCC(c *Config, p *ccc.Params, pdcs int) (err error) {
	if e.credit, err = newCreditor(c, p); err != nil {
		return err
	}
	b := &e.recv.backlog
	if b.limits, b.on = c.HostLimits, c.Penalty.High != 0; b.on {
		if b.policy, err = hbm.NewPolicy(c.Penalty); err != nil {
			return err
		}
	}
	e.source.overhead = c.overhead()
	contexts := min(c.Contexts+1, ccc.MaxContexts) // one for answers
	e.cc, err = ccc.NewManager(ccc.ManagerConfig{
		Params: p, Contexts: contexts + 1, PDCs: pdcs + 1, Seed: c.seedFor(seedPaths), Now: c.Now,
	})
	if err != nil {
		return err
	}
	e.contexts, err = ccc.NewTable(contexts, c.seedFor(seedContexts))
	return err
}
