// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"maps"
	"reflect"

	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/nscc"
)

// A Result is the result of a run: everything needed for a repetition, and all
// events. A Result is the same for the same [Config].
type Result struct {
	Parameters Parameters       `json:"parameters"`
	Totals     Totals           `json:"totals"`
	FCT        Summary          `json:"fct_us"`               // of finished transfers, start to last acknowledgement
	Slowdown   Summary          `json:"slowdown"`             // of them, FCT over what it is alone in the idle fabric
	Sizes      []SizeResult     `json:"sizes"`                // the same by size, for each decade of bytes that there is
	JainIndex  float64          `json:"jain_index"`           // of bytes/fct over transfers that finished; 1: equal shares
	LowerBound float64          `json:"lower_bound_us"`       // no schedule can finish all transfers earlier
	SimTime    float64          `json:"sim_time_us"`          // last event
	Unfinished int              `json:"unfinished"`           // transfers
	Stopped    float64          `json:"stopped_us,omitempty"` // where End or Stop cut these off; 0: nothing was left to happen
	Transfers  []TransferResult `json:"transfers"`            // in the order of the matrix
	Queues     []QueueResult    `json:"queues"`               // ports at which something waited, by number
	Violations []string         `json:"violations,omitempty"` // of conservation; none in a sound run
	Uplinks    []UplinkResult   `json:"uplinks"`              // of the leaves, that something went over
	Pauses     []PauseResult    `json:"pfc_pauses,omitempty"` // ports that flow control stopped
	Faults     []FaultResult    `json:"faults,omitempty"`     // in the order of Config.Faults
	Memory     *MemoryResult    `json:"memory,omitempty"`     // of the host that has one
	Series     *Series          `json:"series,omitempty"`     // with Config.Series

	Application *ApplicationResult `json:"application,omitempty"` // of Config.Application
}

// Parameters are all inputs of a run after all defaults were filled in.
type Parameters struct {
	Nodes         int          `json:"nodes"`          // hosts of the topology
	Tiers         []Tier       `json:"tiers"`          // rates in bits a second, latencies in picoseconds
	PodSize       int          `json:"pod_size"`       // hosts
	Forwarding    string       `json:"forwarding"`     // how switches pass packets on
	Connections   int          `json:"connections"`    //
	Seed          uint64       `json:"seed"`           //
	Node          string       `json:"node"`           // light or endpoint
	Rules         string       `json:"rules"`          // spec or htsim
	Control       string       `json:"control"`        // algorithms
	Mode          string       `json:"mode"`           // enforce, observe or off
	Entropy       string       `json:"entropy"`        // scheme
	EntropyValues int          `json:"entropy_values"` // per connection
	BaseRTT       float64      `json:"base_rtt_us"`    // config_base_rtt
	BDP           int64        `json:"bdp_bytes"`      // between two hosts
	MaxWnd        int64        `json:"max_wnd_bytes"`
	InitialCwnd   int64        `json:"initial_cwnd_bytes"`
	FirstCredit   int64        `json:"first_credit_bytes,omitempty"` // where receivers grant credit
	TargetQdelay  float64      `json:"target_qdelay_us"`
	Trim          bool         `json:"trim"`
	ECN           bool         `json:"ecn"`
	PacketBytes   int64        `json:"packet_bytes"`
	HeaderBytes   int64        `json:"header_bytes"`
	AckBytes      int64        `json:"ack_bytes"`
	PSNRange      int64        `json:"psn_range,omitempty"` // packets; none: the endpoints' own
	RTO           float64      `json:"rto_us"`
	LastHopECNMin int64        `json:"last_hop_ecn_min_bytes"`
	LastHopECNMax int64        `json:"last_hop_ecn_max_bytes"`
	ECNMin        int64        `json:"ecn_min_bytes"` // of the first leaf's uplinks
	ECNMax        int64        `json:"ecn_max_bytes"`
	QueueLimit    int64        `json:"queue_limit_bytes"`
	LastHopLimit  int64        `json:"last_hop_limit_bytes"`
	TrimBytes     int64        `json:"trim_bytes"`       // what is left of a trimmed packet
	NICLatency    float64      `json:"nic_latency_us"`   // in each direction
	PairRTT       bool         `json:"pair_rtt"`         // windows begin with that of their own hosts
	InferLoss     bool         `json:"infer_loss"`       // from what has overtaken a packet
	Tuning        *nscc.Tuning `json:"tuning,omitempty"` // what of NSCC is not derived; times in ns
	Routing       string       `json:"routing"`
	HostQueue     string       `json:"host_queue"`
	NackRTT       bool         `json:"nack_rtt"`             // refusals lower the base round trip
	Reroute       float64      `json:"reroute_us,omitempty"` // after which switches know of dead links; 0: never
	SlowLinks     int          `json:"slow_links"`
	DeadLinks     int          `json:"dead_links"`
	PFCXOff       int64        `json:"pfc_xoff_bytes,omitempty"`
	PFCXOn        int64        `json:"pfc_xon_bytes,omitempty"`
	PFCPauseNs    int64        `json:"pfc_pause_ns,omitempty"`
}

