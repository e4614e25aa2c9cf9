// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"flag"
	"slices"
)

// notAxes are flags, besides fileFlags, of what to run how often and of how much to tell.
var notAxes = []string{"list", "version", "json", "v", "seeds", "workers", "trace-conns", "trace-hosts", "interval", "lines"}

// Axes calls yield with the flags of uetsim that the result of a run depends on, by name. No value of these has a run
// write a file; values of -matrix, -topo and -goal are files to read. The baselines are the words of -cc.
func Axes(yield func(*flag.Flag)) {
	o := &options{algorithms: Baselines()}
	o.define().VisitAll(func(f *flag.Flag) {
		if !slices.Contains(notAxes, f.Name) && !slices.Contains(fileFlags, f.Name) {
			yield(f)
		}
	})
}
