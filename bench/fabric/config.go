// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ccc/baseline"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// ErrConfig is wrapped by the errors of [Run], except errors of configured packages.
var ErrConfig = errors.New("fabric: invalid configuration")

// Rules says whose reading of the specification a run follows.
type Rules uint8

// The rules.
const (
	// RulesSpec: windows and queues of UE Specification 1.0.x. Every port has thresholds from
	// its own Plane_BDP (link rate times BaseRTT). SlowLinks are the first uplinks of tier 1,
	// with two tiers of the leaves, in both directions.
	RulesSpec Rules = iota
	// RulesHTSim: as in the simulator htsim, to compare results. All ports share the thresholds
	// of the host links, rounded up to whole packets, including the packet being sent; a full
	// queue tosses a coin for the victim; trimmed packets go strictly first. SlowLinks are
	// htsim's option -failed: with three tiers only the ways down to the first switches of tier
	// 1, with two the links of every leaf to the first spines.
	//
	// Credit is asked for when a packet times out, and by no separate timer: with the target of the
	// last data packet, whatever waits by then. Without trimming a source with a window asks
	// without receiver credits too, and a request takes a PSN: it is acknowledged, timed, and
	// sent again if lost, so a window can grow again a round trip after a timeout.
	//
	// Not copied: a receiver there lists a satisfied sender among the idle ones again each time
	// the demand is met without a look for the sender there (_idle_senders of uec.cpp), a
	// defect: the sender's share of unasked credit grows without bound, and where the fabric is
	// the bottleneck more is lost. With the duplicates taken out htsim has the completion times
	// of RulesHTSim (mean within 1 %; NSCC alone without trimming within 2 %; with eight slow links of
	// 1,024 hosts and queues of 500 packets 2.5 %, the cause unknown). Queue sizes of a
	// topology file are ignored there, hosts send at the rate of an option, a transfer starts at a
	// whole microsecond, and recv_done_trigger starts only messages.
	RulesHTSim
)

var ruleNames = [...]string{"spec", "htsim"}

// String names the rules.
func (r Rules) String() string { return enum.Name(ruleNames[:], r) }

// NodeKind is the kind of node at the hosts of a run.
type NodeKind uint8

// The kinds.
const (
	// NodeLight is a transport of the simulator's own around real congestion control contexts:
	// some hundred bytes a connection, for very large runs and for [RulesHTSim].
	NodeLight NodeKind = iota
	// NodeEndpoint is an [uetcc.Endpoint]: with its own packets, timers, and memory.
	NodeEndpoint
)

var nodeNames = [...]string{"light", "endpoint"}

// String names the kind.
func (k NodeKind) String() string { return enum.Name(nodeNames[:], k) }

// MaxAckBytes is the largest AckBytes: that of an endpoint, or of a window's count.
func (k NodeKind) MaxAckBytes() int64 {
	if k == NodeEndpoint {
		return 32 << 10
	}
	return nscc.MaxWindow
}

