package fabric_test

import (
	"fmt"
	"strings"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
)

// Three hosts write to a fourth at once, with the window that NSCC computes from
// marks and delays and with none.
func Example() {
	m, err := fabric.ParseMatrix("incast", strings.NewReader(`
Nodes 16
Connections 3
5->0 start 0 size 1000000
9->0 start 0 size 1000000
13->0 start 0 size 1000000
`))
	if err != nil {
		panic(err)
	}
	for _, mode := range []ccc.Mode{ccc.ModeOff, ccc.ModeEnforce} {
		r, err := fabric.Run(fabric.Config{Matrix: m, Mode: mode})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: trimmed %v, all done %v, nothing lost %v\n",
			mode, r.Totals.Trimmed > 100, r.Unfinished == 0, len(r.Violations) == 0)
	}
	// Output:
	// off: trimmed true, all done true, nothing lost true
	// enforce: trimmed false, all done true, nothing lost true
}
