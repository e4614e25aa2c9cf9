// SPDX-License-Identifier: Apache-2.0

package quicsender_test

import (
	"fmt"
	"time"

	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/nscc/quicsender"
)

// The first window of a path of 10 Gb/s and 2 ms, a 128th of what the path holds, which connection.SetCongestionControl takes.
func ExampleNew() {
	params, err := nscc.NewParams(nscc.Config{
		LinkRate: 10e9 / 8, BaseRTT: 2_000_000, MTU: 1500, Profile: nscc.ProfileAdaptive,
	})
	if err != nil {
		panic(err)
	}
	s := quicsender.New(&params, time.Now())
	fmt.Println(s.GetCongestionWindow(), s.CanSend(0), s.CanSend(s.GetCongestionWindow()))
	// Output: 19500 true false
}
