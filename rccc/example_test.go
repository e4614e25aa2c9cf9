// SPDX-License-Identifier: Apache-2.0

package rccc_test

import (
	"fmt"

	"github.com/uetcc/uetcc/rccc"
)

// A source spends credit nobody granted until the destination answers; from
// then on only cumulative credit counts, and a repeated message adds nothing.
func ExampleSource() {
	p, err := rccc.NewParams(rccc.Config{MaxCredit: 175_284, MTU: 4150, RTT: 9348})
	if err != nil {
		panic(err)
	}
	var s rccc.Source
	s.Init(&p)
	s.OnSend(4150)
	target := s.Target(&p, rccc.Demand{Backlog: 129_034})
	fmt.Println("target, quanta:", rccc.QuantaOf(target))

	wire := rccc.Quanta(17) // from the ACK_CC
	fmt.Println("granted:", s.OnCreditUpdate(&p, wire.Extend(s.Cum())))
	fmt.Println("granted:", s.OnCreditUpdate(&p, wire.Extend(s.Cum())))
	fmt.Println("may send:", s.CanSend(), s.Credit())
	// Output:
	// target, quanta: 17
	// granted: 4352
	// granted: 0
	// may send: true 4352
}
