// SPDX-License-Identifier: Apache-2.0

package llr_test

import (
	"fmt"

	"github.com/uetcc/uetcc/hw/llr"
)

// Frame 1 of three is damaged: one NACK, and frames 1 and 2 go again.
func Example() {
	tx, err := llr.NewTransmitter(llr.Config{ReplayTimer: 6_000})
	if err != nil {
		panic(err)
	}
	rx, err := llr.NewReceiver(164) // ns: 2,048 bytes at 100 Gb/s
	if err != nil {
		panic(err)
	}
	tx.Start(0)
	hello, _ := tx.Set(0)
	rx.Receive(&hello)
	echo, _ := rx.Set(0)
	tx.Receive(0, &echo)

	for i := range 3 {
		seq, verdict := tx.Offer(0, llr.Frame{Handle: uint64(100 + i), Size: 4200})
		how := llr.ArrivalGood
		if i == 1 {
			how = llr.ArrivalBad
		}
		fmt.Println(verdict, seq, rx.Frame(0, seq, how))
	}
	nack, _ := rx.Set(0)
	fmt.Println(nack.Type, nack.Seq)
	tx.Receive(0, &nack)
	for seq, f, ok := tx.Again(0); ok; seq, f, ok = tx.Again(0) {
		fmt.Println("again", seq, f.Handle, rx.Frame(0, seq, llr.ArrivalGood))
	}
	// Output:
	// numbered 0 true
	// numbered 1 false
	// numbered 2 false
	// LLR_NACK 0
	// again 1 101 true
	// again 2 102 true
}
