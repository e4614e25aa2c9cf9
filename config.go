// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"net/netip"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/hbm"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/msg"
	engine "github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/prefetch"
	"github.com/uetcc/uetcc/internal/random"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/internal/timerwheel"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/ses"
)

// ErrConfig is wrapped by every error of [NewEndpoint], together with the error of the package
// whose part is wrong.
var ErrConfig = errors.New("uetcc: invalid configuration")

// A Config sizes an [Endpoint] and sets its parameters, for the life of the Endpoint: algorithm, mode
// and ports of [Endpoint.CC] alone change later. All memory is taken at
// construction; a zero field means the default in the field's comment. The defaults take some 4 MB.
type Config struct {
	Address netip.Addr // of the local FEP

	// MTU is the payload bytes of a full packet: 1024, 2048, 4096 or 8192 (default 4096). A peer
	// with a smaller MTU refuses the first message on each PDC, sent again then in smaller packets.
	// The first packet of a read with header data has no room for the requested length: such reads
	// need a target with the same MTU.
	MTU uint32

	// PDS is delivery: timers, windows, acknowledgement. InferLoss is set unless CC.NSCC.Trimming is. For
	// BufferROD see [Endpoint.Replay]. Range is four times the packets on the path by CC.NSCC.LinkRate
	// and BaseRTT, at least 1024, or with an MTU below 4096 as many more for the same bytes, so one message
	// fills the path also while a lost packet is on the way again. BaseRTT, the base of the timers,
	// defaults to CC.NSCC.BaseRTT, and TargetQDelay to the target of CC.NSCC.Tuning.
	PDS pdc.Config

	// CC is congestion control. The default is safe on any network, maybe dropping, maybe marking: windows start
	// with two or three packets and follow [nscc.ProfileAdaptive], and losses are inferred. CC.NSCC.Trimming is for a
	// fabric whose switches trim, with the specification's parameters: windows start full ([nscc.ProfileSpec]), and
	// losses are not inferred. Of CC.NSCC set LinkRate (default 100 Gb/s) and BaseRTT (12 us): without Trimming the
	// first round trip takes the place of that guess, and windows find a faster link; receiver credit alone
	// does not. Leave the Profile to Trimming, and the MTU, derived from
	// Config.MTU: with a smaller MTU each full packet may exceed the window by the difference.
	// BaseRTT is for a full packet on the longest path when idle, with the packet's time on the
	// links: Path.BaseRTT of package hw/link, plus the time of the software at both ends. Where software takes
	// packets in at a fixed grid, set CC.NSCC.HostDelay to the grid: on a path of 12 us an event loop of 60 us
	// sends 2 % of the link's rate without, since the wait looks like a queue, and 97 % with HostDelay.
	CC ccc.Config

	// Algorithm, if not nil, gives each new congestion control context a user's algorithm, or none
	// for nil: before the first packet to a peer goes, be it data or the answer to a read. The
	// algorithm runs beside CC.Control's, or alone with [ccc.ControlNone].
	// [ccc.Manager.SetAlgorithm] changes algorithms later.
	Algorithm func(ccc.Key) ccc.Algorithm

	// PDCs is the PDCIDs (default: 1024 in the general pool, 2 s of quarantine). An Endpoint adds as many
	// as in the general pool, up to 64, for second PDCs to a peer, see [Destination].
	PDCs    pdc.TableConfig
	Memory  pdc.MemoryConfig
	Waiting int // most messages waiting for a PDC of each pool, up to 65,535 (default 64)

	// RUDI is the most RUDI packets outstanding, up to 65,535 (default 1024). Beyond the first 256, up to 768 are for
	// packets that have timed out and whose peer is silent. Of the rest peers that answer have at most 7 of 8, all others
	// 3 of 4, and one of those half. Fewer are on their way where many are lost.
	RUDI int

	// Contexts is the most congestion control contexts for messages, one for each peer and traffic
	// class with PDCs, up to 65,535 (default 256); answers have one more. A message to a further
	// peer waits as for a PDC. So does the read of the rest of a rendezvous send, in need of a
	// separate context where AnswerTC is not the class of messages; if no context is free, both
	// ends are told of a failed send.
	Contexts int

	// Messages is the most local messages in progress, up to 65,534 (default 1024). Messages
	// started on behalf of peers' rendezvous and deferrable sends have a quarter as many separate
	// places.
	Messages int

	// Answers is the most reads and fetching atomics of peers, counted in packets, waiting for
	// answers at once, up to 65,535 (default 2048 and twice PDS.Range, so 4096 with the default MTU). A PDC
	// gets one more only while more are free than the PDC has, so a single PDC may have half: a whole window,
	// and answers whose acknowledgement is on the way. Peers learn for how many packets there is room from
	// refusals, and those for which none is left get an answer in turn.
	Answers int

	// Target bounds the peers' use of resources (default: 1 process with 16 indices, 16
	// regions, 16 receive buffers, 1024 messages and 1024 pending sends). Target's MTU is filled
	// in.
	Target ses.TargetConfig

	// Receiver is the scheduler of receiver credit, in use where CC.Control has RCCC. Credit
	// goes out in CREDIT packets; each ACK_CC repeats it (CC_CREDIT), unless NSCC runs, too, whose
	// state the ACK_CC then has. Zero fields: Senders is Contexts, Rate is CC.NSCC.LinkRate, or eight times a
	// guess where NSCC finds the rate, MaxCredit and MaxDemand come from CC.RCCC, Timeout is 8 round trips
	// (CC.RCCC.RTT, else CC.NSCC.BaseRTT) and at least 1 ms, Policy is a [rccc.NewPullPolicy]. An address gets one more
	// sender only while more are free than the address has. In idle time the PullPolicy gives each
	// sender up to MaxCredit unasked, with a packet for each Grant, except with NoIdleCredit.
	Receiver rccc.ReceiverConfig

	// Penalty is the rcv_cwnd_pend of acknowledgements while bytes wait on the way into the memory
	// of this host, see [Endpoint.SetBacklog] (High 0: none). HostLimits is how receiver
	// credit slows meanwhile (default: [rccc.DefaultHostLimits]).
	Penalty    hbm.PolicyConfig
	HostLimits rccc.HostLimits

	// Retries is how often a message is sent again that found no match, and how often one that
	// named an old generation, at most 50 (default 5). Backoff is the wait before the first retry
	// of an unmatched message, ns, doubled by each further retry (default 50 ms).
	Retries int
	Backoff int64

	// SwapBoth has the request_length of a compare and swap count both operands in full, 32 bytes,
	// as the reference provider does, and otherwise a single operand. A target takes both forms.
	SwapBoth bool

	// MessageTimeout is the time a local message may stand still, ns, up to 2^60: a message with
	// nothing sent, acknowledged, read or tried again ends after MessageTimeout to 1.5
	// MessageTimeout, with [pdc.CauseMessageTimeout], or [pdc.CauseNoCredit] when waiting for
	// credit; other messages standing still on the same PDC end, too. A deferrable send whose peer
	// posts no buffer stands still (default: 60 s).
	MessageTimeout int64

	// Tap, if not nil, is shown each packet: those that come before they are looked at, then those
	// that have to be sent, in the order of their batch; sent says which. What [Endpoint.Refuse] and
	// [Endpoint.Fail] write again is shown again. The datagram is the caller's: nothing of it may
	// be kept or changed. Without a Tap no packet costs an instruction more.
	Tap func(now int64, sent bool, d Datagram)

	ControlTC uint8 // traffic class of acknowledgements and control packets, except probes for losses
	AnswerTC  uint8 // of packets sent on peers' behalf: data of RUD and ROD reads, reads of rendezvous, ready to restart

	// Seed is the seed of PDCIDs, Start_PSNs, hashes and the choice of paths. 0, for every network,
	// draws a seed from crypto/rand. Other values ask for determinism, in simulations and tests:
	// equal inputs then give equal packets, so peers take the first packets of a restarted endpoint
	// for packets of the former life, and acknowledge without delivery.
	Seed uint64

	Now int64 // the first time, ns: all times are 0 or more and below 2^62
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
	n := &c.CC.NSCC
	if n.Trimming {
		n.Profile = cmp.Or(n.Profile, nscc.ProfileSpec)
	} else {
		n.Profile = cmp.Or(n.Profile, nscc.ProfileAdaptive)
		n.Unmeasured, n.Unrated = n.Unmeasured || n.BaseRTT == 0, n.Unrated || n.LinkRate == 0
		c.PDS.InferLoss = true
	}
	n.MTU = cmp.Or(n.MTU, c.overhead()+ses.StandardLen+int64(c.MTU))
	n.LinkRate = cmp.Or(n.LinkRate, 100e9/8)
	n.BaseRTT = cmp.Or(n.BaseRTT, 12_000)
	n.AckTrigger = cmp.Or(n.AckTrigger, c.PDS.AckTrigger)
	c.PDS.BaseRTT = cmp.Or(c.PDS.BaseRTT, n.BaseRTT)
	c.PDS.Range = cmp.Or(c.PDS.Range, c.reach())
	c.Answers = cmp.Or(c.Answers, min(2048+2*min(max(c.PDS.Range, 1), pdc.MaxRange), 65535)) // Range is not checked yet
	c.PDS.TargetQDelay = cmp.Or(c.PDS.TargetQDelay, n.Tuning.TargetQdelay)
	c.Target.MTU = c.MTU
	c.PDCs.Seed = cmp.Or(c.PDCs.Seed, c.seedFor(seedIDs))
	c.Target.Seed = cmp.Or(c.Target.Seed, c.seedFor(seedTarget))
}

