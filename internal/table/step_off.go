//go:build !tablestep

package table

// step marks a point where another goroutine may run. It is empty except in
// builds with the tag tablestep, whose tests drive the scheduling.
func step() {}
