//go:build !linux

package main

import (
	"fmt"
	"io"
	"runtime"
)

func run(_ []string, _, stderr io.Writer) int {
	fmt.Fprintf(stderr, "uetperf: not supported on %s: it reads ECN marks in the way of Linux\n", runtime.GOOS)
	return 2
}
