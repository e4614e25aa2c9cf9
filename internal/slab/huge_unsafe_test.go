// SPDX-License-Identifier: Apache-2.0

//go:build linux && !purego

package slab

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// From the size of a huge page on an array begins with one.
func TestMakeBeginsWithAHugePage(t *testing.T) {
	require.Nil(t, huge[byte](hugePage-1))
	var all [][]byte
	for n := hugePage; n < 8*hugePage; n += hugePage/2 + 12345 {
		s := huge[byte](n)
		require.Len(t, s, n)
		require.Zero(t, uintptr(unsafe.Pointer(&s[0]))%hugePage)
		all = append(all, s, make([]byte, 40_000)) // the next one begins elsewhere
	}
	runtime.KeepAlive(all)
}

// Where the kernel tells what was asked for, it was: whole pages, the last one included.
func TestMakeAsksForHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Log("no huge pages to ask for here")
		return
	}
	for n, pages := range map[int]uintptr{hugePage: 1, hugePage + 1: 2} {
		s := Make[byte](n)
		first := uintptr(unsafe.Pointer(&s[0]))
		flags, err := flagsOf(first, first+pages*hugePage)
		if err != nil {
			t.Log("no list of mappings here")
			return
		}
		require.Contains(t, flags, "hg", "%d bytes", n)
		runtime.KeepAlive(s)
	}
}

// flagsOf returns what the kernel says of the mapping that holds all from first to end.
func flagsOf(first, end uintptr) (flags []string, err error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	inside := false
	for l := bufio.NewScanner(f); l.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(l.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= first && end <= to
		}
		if words, ok := strings.CutPrefix(l.Text(), "VmFlags:"); ok && inside {
			return strings.Fields(words), nil
		}
	}
	return nil, nil
}
