// SPDX-License-Identifier: Apache-2.0

//go:build linux && !purego

package slab

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Where the kernel tells what was asked for, it was: for each page with a byte of the array,
// wherever the array begins.
func TestMakeAsksForHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Log("no huge pages to ask for here")
		return
	}
	var all [][]byte
	for _, n := range []int{hugePage, hugePage + 1, 2*hugePage - 12345, 5*hugePage + 1} {
		s := Make[byte](n)
		all = append(all, s, make([]byte, 40_000)) // the next one begins elsewhere
		first := uintptr(unsafe.Pointer(&s[0]))
		for at := first &^ (hugePage - 1); at < first+uintptr(n); at += hugePage {
			flags, err := flagsOf(at, at+hugePage)
			if err != nil {
				t.Log("no list of mappings here")
				return
			}
			require.Contains(t, flags, "hg", "%d bytes", n)
		}
	}
	runtime.KeepAlive(all)
}

// Small objects made after Reserve are where huge pages were asked for, as far as they find no other room.
func TestReserve(t *testing.T) {
	const n = 32 << 20
	Reserve(hugePage - 1) // nothing
	Reserve(n)
	all, huge := make([]*[4096]byte, n/4096/2), 0
	for i := range all {
		all[i] = new([4096]byte)
		first := uintptr(unsafe.Pointer(all[i]))
		if i%64 != 0 {
			continue
		}
		flags, err := flagsOf(first, first+4096)
		if err != nil {
			t.Log("no list of mappings here")
			return
		}
		if slices.Contains(flags, "hg") {
			huge++
		}
	}
	require.Positive(t, huge, "of %d", len(all)/64)
	runtime.KeepAlive(all)
}

// An array takes the memory of its elements, and no page more than the allocator's rounding.
func TestMakeTakesNoMore(t *testing.T) {
	const n = 2*hugePage + 100_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := Make[byte](n)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n+16<<10))
	runtime.KeepAlive(s)
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