// Totals count packets over the whole run.
//
//	New + Retransmitted = Delivered + HeadersDelivered + DataDropped + HeadersDropped
//	Answers             = Acks + Nacks + AnswersDropped
//	Credits + CreditRequests = CreditsArrived + CreditsDropped
//	Probes              = ProbesArrived + ProbesDropped
type Totals struct {
	New              int64 `json:"new"`               // data sent for the first time
	Retransmitted    int64 `json:"retransmitted"`     // data sent again
	Delivered        int64 `json:"delivered"`         // data that arrived whole
	DeliveredMarked  int64 `json:"delivered_marked"`  // of these, with CE
	Duplicates       int64 `json:"duplicates"`        // of these, a second time
	HeadersDelivered int64 `json:"headers_delivered"` // data that arrived trimmed
	DataDropped      int64 `json:"data_dropped"`
	HeadersDropped   int64 `json:"headers_dropped"` // trimmed, and then dropped
	Answers          int64 `json:"answers"`         // acknowledgements and refusals sent
	Acks             int64 `json:"acks"`            // acknowledgements that arrived
	Nacks            int64 `json:"nacks"`           // refusals that arrived
	AnswersDropped   int64 `json:"answers_dropped"`
	Credits          int64 `json:"credits"`          // credit messages sent
	CreditRequests   int64 `json:"credit_requests"`  // sent
	CreditsArrived   int64 `json:"credits_arrived"`  // and requests
	CreditsDropped   int64 `json:"credits_dropped"`  // and requests
	Probes           int64 `json:"probes,omitempty"` // sent, with Config.InferLoss
	ProbesArrived    int64 `json:"probes_arrived,omitempty"`
	ProbesDropped    int64 `json:"probes_dropped,omitempty"`
	Inferred         int64 `json:"inferred,omitempty"` // packets taken for lost since others had overtaken them
	Lost             int64 `json:"lost,omitempty"`     // of all that were dropped, by Config.Loss
	Timeouts         int64 `json:"timeouts"`           // packets taken for lost
	Trimmed          int64 `json:"trimmed"`            // by all switches
	Marked           int64 `json:"marked"`             // by all switches
	Events           int64 `json:"events"`             // of the simulator
}

// A TransferResult is one line of the matrix. Times are microseconds of the run,
// -1 for events that did not happen.
type TransferResult struct {
	Src        int     `json:"src"`
	Dst        int     `json:"dst"`
	Bytes      int64   `json:"bytes"` // payload
	Connection int     `json:"connection"`
	Start      float64 `json:"start_us"`
	Arrived    float64 `json:"arrived_us"`  // last byte at the destination
	Finished   float64 `json:"finished_us"` // last acknowledgement at the source
	Marked     int64   `json:"marked"`      // packets of its connection that arrived with CE
	FCT        float64 `json:"fct_us"`      // Finished - Start
	Ideal      float64 `json:"ideal_us"`    // what that is alone in the idle fabric, with headers of [HeaderBytes] back
	Slowdown   float64 `json:"slowdown"`    // FCT over Ideal

	// Held, with Config.Held, is the time data of the connection (of endpoints:
	// of all transfers between the two hosts) waited, us, by [ccc.Reason].
	Held map[string]float64 `json:"held_us,omitempty"`
}

// A QueueResult is a port of a switch.
type QueueResult struct {
	Port    uint32 `json:"port"`
	Name    string `json:"name"`
	LastHop bool   `json:"last_hop"`
	Packets int64  `json:"packets"` // that came, waiting or not
	Bytes   int64  `json:"bytes"`
	Peak    int64  `json:"peak_bytes"` // most data that ever waited behind the packet being sent
	Marked  int64  `json:"marked"`
	Trimmed int64  `json:"trimmed"`
	Dropped int64  `json:"dropped"`

	FirstTrim float64 `json:"first_trim_us"` // time of the first trim or drop; -1: none
}

// An UplinkResult is the load balancing of a link above a leaf.
type UplinkResult struct {
	Leaf        int   `json:"leaf"`
	Link        int   `json:"link"`
	Packets     int64 `json:"packets"`      // of data and answers
	DataPackets int64 `json:"data_packets"` // of data, trimmed or not
}

