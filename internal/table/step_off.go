// SPDX-License-Identifier: Apache-2.0

//go:build !tablestep

package table

// step marks a point where another goroutine may run. step is empty except in
// builds with the tag tablestep, for tests that drive the scheduling.
func step() {}
