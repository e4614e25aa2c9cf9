// SPDX-License-Identifier: Apache-2.0

package fabric

import "github.com/uetcc/uetcc/hw/link"

// ideal is the least time from the start of a transfer to the last acknowledgement: alone in an
// idle fabric, each switch storing and forwarding. Packets may be on many paths, so packets wait
// for each other only at the links of the two hosts, and a short packet may overtake.
func (c *Config) ideal(f *Flow) link.Ps {
	before := f.packets(c.payload()) - 1
	size := f.Size - before*c.payload() + c.header()
	pace := link.Serialization(c.PacketBytes, c.hostRate())
	full, last, back := link.Ps(before-1)*pace, link.Ps(before)*pace, link.Ps(0)
	way := c.Topology.way(f.Src, f.Dst)
	for _, h := range way {
		full += link.Serialization(c.PacketBytes, h.rate) + h.latency
		last += link.Serialization(size, h.rate) + h.latency
		back += link.Serialization(HeaderBytes, h.rate) + h.latency
	}
	// At the last link the full packets come one behind the other, until full.
	first, short := full-link.Ps(before)*pace, link.Serialization(size, c.hostRate())
	switch {
	case before == 0:
	case len(way) == 2: // one path
		last = full + short
	case last <= first: // the last packet has overtaken all
		last = full
	case last-short < first: // and has all of them wait
		last += full - first
	default:
		last = max(last, full+short)
	}
	return last + back
}

// way lists the links between two hosts; the latency of each includes the switch behind.
func (t *Topology) way(src, dst int) (hops []hop) {
	tiers := 1
	if src/t.Tiers[0].RadixDown != dst/t.Tiers[0].RadixDown {
		tiers = 2
	}
	if src/t.podSize() != dst/t.podSize() {
		tiers = 3
	}
	for i := range tiers {
		at := &t.Tiers[i]
		hops = append(hops, hop{at.DownRate, at.DownLatency + at.SwitchLatency})
	}
	for i := tiers - 1; i >= 0; i-- {
		h := hop{t.Tiers[i].DownRate, t.Tiers[i].DownLatency}
		if i > 0 {
			h.latency += t.Tiers[i-1].SwitchLatency
		}
		hops = append(hops, h)
	}
	return hops
}

// A SizeResult describes the finished transfers of one range of sizes.
type SizeResult struct {
	Above     int64   `json:"above_bytes"` // exclusive
	UpTo      int64   `json:"up_to_bytes"` // inclusive; 0: no limit
	Transfers int     `json:"transfers"`
	FCT       Summary `json:"fct_us"`
	Slowdown  Summary `json:"slowdown"` // completion time over that of the transfer alone in the idle fabric
}

// sizeLimits are the ends of the ranges of sizes.
var sizeLimits = [...]int64{10_000, 100_000, 1_000_000, 10_000_000}

// bySize describes the transfers of each range with any.
func bySize(all []TransferResult) (sizes []SizeResult) {
	above := int64(0)
	for i := range len(sizeLimits) + 1 {
		r := SizeResult{Above: above}
		if i < len(sizeLimits) {
			r.UpTo = sizeLimits[i]
		}
		var fct, slowdown []float64
		for j := range all {
			t := &all[j]
			if t.FCT >= 0 && t.Bytes > above && (r.UpTo == 0 || t.Bytes <= r.UpTo) {
				fct, slowdown = append(fct, t.FCT), append(slowdown, t.Slowdown)
			}
		}
		if r.Transfers = len(fct); r.Transfers > 0 {
			r.FCT, r.Slowdown = summarize(fct), summarize(slowdown)
			sizes = append(sizes, r)
		}
		above = r.UpTo
	}
	return sizes
}
