// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/uetcc/uetcc/bench/fabric"

// connectionTimes is for each transfer the connection's time at work, us: from the first start
// to the last end of all transfers carried. fabric.TransferResult.Held is a part of the time.
func connectionTimes(r *fabric.Result) []float64 {
	type pair struct{ conn, src int }
	type span struct{ from, to float64 }
	spans := map[pair]span{}
	for _, t := range r.Transfers {
		if t.Start < 0 {
			continue
		}
		k, end := pair{t.Connection, t.Src}, t.Finished
		if end < 0 {
			end = r.SimTime
		}
		s, ok := spans[k]
		if !ok {
			s = span{t.Start, end}
		}
		spans[k] = span{min(s.from, t.Start), max(s.to, end)}
	}
	var times []float64
	for _, t := range r.Transfers {
		s := spans[pair{t.Connection, t.Src}]
		times = append(times, s.to-s.from)
	}
	return times
}
