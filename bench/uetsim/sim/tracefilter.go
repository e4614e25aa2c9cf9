// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/internal/cli"
)

// A traceFilter selects the connections of a trace: all, unless limited.
type traceFilter struct {
	conns, hosts ranges
}

// passes reports whether the trace has an event: of a listed connection, and from or
// to a listed host.
func (t *traceFilter) passes(s *fabric.ContextState) bool {
	return t.conns.has(s.Conn) && (t.hosts.has(s.Src) || t.hosts.has(s.Dst))
}

// check refuses what no run has. Only the runs tell how many connections there are.
func (t *traceFilter) check(runs []namedRun) error {
	var conns, hosts int
	for _, r := range runs {
		conns, hosts = max(conns, r.Result.Parameters.Connections), max(hosts, r.Result.Parameters.Nodes)
	}
	return cmp.Or(t.conns.check("-trace-conns", conns, "connections"), t.hosts.check("-trace-hosts", hosts, "hosts"))
}

// ranges are numbers in a flag's form, such as 0-7,12; none are all.
type ranges [][2]uint32

func (r ranges) has(n uint32) bool {
	for _, x := range r {
		if n >= x[0] && n <= x[1] {
			return true
		}
	}
	return len(r) == 0
}

// check refuses a number, or a range, that begins behind the last of n.
func (r ranges) check(flag string, n int, unit string) error {
	for _, x := range r {
		if err := cli.Range(flag, int(x[0]), 0, n-1, unit); err != nil {
			return err
		}
	}
	return nil
}

// String implements [flag.Value].
func (r *ranges) String() string {
	var s []string
	for _, x := range *r {
		s = append(s, fmt.Sprintf("%d-%d", x[0], x[1]))
	}
	return strings.Join(s, ",")
}

// Set implements [flag.Value].
func (r *ranges) Set(s string) error {
	for _, part := range strings.Split(s, ",") {
		from, to, both := strings.Cut(part, "-")
		if !both {
			to = from
		}
		a, errA := strconv.ParseUint(from, 10, 32)
		b, errB := strconv.ParseUint(to, 10, 32)
		if errA != nil || errB != nil || b < a {
			return fmt.Errorf("%q is no number and no range such as 0-7", part)
		}
		*r = append(*r, [2]uint32{uint32(a), uint32(b)})
	}
	return nil
}
