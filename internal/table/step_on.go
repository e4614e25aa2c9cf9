//go:build tablestep

package table

// stepHook, if set, is called at every point where another goroutine may run.
var stepHook func()

func step() {
	if stepHook != nil {
		stepHook()
	}
}
