package fabric_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
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

// Two endpoints on a fabric that loses a packet in a hundred: a message of each way.
func ExampleNewWorld() {
	w, err := fabric.NewWorld(fabric.Config{Node: fabric.NodeEndpoint, Topology: fabric.FatTree(2, 100e9, link.Microsecond), Loss: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	write := &fabric.Message{Src: 0, Dst: 1, Op: fabric.OpWrite, Size: 1_000_000}
	read := &fabric.Message{Src: 1, Dst: 0, Op: fabric.OpRead, Size: 1_000_000}
	w.Post(write)
	w.Post(read)
	w.Run(link.Second)
	fmt.Println(write.OK(), write.Placed(), write.Check(w))
	fmt.Println(read.OK(), read.Placed(), read.Check(w))
	// Output:
	// true 1000000 <nil>
	// true 1000000 <nil>
}
