// SPDX-License-Identifier: Apache-2.0

package goal_test

import (
	"fmt"
	"log"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/goal"
)

// An all-reduce of a mebibyte over eight hosts, with 10 us to add up a mebibyte: a ring has many
// small steps, recursive doubling few large ones.
func Example() {
	job := goal.Job{Ranks: 8, Bytes: 1 << 20, Reduce: 10_000. / (1 << 20)}
	for _, name := range []string{"ring", "recursive-doubling"} {
		pattern, err := goal.FindPattern(name)
		if err != nil {
			log.Fatal(err)
		}
		schedule, err := pattern.Make(job)
		if err != nil {
			log.Fatal(err)
		}
		r, err := fabric.Run(fabric.Config{Application: &fabric.Application{Schedule: schedule}, Rate: 400e9})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d messages, %.0f us\n", name, r.Application.Sends, r.Application.Makespan)
	}
	// Output:
	// ring: 112 messages, 150 us
	// recursive-doubling: 24 messages, 124 us
}

// Rank 1 computes while a message comes in, and what it does with that waits for both.
func ExampleAppendText() {
	s := &goal.Schedule{Ranks: make([]goal.Rank, 2)}
	s.Ranks[0].Send(1, 4096, 7)
	r := &s.Ranks[1]
	r.Require(r.Calc(500, 0), r.Recv(0, 4096, 7), r.Calc(1000, 0))
	fmt.Printf("%s", goal.AppendText(nil, s))
	// Output:
	// num_ranks 2
	//
	// rank 0 {
	// l1: send 4096b to 1 tag 7
	// }
	//
	// rank 1 {
	// l1: calc 500
	// l2: recv 4096b from 0 tag 7
	// l3: calc 1000
	// l1 requires l2
	// l1 requires l3
	// }
}
