//go:build tablestep

package table

import (
	"math/rand/v2"
	"runtime"
)

// stepHook is called at every point where another goroutine may run. Unless a test
// of this package replaces it, it lets one run now and then, so that tests from
// outside meet more interleavings than a few cores would give them.
var stepHook = yieldNowAndThen

func yieldNowAndThen() {
	if rand.Uint32()%4 == 0 {
		runtime.Gosched()
	}
}

func step() { stepHook() }