// reach is the default limit of packets under way on a PDC: four times the packets on the path, since the
// window stands for two round trips and more where a packet is lost. The limit is no less than the
// specification's default, with a small MTU for the same bytes, and no more than can be announced.
func (c *Config) reach() int {
	n := &c.CC.NSCC
	packets := 4 * float64(n.LinkRate) * float64(n.BaseRTT) / 1e9 / float64(c.MTU)
	return int(min(max(packets, 1024*max(4096/float64(c.MTU), 1)), pdc.MaxRange))
}

// besidesMost is the most PDCs beside first PDCs, see parts: few peers have messages of both kinds at the same time.
const besidesMost = 64

// maxMessages is the most messages of an endpoint, errands included.
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

// NewEndpoint validates c and allocates all memory of the endpoint. The error wraps
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

// join connects the parts of e, and gives each the settings from c.
func (e *Endpoint) join(c *Config) {
	s, x, l := &e.source, &e.recv, &e.loader
	s.pds, s.target, s.credit, s.flows, s.stats, s.local, s.mtu = e.pds, e.target, e.credit, e.flows, &e.stats, e.local, e.mtu
	s.key, s.answerTC, s.lendTag = pdc.InitiatorKey{Source: c.Address}, c.AnswerTC, c.seedFor(seedLentRegions)>>32
	x.pds, x.target, x.credit, x.flows, x.stats, x.mtu, x.source = e.pds, e.target, e.credit, e.flows, &e.stats, e.mtu, s
	x.controlTC, x.tells = c.ControlTC, e.credit != nil || x.backlog.on
	l.pds, l.cc, l.target, l.flows, l.source, l.credit = e.pds, e.cc, e.target, e.flows, s, e.credit
}

