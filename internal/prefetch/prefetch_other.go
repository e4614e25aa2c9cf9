// SPDX-License-Identifier: Apache-2.0

//go:build (!amd64 && !arm64) || purego

package prefetch

import "unsafe"

// Enabled reports whether package prefetch has instructions.
const Enabled = false

// Lines does nothing.
func Lines(a, b, c, d uintptr) {}

func load(unsafe.Pointer, int) {}

func own(unsafe.Pointer, int) {}
