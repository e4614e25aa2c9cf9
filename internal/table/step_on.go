// SPDX-License-Identifier: Apache-2.0

//go:build tablestep

package table

import (
	"math/rand/v2"
	"runtime"
)

// stepHook is called at every point where another goroutine may run. Unless
// replaced by a test of package table, the hook lets another goroutine run now and
// then, so tests from outside meet more interleavings than a few cores would give.
var stepHook = yieldNowAndThen

func yieldNowAndThen() {
	if rand.Uint32()%4 == 0 {
		runtime.Gosched()
	}
}

func step() { stepHook() }