// Config is everything a run depends on. Only Matrix has no default, or Application.
type Config struct {
	Node   NodeKind
	Matrix *Matrix

	Application *Application // what the hosts do, in place of Matrix

	// Endpoint, with [NodeEndpoint], changes the configuration of a host's endpoint, preset with
	// Address, ControlTC, Seed, Target and values derived from the fields below; nil: not.
	Endpoint func(host int, c *uetcc.Config)

	Queue     *Queue    // of all ports; nil: by Rules
	TrimBytes int64     // that are left of a trimmed packet on the wire; 0: [HeaderBytes]
	HostQueue HostQueue // what a host sends first
	Routing   Routing   // how switches choose between links
	Faults    []Fault   // what goes wrong when
	Reroute   link.Ps   // how long after a link went down, or came back, all switches know; 0: for ever
	Loss      float64   // probability that a packet is lost before it reaches its host
	Reorder   float64   // probability that it comes later by half of BaseRTT

	Topology      *Topology // nil: [FatTree] of Matrix.Nodes, or [LeafSpine] if Tiers is 2
	Tiers         int       // of the default topology, 2 or 3; 0: 3
	Rate          int64     // bits a second of its links; 0: 100 Gb/s
	Hop           link.Ps   // latency of each; 0: 1 us
	SwitchLatency link.Ps   // of each of its switches
	NICLatency    link.Ps   // between a host and its link, in each direction, in any topology

	Seed  uint64
	Rules Rules

	Mode        ccc.Mode          // [ccc.ModeOff] is a run without congestion control
	Control     ccc.Control       // which algorithms; with receiver credits last hops never mark
	Entropy     ccc.EntropyConfig // Values 0: 64
	BaseRTT     link.Ps           // config_base_rtt; 0: that of the idle topology
	InitialCwnd int64             // bytes; 0: MaxWnd
	FirstCredit int64             // bytes sent before any credit was granted; 0: MaxWnd
	Tuning      nscc.Tuning       // of every window; times are nanoseconds
	EQDS        bool              // [baseline.EQDS] in place of Control and FirstCredit
	AckBytes    int64             // received bytes that cause an acknowledgement; 0: 16,384

	// PairRTT has each window begin with the base round trip of the window's two hosts instead
	// of the longest, with [NodeLight]; endpoints learn round trips.
	PairRTT bool

	// NoNackRTT keeps refusals from lowering the base round trip of a window, with [NodeLight].
	NoNackRTT bool

	// NoFabricRate lets receivers grant credit at the link's full rate where the fabric is
	// oversubscribed and no window reacts to it, with [NodeLight].
	NoFabricRate bool

	// InferLoss has senders conclude losses from later arrivals, as htsim's SLEEK does, with
	// [NodeLight]; endpoints always do.
	InferLoss bool

	// Algorithm, if not nil, gives each connection a user's congestion control, nil for none,
	// beside Control, or alone with [ccc.ControlNone].
	Algorithm func(src, dst int) ccc.Algorithm

	NoTrim bool // switches drop instead of trimming
	NoECN  bool // switches never mark

	// PacketBytes is the largest packet on the wire, headers included. An endpoint's carries 1,024, 2,048,
	// 4,096 or 8,192 bytes beside 104 of headers, the most that fit, and 4 more of a credit target. 0: 4,200,
	// with NodeLight 4,150, of them [HeaderBytes] of headers.
	PacketBytes int64
	MaxPSNRange int // packets between the oldest unacknowledged and the newest; 0: by the window

	SlowLinks int                // that run at a quarter of their rate, see [Rules]
	PFC       *switchq.PFCConfig // pauses between switches and towards hosts; implies no trimming and no drops

	Memory *Memory // behind one host; nil: every memory takes at once what arrives

	End      link.Ps        // simulated time at which to stop; 0: 100 s
	Progress func(Progress) // called now and then; nil: not
	Stop     func() bool    // asked as often; true ends the run there; nil: not
	Seen     func(*Seen)    // called for each packet that reaches a host, with [NodeLight]; nil: not

	// Workers is the number of goroutines that simulate the run; 0: 1. The result is the same
	// for any number. With more than one the algorithms of a host are called by one goroutine at
	// a time, algorithms of different hosts at once. All other functions here are called by
	// Run's goroutine.
	Workers int

	Held bool // [TransferResult] says how long data waited, and for what

	Series *SeriesConfig // what of the run is sampled over time; nil: nothing

	// Frame is called for each packet that reaches a host, with [NodeEndpoint]; nil: not. A packet cut
	// by a switch, as shown by the DSCP, has the bytes as sent.
	Frame func(now link.Ps, host int, f *Frame)

	Watch Watcher // is told of all packets and ports, of either kind of node; nil: nobody

	// Context is called after each event of a connection's congestion control, with the new
	// state; nil: not.
	Context func(*ContextState)

	degree []degree // by host
	parts  uint32   // to divide the run into, at most; 0: by the size of the fabric
}

// HeaderBytes is the header of a data packet, and the whole of an acknowledgement or of a
// trimmed packet, as in htsim.
const HeaderBytes = 64

// ackBytes is the default of Config.AckBytes.
const ackBytes = 16_384

// Progress tells how far a run has come.
type Progress struct {
	Now             link.Ps
	Events          int64
	Done, Transfers int // finished ones, and all

	Delivered, Packets int64 // of data: that arrived whole, each once, and that all transfers have
}

func (c *Config) fill() error {
	if err := c.fillApplication(); err != nil {
		return err
	}
	if c.Node == NodeLight && c.Application == nil && (c.Matrix == nil || len(c.Matrix.Flows) == 0) {
		return fmt.Errorf("%w: no transfers to simulate", ErrConfig)
	}
	c.Rate = cmp.Or(c.Rate, 100e9)
	c.Hop = cmp.Or(c.Hop, link.Microsecond)
	if c.EQDS {
		c.Control = ccc.ControlRCCC
	}
	if err := c.fillPacket(); err != nil {
		return err
	}
	c.End = cmp.Or(c.End, 100*link.Second)
	c.Entropy.Values = cmp.Or(c.Entropy.Values, 64)
	c.AckBytes = cmp.Or(c.AckBytes, ackBytes)
	c.TrimBytes = cmp.Or(c.TrimBytes, HeaderBytes)
	if c.Topology == nil {
		c.Topology = c.defaultTopology()
	}
	c.NoTrim = c.NoTrim || c.PFC != nil
	return c.check()
}

