// Package sim is the command uetsim as a library, so a command of one's own can run an
// algorithm of one's own in the same scenarios, workloads and schedules, beside those of the
// engine and the baselines.
package sim

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ccc/baseline"
)

// Algorithms are congestion controls by the word that selects them in -cc: what gives a connection
// from host src to host dst one of its own, which runs alone. With -workers above 1 the functions,
// and the algorithms of different hosts, are called by several goroutines at once.
type Algorithms map[string]func(src, dst int) ccc.Algorithm

// Baselines are those that others are compared with, with the parameters of their papers.
func Baselines() Algorithms {
	return Algorithms{
		"dctcp":    func(src, dst int) ccc.Algorithm { return &baseline.DCTCP{} },
		"cubic":    func(src, dst int) ccc.Algorithm { return &baseline.Cubic{} },
		"swift":    func(src, dst int) ccc.Algorithm { return &baseline.Swift{} },
		"constant": func(src, dst int) ccc.Algorithm { return &baseline.Constant{} },
	}
}
