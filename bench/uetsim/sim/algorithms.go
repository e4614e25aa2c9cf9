// SPDX-License-Identifier: Apache-2.0

// Package sim is the command uetsim as a library, so a user's command can run a user's algorithm
// in the same scenarios, workloads and schedules, beside the algorithms of the engine and the
// baselines.
//
// Scenario spine deviates from its figure, 6-10, in one thing: packets of all five flows are marked,
// since all five share the queue to the spine; the figure names two, those to ranks 9 and 5.
package sim

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ccc/baseline"
)

// Algorithms are congestion controls by the word in -cc: a function gives a connection from host
// src to host dst a new algorithm, to run alone. With -workers above 1 the functions, and the
// algorithms of different hosts, are called by several goroutines at once.
type Algorithms map[string]func(src, dst int) ccc.Algorithm

// Baselines are the algorithms for comparison, with the parameters of the papers.
func Baselines() Algorithms {
	return Algorithms{
		"dctcp":    func(src, dst int) ccc.Algorithm { return &baseline.DCTCP{} },
		"cubic":    func(src, dst int) ccc.Algorithm { return &baseline.Cubic{} },
		"swift":    func(src, dst int) ccc.Algorithm { return &baseline.Swift{} },
		"constant": func(src, dst int) ccc.Algorithm { return &baseline.Constant{} },
	}
}
