// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"math"

	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
)

// Queue is the sizes of the data queue of every switch port. The packet being sent does not
// count, except under [RulesHTSim]. A zero keeps the value of Rules.
type Queue struct {
	Limit          Size // beyond which packets are trimmed or dropped
	ECNMin, ECNMax Size // none is marked up to ECNMin, all above ECNMax
}

func (q *Queue) check() error {
	if q == nil {
		return nil
	}
	return cmp.Or(q.Limit.check("Queue.Limit"), q.ECNMin.check("Queue.ECNMin"), q.ECNMax.check("Queue.ECNMax"))
}

// queueConfig describes a port of rate bits a second. limit, if not 0, is from the topology
// file.
func (c *Config) queueConfig(rate int64, lastHop bool, limit int64) switchq.Config {
	noECN := c.NoECN || lastHop && c.credits()
	q := switchq.Config{Trim: !c.NoTrim, LastHop: lastHop, NoECN: noECN, LowLimit: limit, HeaderBytes: int32(c.TrimBytes)}
	if c.Rules == RulesHTSim {
		c.htsimQueue(&q, 1)
	} else {
		q.PlaneBDP = link.BDP(rate, rate, c.BaseRTT)
		c.specQueue(&q)
	}
	if c.PFC != nil {
		q.LowLimit = 1 << 40
	}
	return q
}

// specQueue fills in the sizes of c.Queue; zero sizes follow from q.PlaneBDP.
func (c *Config) specQueue(q *switchq.Config) {
	if c.Queue == nil {
		return
	}
	q.LowLimit = cmp.Or(c.Queue.Limit.in(c), q.LowLimit)
	q.ECNMin, q.ECNMax = c.Queue.ECNMin.in(c), c.Queue.ECNMax.in(c)
}

// htsimQueue fills in htsim's rounding: the product in packets, a fifth and four fifths in
// packets, each rounded up, and a part of all. The packet being sent counts there: part of
// the queue until gone, and the next packet is marked by the bytes waiting after that, so a
// packet later.
func (c *Config) htsimQueue(q *switchq.Config, part int64) {
	packets := (c.bdp() + c.PacketBytes - 1) / c.PacketBytes
	q.PlaneBDP = packets * c.PacketBytes
	limit, low, high := q.PlaneBDP, (packets+4)/5*c.PacketBytes, (4*packets+4)/5*c.PacketBytes
	if c.NoTrim {
		limit *= 5
	}
	limit = cmp.Or(q.LowLimit, limit)
	if own := c.Queue; own != nil {
		bytes := func(s Size) int64 {
			if s.Unit == UnitBDP {
				return int64(math.Ceil(s.N*float64(packets))) * c.PacketBytes
			}
			return s.in(c)
		}
		limit, low, high = cmp.Or(bytes(own.Limit), limit), cmp.Or(bytes(own.ECNMin), low), cmp.Or(bytes(own.ECNMax), high)
	}
	limit /= part
	waiting := func(bytes int64) int64 { return max(bytes-c.PacketBytes, 1) }
	q.ECNMin, q.ECNMax = waiting(low/part), waiting(high/part)
	q.LowLimit, q.MedLimit, q.HighLimit = waiting(limit), 2*limit, 2*limit
	q.MedPercent, q.Coin = 100, true
}

// slowQueue describes a port of a link slowed to a quarter, the argument rate. In htsim the
// queue is a quarter too.
func (c *Config) slowQueue(rate int64) switchq.Config {
	q := c.queueConfig(rate, false, 0)
	if c.Rules == RulesHTSim {
		q.LowLimit = 0
		c.htsimQueue(&q, 4)
	}
	return q
}