// A FaultResult is the cost of a fault.
type FaultResult struct {
	Fault    string  `json:"fault"` // as ParseFault reads it
	From     float64 `json:"from_us"`
	Until    float64 `json:"until_us"`    // 0: for ever
	Lost     int64   `json:"lost"`        // packets
	LostData int64   `json:"lost_data"`   // of these, packets of data
	Recovery float64 `json:"recovery_us"` // from its begin to the last packet of data that it took; 0: it took none
}

// A PauseResult is a port stopped by priority flow control.
type PauseResult struct {
	Port   uint32  `json:"port"`
	Name   string  `json:"name"`
	Kind   string  `json:"kind"` // tiers that it connects, such as "leaf to spine"
	Pauses int64   `json:"pauses"`
	Time   float64 `json:"time_us"` // from a pause to the resume that ended it
}

// An outcome says what has become of a run.
type outcome struct{ *sim }

func (s *sim) result() *Result {
	for _, p := range s.parts[1:] {
		maps.Copy(s.lost, p.lost)
		maps.Copy(s.trims, p.trims)
	}
	o := outcome{s}
	r := &Result{Parameters: o.parameters(), Totals: s.total(), SimTime: us(s.latest()), LowerBound: us(int64(lowerBound(&s.cfg)))}
	o.queueResults(r)
	o.transferResults(r)
	if r.Unfinished > 0 {
		r.Stopped = us(s.stopped)
	}
	o.pauseResults(r)
	o.uplinkResults(r)
	if s.outages != nil {
		r.Faults = o.faultResults()
	}
	if s.mem != nil {
		r.Memory = o.memoryResult()
	}
	if s.series != nil {
		r.Series = s.series.result()
	}
	if s.app != nil {
		r.Application = s.app.result()
	}
	if s.world != nil {
		r.Totals.Timeouts = s.world.timeouts()
	}
	r.Violations = o.violations(r)
	return r
}

// total sums the counts of all parts.
func (s *sim) total() Totals {
	t := s.count
	sum := reflect.ValueOf(&t).Elem()
	for _, p := range s.parts[1:] {
		v := reflect.ValueOf(&p.count).Elem()
		for i := range v.NumField() {
			sum.Field(i).SetInt(sum.Field(i).Int() + v.Field(i).Int())
		}
	}
	return t
}

// latest is the time of the last event of all parts, ps.
func (s *sim) latest() (now int64) {
	for _, p := range s.parts {
		now = max(now, p.now)
	}
	if s.foretold {
		now = max(now, s.app.at)
	}
	return now
}

// finished is the number of finished transfers, in all parts.
func (s *sim) finished() (n int) {
	for _, p := range s.parts {
		n += p.done
	}
	return n
}

// underway is the number of packets under way, in all parts and between parts.
func (s *sim) underway() (n int) {
	if s.crew == nil || s.crew.together {
		return s.pool.live()
	}
	for _, p := range s.parts {
		n += p.pool.live()
		for _, from := range p.inbound {
			n += len(s.parts[from].outs[s.crew.parity][p.part].loads)
		}
	}
	return n
}

func (s outcome) parameters() Parameters {
	c, k := &s.cfg, s.params.NSCC().Constants()
	port, last := s.uplinkQueue(), s.lastHopQueue()
	p := Parameters{
		Nodes: c.Topology.Nodes, Tiers: c.Topology.Tiers, PodSize: c.Topology.podSize(), Forwarding: "store and forward",
		Connections: s.connections(), Seed: c.Seed,
		Node: c.Node.String(), Rules: c.Rules.String(), Control: c.Control.String(), Mode: c.Mode.String(),
		Entropy: c.Entropy.Scheme.String(), EntropyValues: c.Entropy.Values,
		BaseRTT: us(int64(c.BaseRTT)), BDP: k.BDP, MaxWnd: k.MaxWnd, InitialCwnd: k.InitialCwnd,
		TargetQdelay: us(k.TargetQdelay * 1000),
		Trim:         !c.NoTrim, ECN: !c.NoECN, PacketBytes: c.PacketBytes, HeaderBytes: c.header(), AckBytes: c.AckBytes,
		PSNRange: int64(s.psnRange), RTO: us(s.rto), SlowLinks: c.SlowLinks, DeadLinks: len(c.Matrix.Failures),
		ECNMin: port.ECNMin, ECNMax: port.ECNMax, QueueLimit: port.LowLimit,
		LastHopECNMin: last.ECNMin, LastHopECNMax: last.ECNMax, LastHopLimit: last.LowLimit,
		TrimBytes: c.TrimBytes, Routing: c.Routing.String(), HostQueue: c.HostQueue.String(), NackRTT: !c.NoNackRTT, Reroute: us(int64(c.Reroute)), NICLatency: us(int64(c.NICLatency)), PairRTT: c.PairRTT, InferLoss: c.InferLoss,
	}
	if c.Tuning != (nscc.Tuning{}) {
		p.Tuning = &c.Tuning
	}
	if c.credits() {
		p.FirstCredit = s.params.RCCC().InitialCredit()
	}
	if c.PFC != nil {
		p.PFCXOff, p.PFCXOn, p.PFCPauseNs = c.PFC.XOff, c.PFC.XOn, c.PFC.Pause
	}
	return p
}

