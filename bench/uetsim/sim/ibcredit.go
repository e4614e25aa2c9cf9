// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"github.com/uetcc/uetcc/bench/iblink"
)

// An ibVariant is the link under changed conditions, and the promises for the
// link.
type ibVariant struct {
	name        string
	change      func(*iblink.Config)
	text        string
	least, most float64 // share of the line that the last service level gets
}

var ibVariants = []ibVariant{
	{"buffer of the round trip", func(*iblink.Config) {}, "a buffer of the round trip fills the line", 0.98, 1},
	{"buffer of half of it", func(c *iblink.Config) { c.Buffer = 11 * iblink.Blocks }, "half of it is half of the line", 0.45, 0.6},
	{"5 % of packets lost", func(c *iblink.Config) { c.DataLoss = 0.05 }, "lost packets do not starve the sender", 0.9, 1},
	{"30 % of updates lost too", func(c *iblink.Config) { c.DataLoss, c.CreditLoss = 0.05, 0.3 }, "absolute credits make lost updates good", 0.9, 1},
	{"a slow level, one lane", func(c *iblink.Config) { c.Drain = []float64{0.05, 1} }, "one lane: the other level waits behind the slow one", 0, 0.1},
	{"a slow level, two lanes", func(c *iblink.Config) { c.Drain, c.Lanes = []float64{0.05, 1}, 2 }, "two lanes: it does not", 0.9, 1},
}

// ibcredit walks through the promises of the introduction to InfiniBand's flow
// control.
func ibcredit(o *options) (*report, error) {
	t := table{
		Title:   "one link, 20 packets of round trip",
		Columns: []string{"share of the line", "last level's", "peak blocks", "overruns", "lost", "blocks leaked"},
	}
	r := o.newReport()
	for _, v := range ibVariants {
		c := iblink.Config{Lanes: 1, Buffer: 30 * iblink.Blocks, Delay: 10, Update: 2, Drain: []float64{1}, Slots: 100_000, Seed: o.seed}
		v.change(&c)
		res, err := iblink.Run(c)
		if err != nil {
			return nil, err
		}
		total, last := 0.0, res.Share[len(res.Share)-1]
		for _, s := range res.Share {
			total += s
		}
		t.row(v.name, total, last, float64(res.MaxOccupied), float64(res.Overruns), float64(res.Lost), float64(res.Leaked))
		r.claim(res.Overruns == 0, v.name+": no buffer overrun", "0", "%d", res.Overruns)
		r.claim(res.Leaked == 0, v.name+": no credit lost for good", "0 blocks", "%d", res.Leaked)
		r.claim(last >= v.least && last <= v.most, v.text, fmt.Sprintf("%.2f to %.2f", v.least, v.most), "%.3f", last)
	}
	r.Tables = []table{t}
	r.note("at most 2,048 blocks of 64 bytes, 128 KiB, can be granted ahead, whatever the buffer")
	return r, nil
}
