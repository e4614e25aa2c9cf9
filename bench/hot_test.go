// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A function that a packet may run through has a marker above: //uetcc:hot, and what the function
// must keep, beyond that nothing in it may escape or move to the heap. A function that is inlined into
// another one is looked at there too, so helpers are marked only where they must inline or are too
// large to.
const marker = "//uetcc:hot"

// A demand is a word behind the marker.
type demand uint8

const (
	inlines  demand = 1 << iota // into its callers
	noBounds                    // no bounds check is left in it
)

var demands = map[string]demand{"inlines": inlines, "nobounds": noBounds}

// TestHotFunctions fails when a marked function allocates, stops inlining, or
// gets a bounds check that it did not have. Nothing is timed. Functions named
// Append grow the caller's slice if they must; that one allocation is theirs.
func TestHotFunctions(t *testing.T) {
	root := sourceTree()
	if root == "" {
		t.Skip("needs the go command and the source of the library")
	}
	packages, err := markedPackages(root)
	require.NoError(t, err)
	d, err := diagnose(root, packages)
	require.NoError(t, err)
	marked := 0
	for name, f := range d {
		if !f.hot {
			continue
		}
		marked++
		for _, complaint := range f.complaints(name, f.must) {
			t.Errorf("%s: %s", name, complaint)
		}
	}
	require.Greater(t, marked, 400)
	if t.Failed() {
		t.Logf("compiled by %s for %s", runtime.Version(), runtime.GOARCH)
	}
}

// complaints are the demands that f does not meet. Bounds checks differ between
// compilers and processors, so they count for those this was written with only.
func (f *function) complaints(name string, must demand) (all []string) {
	for _, h := range f.heap {
		if !strings.HasSuffix(h, ": append escapes to heap") || !strings.Contains(strings.ToLower(name), "append") {
			all = append(all, h)
		}
	}
	if must&inlines != 0 && !f.inlines {
		all = append(all, "does not inline: "+f.whyNot)
	}
	known := strings.HasPrefix(version.Lang(runtime.Version()), "go1.26") && slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH)
	if must&noBounds != 0 && known && len(f.bounds) > 0 {
		all = append(all, "bounds checks at "+strings.Join(f.bounds, ", "))
	}
	return all
}

// TestHotFunctionsSeesRegressions plants one of each and looks for the complaint.
func TestHotFunctionsSeesRegressions(t *testing.T) {
	if sourceTree() == "" {
		t.Skip("needs the go command")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module planted\n\ngo 1.26\n"), 0o666))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "p"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p", "p.go"), []byte(planted), 0o666))
	packages, err := markedPackages(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"p"}, packages)
	d, err := diagnose(dir, packages)
	require.NoError(t, err)
	require.Equal(t, inlines|noBounds, d["p T.Clean"].must)

	for _, c := range []struct {
		name string
		must demand
		want string // "" is no complaint
	}{
		{"T.Clean", inlines | noBounds, ""},
		{"(*T).Moves", 0, "moved to heap: v"},
		{"(*T).Escapes", 0, "escapes to heap"},
		{"Calls", 0, "escapes to heap"},
		{"(*T).Grows", 0, "append escapes to heap"},
		{"(*T).AppendTo", 0, ""},
		{"(*T).Large", inlines, "does not inline: function too complex"},
		{"(*T).Large", 0, ""},
		{"(*T).Checked", noBounds, "bounds checks at p/p.go:"},
		{"(*T).Panics", 0, ""},
		{"Generic", inlines, ""},
	} {
		f := d["p "+c.name]
		require.NotNil(t, f, c.name)
		require.Equal(t, c.name == "T.Clean", f.hot, c.name)
		got := strings.Join(f.complaints(c.name, c.must), "; ")
		if c.want == "" {
			require.Empty(t, got, c.name)
		}
		require.Contains(t, got, c.want, c.name)
	}
}

const planted = `package p

type T struct {
	a [8]int
	s []int
}

var sink *int
var box any

// Clean has a marker.
//
//uetcc:hot inlines nobounds
func (t T) Clean(i int) int { return t.a[i&7] }

func (t *T) Moves() {
	v := 1
	sink = &v
}

func (t *T) Escapes(n int) { box = n }

func helper(n int) any { return n }

func Calls(n int) { box = helper(n) }

func (t *T) Grows(n int) { t.s = append(t.s, n) }

func (t *T) AppendTo(b []byte) []byte { return append(b, 1) }

func (t *T) Large(n int) (s int) {
	for i := range n {
		for j := range n {
			for k := range n {
				s += i*j + j*k + k*i + i/(j+1) + j/(k+1) + k/(i+1) + n%(i+1) + n%(j+1) + n%(k+1)
				s ^= i<<1 | j<<2 | k<<3
				s -= (i - j) * (j - k) * (k - i) * (i + j) * (j + k) * (k + i)
			}
		}
	}
	return s
}

func (t *T) Checked(i int) int { return t.a[i] }

func (t *T) Panics() {
	if t.s == nil {
		panic("p: no slice")
	}
}

func Generic[E int | int64](a, b E) E { return max(a, b) }

var _, _ = Generic(1, 2), Generic(int64(1), 2)
`