// fillPacket makes PacketBytes what a full packet has: an endpoint's carries one of the MTUs, powers
// of two from page on, the largest that fits without a credit target.
func (c *Config) fillPacket() error {
	c.PacketBytes = cmp.Or(c.PacketBytes, c.defaultPacket())
	if c.Node == NodeLight {
		return check.Range(ErrConfig, "PacketBytes", c.PacketBytes, HeaderBytes+1, maxPacket)
	}
	if err := check.Range(ErrConfig, "PacketBytes of an endpoint", c.PacketBytes, page+endpointHeader, maxPacket); err != nil {
		return err
	}
	mtu := int64(8192)
	for mtu > c.PacketBytes-endpointHeader {
		mtu /= 2
	}
	c.PacketBytes = mtu + c.header()
	return nil
}

func (c *Config) defaultTopology() *Topology {
	shape := FatTree
	if c.Tiers == 2 {
		shape = LeafSpine
	}
	t := shape(c.Matrix.Nodes, c.Rate, c.Hop)
	for i := range t.Tiers {
		t.Tiers[i].SwitchLatency = c.SwitchLatency
	}
	return t
}

// maxPacket is the largest PacketBytes; sizes have 16 bits here.
const maxPacket = 1 << 15

func (c *Config) check() error {
	if err := c.Topology.Validate(); err != nil {
		return fmt.Errorf("%w: topology: %w", ErrConfig, err)
	}
	if c.Node == NodeEndpoint && c.Rules == RulesHTSim {
		return fmt.Errorf("%w: Rules %v are those of Node %v", ErrConfig, c.Rules, NodeLight)
	}
	if c.Node == NodeEndpoint && (c.PairRTT || c.InferLoss || c.NoNackRTT || c.NoFabricRate) {
		return fmt.Errorf("%w: PairRTT, InferLoss, NoNackRTT and NoFabricRate are those of Node %v", ErrConfig, NodeLight)
	}
	if c.InferLoss && c.Control != ccc.ControlNSCC && c.Control != ccc.ControlBoth {
		return fmt.Errorf("%w: InferLoss looks at windows, Control %v has none", ErrConfig, c.Control)
	}
	if c.Control == ccc.ControlNone && c.Algorithm == nil {
		return fmt.Errorf("%w: Control %v without an Algorithm: use Mode %v", ErrConfig, c.Control, ccc.ModeOff)
	}
	err := cmp.Or(
		check.Range(ErrConfig, "Matrix.Nodes", c.Matrix.Nodes, 0, c.Topology.Nodes),
		check.AtLeast(ErrConfig, "InitialCwnd", c.InitialCwnd, 0),
		check.AtLeast(ErrConfig, "FirstCredit", c.FirstCredit, 0),
		check.AtLeast(ErrConfig, "MaxPSNRange", c.MaxPSNRange, 0),
		check.AtLeast(ErrConfig, "SlowLinks", c.SlowLinks, 0),
		check.AtLeast(ErrConfig, "Hop", c.Hop, 0),
		check.Range(ErrConfig, "SwitchLatency", c.SwitchLatency, 0, link.Second),
		check.Range(ErrConfig, "NICLatency", c.NICLatency, 0, link.Second),
		check.Range(ErrConfig, "Tiers", cmp.Or(c.Tiers, 3), 2, 3),
		check.AtLeast(ErrConfig, "Workers", c.Workers, 0),
		check.Range(ErrConfig, "Loss", c.Loss, 0, 1),
		check.Range(ErrConfig, "HostQueue", c.HostQueue, 0, HostPriority),
		check.Range(ErrConfig, "Routing", c.Routing, 0, RoutingRoundRobin),
		check.Range(ErrConfig, "Reroute", c.Reroute, 0, link.Second),
		check.Range(ErrConfig, "Reorder", c.Reorder, 0, 1),
		check.AtLeast(ErrConfig, "End", c.End, 0),
		check.Range(ErrConfig, "BaseRTT", c.BaseRTT, 0, link.Second),
		check.Range(ErrConfig, "TrimBytes", c.TrimBytes, HeaderBytes, c.PacketBytes),
		check.Range(ErrConfig, "AckBytes", c.AckBytes, 1, c.Node.MaxAckBytes()),
		c.Queue.check(),
		c.Memory.check(c.Topology.Nodes),
		c.Series.check(),
	)
	if err != nil {
		return err
	}
	c.BaseRTT = cmp.Or(c.BaseRTT, c.Topology.BaseRTT(c.PacketBytes, HeaderBytes)+4*c.NICLatency)
	if c.EQDS {
		if _, err := rccc.NewPullPolicy(c.eqds()); err != nil {
			return fmt.Errorf("%w: EQDS: %w", ErrConfig, err)
		}
	}
	return c.checkPackets()
}

