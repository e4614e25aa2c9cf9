// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// failure is a link between a leaf and a spine that dies under a permutation for 2 ms, while no
// switch knows: the reaction of each path scheme, and of routing that finds out after a while.
func failure(o *options) (*report, error) {
	const hosts, perLeaf, size = 32, 8, 8_000_000
	var flows []fabric.Flow
	for h := range hosts {
		flows = append(flows, flow(h, (h+perLeaf)%hosts, size))
	}
	r := o.newReport()
	c := chapterConfig(o.chapterFabric(perLeaf, hosts/perLeaf, perLeaf, 100e9), flows)
	c.Faults = []fabric.Fault{{Place: fabric.Place{Tier: 0, Number: 0, Link: 0}, From: 200 * link.Microsecond, Until: 2200 * link.Microsecond}}
	recovery := table{Title: "what the dead link took", Columns: []string{"packets lost", "of data", "the last after us", "slowest transfer us"}}
	run := func(name string) (*fabric.Result, error) {
		res, err := r.add(name, o.with(c, "nscc"))
		if err == nil {
			f := res.Faults[0]
			recovery.row(name, float64(f.Lost), float64(f.LostData), f.Recovery, res.FCT.Max)
		}
		return res, err
	}
	byScheme := map[ccc.Scheme]fabric.FaultResult{}
	for _, c.Entropy.Scheme = range []ccc.Scheme{ccc.SchemeOblivious, ccc.SchemeBitmap, ccc.SchemeREPS, ccc.SchemeMixed} {
		res, err := run(c.Entropy.Scheme.String())
		if err != nil {
			return nil, err
		}
		byScheme[c.Entropy.Scheme] = res.Faults[0]
	}
	c.Entropy.Scheme, c.Reroute = ccc.SchemeOblivious, 500*link.Microsecond
	if _, err := run("oblivious, switches know after 500 us"); err != nil {
		return nil, err
	}
	r.Tables = append(r.Tables, recovery)
	reps, oblivious := byScheme[ccc.SchemeREPS].Recovery, byScheme[ccc.SchemeOblivious].Recovery
	r.claim(reps < 100, "REPS re-routes in less than 100 us", "last data lost within 100 us", "%.1f us", reps)
	r.claim(oblivious > 500, "oblivious spraying goes on into the dead link", "last data lost after more than 500 us", "%.1f us", oblivious)
	return r, nil
}
