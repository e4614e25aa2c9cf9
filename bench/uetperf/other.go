// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"fmt"
	"io"
	"runtime"
)

// printSelf needs Linux.
func (o *options) printSelf(io.Writer, <-chan struct{}) (int, error) {
	return 0, fmt.Errorf("the bottleneck is not supported on %s: it reads ECN marks in the way of Linux; use -listen and -connect", runtime.GOOS)
}
