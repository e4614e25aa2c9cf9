//go:build !amd64 || purego

package prefetch

import "unsafe"

// Enabled says that [Lines], [Load] and [Own] do something.
const Enabled = false

// Lines does nothing: there is no instruction for it.
func Lines(*Addresses) {}

func load(unsafe.Pointer, int) {}

func own(unsafe.Pointer, int) {}
