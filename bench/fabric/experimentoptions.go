// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// expOptions are the options of htsim_uec.
var expOptions = map[string]expOption{
	"-end":   span(1e9, func(x *expConfig, t link.Ps) { x.c.End = t }),
	"-seed":  whole(0, 1<<31-1, "", func(x *expConfig, n int64) { x.c.Seed = uint64(n) }),
	"-nodes": whole(0, maxNodes, "nodes", func(x *expConfig, n int64) { x.nodes = n }),

	"-topo": func(x *expConfig, option string) (err error) {
		x.topo, err = x.word(option)
		return err
	},
	"-tiers": whole(2, 3, "tiers", func(x *expConfig, n int64) { x.c.Tiers = int(n) }),
	"-linkspeed": func(x *expConfig, option string) (err error) {
		x.mbps, err = x.number(option, 1, 1e7, "Mb/s")
		return err
	},
	"-hop_latency":    span(1e6, func(x *expConfig, t link.Ps) { x.c.Hop = t }),
	"-switch_latency": span(1e6, func(x *expConfig, t link.Ps) { x.c.SwitchLatency = t }),
	"-failed":         whole(0, 1<<20, "links", func(x *expConfig, n int64) { x.c.SlowLinks = int(n) }),
	"-planes": func(x *expConfig, option string) error {
		n, err := x.number(option, 1, 8, "planes")
		if err == nil && n > 1 {
			err = x.unsupported(x.line, "%s %g: htsim itself stops at more than one", option, n)
		}
		return err
	},

	"-mtu":                   whole(HeaderBytes+1, maxPacket, "bytes", func(x *expConfig, n int64) { x.c.PacketBytes = n }),
	"-q":                     whole(1, 1<<20, "packets", func(x *expConfig, n int64) { x.queue.Limit = Packets(n) }),
	"-queue_size_bdp_factor": whole(0, 1000, "BDPs", func(x *expConfig, n int64) { x.queue.Limit = BDPs(float64(n)) }),
	"-ecn": func(x *expConfig, option string) error {
		err := whole(0, 1<<20, "packets", func(x *expConfig, n int64) { x.queue.ECNMin = Packets(n) })(x, option)
		if err != nil {
			return err
		}
		return whole(0, 1<<20, "packets", func(x *expConfig, n int64) { x.queue.ECNMax = Packets(n) })(x, option)
	},
	"-disable_trim": plain(func(x *expConfig) { x.c.NoTrim = true }),
	"-trimsize":     whole(HeaderBytes, maxPacket, "bytes", func(x *expConfig, n int64) { x.c.TrimBytes = n }),
	"-queue_type": choice(map[string]func(x *expConfig){
		"composite": func(*expConfig) {}, "composite_ecn": nil, "aeolus": nil, "aeolus_ecn": nil,
	}),
	"-host_queue_type": choice(map[string]func(x *expConfig){ // htsim's NIC leaves none of them anything to decide
		"swift": func(*expConfig) {}, "prio": func(*expConfig) {}, "fair_prio": func(*expConfig) {},
	}),
	"-pcie": lacking,

	"-sender_cc_only":   plain(func(x *expConfig) { x.senders, x.receivers = true, false }),
	"-receiver_cc_only": plain(func(x *expConfig) { x.senders, x.receivers = false, true }),
	"-sender_cc":        plain(func(x *expConfig) { x.senders = true }),
	"-receiver_cc":      plain(func(x *expConfig) { x.receivers = true }),
	"-sender_cc_algo": choice(map[string]func(x *expConfig){
		"nscc":     func(x *expConfig) { x.senders, x.window = true, nil },
		"dctcp":    func(x *expConfig) { x.senders, x.window = true, &expWindow{} },
		"constant": func(x *expConfig) { x.senders, x.window = true, &expWindow{constant: true} },
	}),
	"-oversubscribed_cc":               lacking,
	"-force_disable_oversubscribed_cc": plain(func(x *expConfig) { x.c.NoFabricRate = true }),
	"-Ai":                              lacking,
	"-Md":                              lacking,
	"-alpha":                           lacking,

	"-cwnd":           whole(0, 1<<20, "packets", func(x *expConfig, n int64) { x.cwnd = n }),
	"-target_q_delay": span(1e6, func(x *expConfig, t link.Ps) { x.c.Tuning.TargetQdelay = t.Nanoseconds() }),
	"-qa_gate": whole(-1, 62, "as a power of two", func(x *expConfig, n int64) {
		if x.c.Tuning.QAGate = int(n); n <= 0 {
			x.c.Tuning.QAGate = -int(1 + n) // -1 there is the default, which is 0 here
		}
	}),
	"-sack_threshold":                  whole(1, 1<<30, "bytes", func(x *expConfig, n int64) { x.c.AckBytes = n }),
	"-sleek":                           plain(func(x *expConfig) { x.c.InferLoss = true }),
	"-enable_accurate_base_rtt":        plain(func(x *expConfig) { x.c.PairRTT = true }),
	"-disable_base_rtt_update_on_nack": plain(func(x *expConfig) { x.c.NoNackRTT = true }),
	"-conn_reuse":                      plain(func(*expConfig) {}), // the matrix says as much

	"-paths": whole(1, 1<<16, "entropy values", func(x *expConfig, n int64) { x.c.Entropy.Values = int(n) }),
	"-load_balancing_algo": choice(map[string]func(x *expConfig){
		"bitmap": scheme(ccc.SchemeBitmap), "reps": scheme(ccc.SchemeREPS), "reps_legacy": scheme(ccc.SchemeREPSLegacy),
		"oblivious": scheme(ccc.SchemeOblivious), "mixed": scheme(ccc.SchemeMixed),
	}),
	"-strat": choice(map[string]func(x *expConfig){
		"ecmp_host":    func(*expConfig) {},
		"ecmp_ar":      func(x *expConfig) { x.c.Routing, x.c.Entropy.Values = RoutingAdaptive, 1 },
		"ecmp_host_ar": func(x *expConfig) { x.c.Routing = RoutingMixed },
		"ecmp_rr":      func(x *expConfig) { x.c.Routing, x.c.Entropy.Values = RoutingRoundRobin, 1 },
		"rr_ecmp":      nil, "ecmp_host_ecn": nil, "reactive_ecn": nil,
	}),
	"-ar_sticky_delta": lacking,
	"-ar_granularity":  choice(map[string]func(x *expConfig){"packet": func(*expConfig) {}, "flow": nil}),
	"-ar_method": choice(map[string]func(x *expConfig){
		"queue": func(*expConfig) {}, "pause": nil, "bandwidth": nil, "pqb": nil, "pq": nil, "pb": nil, "qb": nil,
	}),

	"-o":          quiet(1),
	"-log":        quiet(1),
	"-logtime":    quiet(1),
	"-logtime_us": quiet(1),
	"-debug":      quiet(0),
}

func scheme(s ccc.Scheme) func(*expConfig) {
	return func(x *expConfig) { x.c.Entropy.Scheme = s }
}
