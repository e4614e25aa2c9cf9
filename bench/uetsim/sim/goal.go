// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/goal"
)

// recvDone says for each word of -recv-done whether messages are received on their arrival.
var recvDone = map[string]bool{"acked": false, "arrived": true}

// application reads the file of -goal.
func (o *options) application() (*fabric.Application, error) {
	s, err := goal.Read(o.goal)
	if err != nil {
		return nil, err
	}
	if s.Count(goal.KindSend)+s.Count(goal.KindRecv)+s.Count(goal.KindCalc) == 0 {
		return nil, fmt.Errorf("%w: %s has no operations", goal.ErrSchedule, o.goal)
	}
	return &fabric.Application{Schedule: s, Arrival: recvDone[o.recvDone], Eager: o.eager}, nil
}

// bound is the lower bound of all transfers of a run for the table of their times. With an application each time counts
// from when the transfer was ready, so that the bound, from 0, is beside the makespan.
func bound(s *fabric.Result) string {
	if s.Application != nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", s.LowerBound)
}

func aboutSchedule(s *goal.Schedule) string {
	return fmt.Sprintf("%d ranks, %d sends, %d receives, %d calculations",
		len(s.Ranks), s.Count(goal.KindSend), s.Count(goal.KindRecv), s.Count(goal.KindCalc))
}

const (
	ranksListed  = 128 // unless all are asked for
	ranksPerLine = 8
)

// application prints when the ranks of a run have ended.
func (p *printer) application(n namedRun, all bool) {
	a := n.Result.Application
	first, last := slices.Min(a.RankEnds), slices.Max(a.RankEnds)
	p.f("%s, makespan %.3f us (bound %.3f); the first rank ends at %.3f us (rank %d), the last at %.3f us (rank %d)\n", n.Name, a.Makespan,
		n.Result.LowerBound, first, slices.Index(a.RankEnds, first), last, slices.Index(a.RankEnds, last))
	ends := a.RankEnds
	if !all {
		ends = ends[:min(len(ends), ranksListed)]
	}
	p.table(func(f func(string, ...any)) {
		f("ends of ranks us\t\n")
		for i := 0; i < len(ends); i += ranksPerLine {
			f("%d:\t", i)
			for _, end := range ends[i:min(i+ranksPerLine, len(ends))] {
				f("%.3f\t", end)
			}
			f("\n")
		}
	})
	if more := len(a.RankEnds) - len(ends); more > 0 {
		p.f("  and %d more, -v lists them\n", more)
	}
	p.f("\n")
}