// checkPackets looks for connections with more packets than PSNs can be compared.
func (c *Config) checkPackets() error {
	byID := map[int64]int64{}
	for _, f := range c.Matrix.Flows {
		n := f.packets(c.payload())
		if f.Message {
			n += byID[f.ID]
			byID[f.ID] = n
		}
		if n >= 1<<31 {
			return fmt.Errorf("%w: %d packets in the connection of line %d, want less than %d",
				ErrConfig, n, f.Line, int64(1)<<31)
		}
	}
	return nil
}

// packets is the number of packets of f with so much payload each.
func (f *Flow) packets(payload int64) int64 { return (f.Size + payload - 1) / payload }

func (c *Config) payload() int64 { return c.PacketBytes - c.header() }

// pairRTT is the base round trip the window between two hosts begins with, ns; 0: BaseRTT.
func (c *Config) pairRTT(src, dst int) int64 {
	if !c.PairRTT {
		return 0
	}
	return (c.Topology.RTT(src, dst, c.PacketBytes, HeaderBytes) + 4*c.NICLatency).Nanoseconds()
}

// hostRate is the rate of the links to the hosts, bits a second.
func (c *Config) hostRate() int64 { return c.Topology.Tiers[0].DownRate }

// bdp is the bandwidth-delay product between two hosts.
func (c *Config) bdp() int64 { return link.BDP(c.hostRate(), c.hostRate(), c.BaseRTT) }

// contextParams are the parameters of every congestion control context of the run.
func (c *Config) contextParams() (ccc.Params, error) {
	n := nscc.Config{
		LinkRate:    c.hostRate() / 8,
		BaseRTT:     c.BaseRTT.Nanoseconds(),
		MTU:         c.PacketBytes,
		Trimming:    !c.NoTrim,
		InitialCwnd: c.InitialCwnd,
		AckTrigger:  c.AckBytes,
		Tuning:      c.Tuning,
	}
	if c.Rules == RulesHTSim {
		n.Profile = nscc.ProfileHTSim
	}
	all := ccc.Config{NSCC: n, RCCC: rccc.Config{InitialCredit: c.FirstCredit}, Entropy: c.Entropy, Control: c.Control, Mode: c.Mode}
	if c.EQDS {
		all, _ = baseline.EQDS(all, c.PacketBytes)
	}
	return ccc.NewParams(all)
}

// retransmitTimeout is htsim's least: 15 us and six full queues, each with the packet being
// sent. Pauses, and a slow memory, make packets wait for much longer than any queue.
func (c *Config) retransmitTimeout(limit int64) link.Ps {
	if c.PFC != nil || c.Memory != nil {
		return 10_000 * link.Microsecond
	}
	return 15*link.Microsecond + 6*link.Serialization(limit+c.PacketBytes, c.hostRate())
}

// psnRange is the most packets of a sender between the oldest unacknowledged and the newest: a
// power of two, four windows where a window limits the flight, and the packets sent while a
// packet is lost twice where only a timeout of rto tells.
func (c *Config) psnRange(rto link.Ps) uint32 {
	want := int64(c.MaxPSNRange)
	switch {
	case want > 0:
	case c.Mode == ccc.ModeEnforce && c.Algorithm == nil:
		want = 4 * max(link.MaxWindow(c.bdp()), c.InitialCwnd) / c.PacketBytes
		if c.NoTrim && c.PFC == nil && c.Memory == nil {
			want = max(want, 2*link.BDP(c.hostRate(), c.hostRate(), rto)/c.PacketBytes)
		}
	default:
		want = 1024
	}
	n := uint32(64)
	for int64(n) < want && n < 1<<16 {
		n *= 2
	}
	return n
}