// newSES makes the semantic half of e with all resources.
func (e *Endpoint) newSES(c *Config) (err error) {
	if e.target, err = msg.NewTarget(c.Target); err != nil {
		return err
	}
	messages := c.Messages + c.errands()
	e.source.sender, err = msg.NewInitiator(msg.InitiatorConfig{
		MTU: c.MTU, Messages: messages, Retries: c.Retries, Backoff: c.Backoff, SwapBoth: c.SwapBoth,
	})
	if err != nil {
		return err
	}
	e.source.unanswered = slab.Make[asked](messages)
	e.source.messages, e.source.errandRoom = slab.Make[message](messages), c.errands()
	e.source.retries = timerwheel.New(messages, 1024, c.Now)
	e.source.hand = hand{seen: slab.Make[standing](messages), every: max(c.MessageTimeout/handLooks, 1)}
	e.source.fetching, e.source.reading = list.Make[uint16](messages), list.Make[uint16](messages)
	e.source.queued = list.Make[uint16](messages)
	all := messages + c.Target.Messages
	ends := fifo.Make[completion](all + all/2)
	e.source.events = completions{ends, ends.Free() - all}
	return nil
}

// newPDS makes the delivery half of e with all resources.
func (e *Endpoint) newPDS(c *Config) error {
	cp, err := ccc.NewParams(c.CC)
	if err != nil {
		return err
	}
	p, err := engine.NewParams(c.PDS)
	if err != nil {
		return err
	}
	e.recv.ackData, e.replyMax = uint32(p.MaxAckData()), max(HeaderMax, p.ReplyMax())
	ids := c.PDCs.General + c.PDCs.Reserved
	besides := min(c.PDCs.General, besidesMost, pdc.MaxPDCs-ids)
	table, err := engine.NewTableBeside(c.PDCs, besides)
	if err != nil {
		return err
	}
	e.source.answers.init(c.Answers, ids+besides, p.NackRetxTime())
	if err := e.newCC(c, &cp, ids+besides); err != nil {
		return err
	}
	_, contexts := e.contexts.Stats()
	e.pds, err = engine.NewManager(engine.ManagerConfig{
		Params: &p, Table: table, CC: e.cc, Contexts: e.contexts, Algorithm: c.Algorithm,
		Spare: contexts - c.Contexts, TargetTC: c.AnswerTC, Memory: c.Memory,
		Awaited: func(h pdc.Handle) bool { return e.target.Awaited(uint64(h)) },
		Waiting: c.Waiting, RUDI: c.RUDI, Seed: c.seedFor(seedPSNs), Now: c.Now,
	})
	if err != nil {
		return err
	}
	all := ids + besides + 1
	e.flows, e.source.leads, e.source.asking = slab.Make[flow](all), slab.Make[lead](all), slab.Make[asking](all)
	e.source.starving = list.Make[uint16](all)
	if ids < scattered || !prefetch.Enabled {
		e.loader.prefetched, e.loader.requested = math.MaxInt, math.MaxInt
	}
	e.source.submitAhead = int16(min(max(submitLeast*e.pds.FreeChunks()/(4*ids), submitLeast), submitMost))
	return nil
}