func (s outcome) queueResults(r *Result) {
	for i := s.hosts; i < uint32(len(s.ports)); i++ {
		p := &s.ports[i]
		q := p.queue.Counters()
		r.Totals.Trimmed += q.Trimmed
		r.Totals.Marked += q.Marked
		if q.In+s.lost[i] == 0 {
			continue
		}
		r.Queues = append(r.Queues, QueueResult{
			Port: i, Name: s.name(i), LastHop: p.peer < s.hosts, Packets: q.In + p.passed, Bytes: q.InBytes + p.passedBytes,
			Peak: q.PeakLow, Marked: q.Marked, Trimmed: q.Trimmed, Dropped: q.Dropped + s.lost[i], FirstTrim: s.firstTrim(i),
		})
	}
}

func (s outcome) firstTrim(port uint32) float64 {
	if at, ok := s.trims[port]; ok {
		return us(at)
	}
	return -1
}

func (s outcome) transferResults(r *Result) {
	var fct, slowdown []float64
	var rates jain
	for i := range s.transfers {
		t := &s.transfers[i]
		ideal := s.cfg.ideal(&t.flow)
		res := TransferResult{
			Src: t.flow.Src, Dst: t.flow.Dst, Bytes: t.flow.Size,
			Connection: int(t.conn), Marked: s.equipment.markedOf(t.conn), Held: s.heldOf(t),
			Start: -1, Arrived: -1, Finished: -1, FCT: -1, Ideal: us(int64(ideal)), Slowdown: -1,
		}
		if t.begun {
			res.Start = us(t.started)
		}
		if t.arrived >= 0 {
			res.Arrived = us(t.arrived)
		}
		if t.finished >= 0 {
			res.Finished, res.FCT = us(t.finished), us(int64(t.fct()))
			res.Slowdown = float64(t.fct()) / float64(ideal)
			fct, slowdown = append(fct, res.FCT), append(slowdown, res.Slowdown)
			rates.add(float64(t.flow.Size) / float64(t.fct()))
		} else {
			r.Unfinished++
		}
		r.Transfers = append(r.Transfers, res)
	}
	if len(fct) > 0 {
		r.JainIndex = rates.index()
		r.FCT, r.Slowdown = summarize(fct), summarize(slowdown)
	}
	r.Sizes = bySize(r.Transfers)
}

// connections is how many there are; pairs of endpoints.
func (s *wires) connections() int { return len(s.hostOf) / 2 }

func (s outcome) pauseResults(r *Result) {
	if s.pfc == nil {
		return
	}
	for i, n := range s.pfc.pauses {
		if n == 0 {
			continue
		}
		port := uint32(i)
		r.Pauses = append(r.Pauses, PauseResult{
			Port: port, Name: s.name(port), Kind: s.linkKind(port), Pauses: n, Time: us(s.pfc.time[i]),
		})
	}
}

func (s outcome) uplinkResults(r *Result) {
	for leaf := range s.tierFirst[1] {
		n := &s.nodes[leaf]
		for u := range n.up {
			p := &s.ports[n.first+n.down+u]
			if sent := p.passed + p.queue.Counters().Out; sent > 0 {
				r.Uplinks = append(r.Uplinks, UplinkResult{int(leaf), int(u), sent, p.data})
			}
		}
	}
}

// lowerBound is the time of the busiest host link for all bytes, headers
// included.
func lowerBound(c *Config) link.Ps {
	in, out := map[int]int64{}, map[int]int64{}
	var most int64
	for _, f := range c.Matrix.Flows {
		wire := f.Size + f.packets(c.payload())*c.header()
		in[f.Dst] += wire
		out[f.Src] += wire
		most = max(most, in[f.Dst], out[f.Src])
	}
	return link.Serialization(most, c.hostRate())
}
