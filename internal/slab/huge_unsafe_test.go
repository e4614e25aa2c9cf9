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

// Where the kernel tells what was asked for, it was.
func TestMakeAsksForHugePages(t *testing.T) {
	s := Make[[64]byte](hugePage / 64 / 2)
	defer runtime.KeepAlive(s)
	first := uintptr(unsafe.Pointer(&s[0]))
	require.Zero(t, first%hugePage)
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Log("no huge pages to ask for here")
		return
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Log("no list of mappings here")
		return
	}
	defer f.Close()
	inside := false
	for l := bufio.NewScanner(f); l.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(l.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= first && first+hugePage <= to
		}
		if flags, ok := strings.CutPrefix(l.Text(), "VmFlags:"); ok && inside {
			t.Log("flags of the mapping:", flags)
			require.Contains(t, strings.Fields(flags), "hg")
		}
	}
}