// newCC makes congestion control for so many PDCs.
func (e *Endpoint) newCC(c *Config, p *ccc.Params, pdcs int) (err error) {
	if e.credit, err = newCreditor(c, p, pdcs); err != nil {
		return err
	}
	b := &e.recv.backlog
	if b.limits, b.on = c.HostLimits, c.Penalty.High != 0; b.on {
		if b.policy, err = hbm.NewPolicy(c.Penalty); err != nil {
			return err
		}
	}
	e.source.overhead = c.overhead()
	contexts := min(c.Contexts+1, ccc.MaxContexts)  // one for answers
	inbox := min(1<<bits.Len(uint(contexts)), 1024) // all that comes are calls of Refresh
	e.cc, err = ccc.NewManager(ccc.ManagerConfig{
		Params: p, Contexts: contexts + 1, PDCs: pdcs + 1, Algorithms: c.Algorithm != nil, Inbox: inbox, Seed: c.seedFor(seedPaths), Now: c.Now,
	})
	if err != nil {
		return err
	}
	e.contexts, err = ccc.NewTable(contexts, c.credits(), c.seedFor(seedContexts))
	return err
}

// A seedUse is a part of an endpoint with a separate seed.
type seedUse uint8

const (
	seedIDs         seedUse = iota // PDCIDs, and the hashes of their table
	seedTarget                     // hashes of the target
	_                              // free: the other values stay, and recorded runs, too
	seedPaths                      // entropy of the contexts
	seedContexts                   // hashes of the table of contexts
	seedPSNs                       // Start_PSNs and probes
	seedCredit                     // hashes of peers asking for credit
	seedLentRegions                // keys of lent regions
)

// seedFor returns the seed of a part, never 0. Peers see numbers derived from some seeds,
// such as paths, and can work those seeds out; no other seed may follow.
func (c *Config) seedFor(u seedUse) uint64 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], c.Seed)
	key[8] = byte(u)
	return max(rand.NewChaCha8(key).Uint64(), 1)
}
