package main

import "github.com/uetcc/uetcc/bench/iblink"

func init() {
	register(scenario{"ibcredit", "an InfiniBand link under absolute credits: buffers, losses, virtual lanes", ibcredit})
}

// ibcredit walks through what the introduction to InfiniBand's flow control
// promises.
func ibcredit(o *options) (*report, error) {
	base := iblink.Config{Lanes: 1, Buffer: 30 * iblink.Blocks, Delay: 10, Update: 2, Drain: []float64{1}, Slots: 100_000, Seed: o.seed}
	t := table{
		Title:   "one link, 20 packets of round trip",
		Columns: []string{"share of the line", "of it, second level", "peak blocks", "overruns", "lost", "blocks leaked"},
	}
	r := &report{}
	run := func(name string, change func(*iblink.Config)) (iblink.Result, error) {
		c := base
		change(&c)
		res, err := iblink.Run(c)
		if err != nil {
			return res, err
		}
		total := 0.0
		for _, s := range res.Share {
			total += s
		}
		t.row(name, total, res.Share[len(res.Share)-1], float64(res.MaxOccupied), float64(res.Overruns), float64(res.Lost), float64(res.Leaked))
		r.claim(res.Overruns == 0, name+": no buffer overrun", "0", "%d", res.Overruns)
		r.claim(res.Leaked == 0, name+": no credit lost for good", "0 blocks", "%d", res.Leaked)
		return res, nil
	}
	variants := []struct {
		name   string
		change func(*iblink.Config)
		text   string
		want   string
		ok     func(iblink.Result) bool
	}{
		{"buffer of the round trip", func(*iblink.Config) {}, "a buffer of the round trip fills the line", "above 0.98",
			func(res iblink.Result) bool { return res.Share[0] > 0.98 }},
		{"buffer of half of it", func(c *iblink.Config) { c.Buffer = 11 * iblink.Blocks }, "half of it is half of the line", "0.45 to 0.60",
			func(res iblink.Result) bool { return res.Share[0] > 0.45 && res.Share[0] < 0.6 }},
		{"5 % of packets lost", func(c *iblink.Config) { c.DataLoss = 0.05 }, "lost packets do not starve the sender", "above 0.90",
			func(res iblink.Result) bool { return res.Share[0] > 0.9 }},
		{"30 % of updates lost too", func(c *iblink.Config) { c.DataLoss, c.CreditLoss = 0.05, 0.3 }, "absolute credits make lost updates good", "above 0.90",
			func(res iblink.Result) bool { return res.Share[0] > 0.9 }},
		{"a slow level, one lane", func(c *iblink.Config) { c.Drain = []float64{0.05, 1} }, "one lane: the other level waits behind the slow one", "second level below 0.10",
			func(res iblink.Result) bool { return res.Share[1] < 0.1 }},
		{"a slow level, two lanes", func(c *iblink.Config) { c.Drain, c.Lanes = []float64{0.05, 1}, 2 }, "two lanes: it does not", "second level above 0.90",
			func(res iblink.Result) bool { return res.Share[1] > 0.9 }},
	}
	for _, v := range variants {
		res, err := run(v.name, v.change)
		if err != nil {
			return nil, err
		}
		r.claim(v.ok(res), v.text, v.want, "%.3f", res.Share[len(res.Share)-1])
	}
	r.Tables = []table{t}
	r.note("at most 2,048 blocks of 64 bytes, 128 KiB, can be granted ahead, whatever the buffer")
	return r, nil
}
