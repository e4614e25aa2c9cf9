// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"fmt"
	"runtime"
)

// reportSelf needs Linux.
func (o *options) reportSelf(*report, <-chan struct{}) (int, error) {
	return 0, fmt.Errorf("the bottleneck is not supported on %s: it reads ECN marks in the way of Linux; use -listen and -connect", runtime.GOOS)
}
