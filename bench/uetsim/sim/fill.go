// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/hw/link"
)

// A fill is senders at line rate meeting at a port.
type fill struct {
	what    string
	senders int
	before  []int // tiers above the links on the way to the port, 0: of the hosts
	tier    int   // above the link that the port sends into
	limit   int64 // bytes of its queue
}

// fillClaim claims the queue q overflows at the time computed from the rates: from the first
// packet the queue grows by the excess over the port's rate. Senders' packets come one at a
// time, the limit of exactness.
func (r *report) fillClaim(res *fabric.Result, q fabric.QueueResult, f fill) {
	tiers, packet := res.Parameters.Tiers, res.Parameters.PacketBytes
	var first link.Ps
	for _, t := range f.before {
		first += tiers[t].DownLatency + link.Serialization(packet, tiers[t].DownRate)
	}
	growth := int64(f.senders)*tiers[0].DownRate - tiers[f.tier].DownRate
	at := inMicroseconds(first + link.Serialization(f.limit, growth))
	turn := inMicroseconds(link.Serialization(int64(f.senders)*packet, growth))
	r.claim(math.Abs(q.FirstTrim-at) <= turn, fmt.Sprintf("%s: their queue grows by %.0f bytes/us", f.what, float64(growth)/8e6),
		fmt.Sprintf("%d bytes full %.1f us after the start, or %.1f from that", f.limit, at, turn), "%.1f us", q.FirstTrim)
}

func inMicroseconds(t link.Ps) float64 { return float64(t) / float64(link.Microsecond) }
