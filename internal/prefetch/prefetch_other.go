//go:build (!amd64 && !arm64) || purego

package prefetch

import "unsafe"

// Enabled says that this package does something.
const Enabled = false

// Lines does nothing.
func Lines(a, b, c, d uintptr) {}

func load(unsafe.Pointer, int) {}

func own(unsafe.Pointer, int) {}
