// SPDX-License-Identifier: Apache-2.0

package goal

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func unpacked(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	return b
}

// The binary form of a text is that of the format's own converter, byte for byte, and both
// are the same schedule.
func TestBinaryIsTheConvertersOwn(t *testing.T) {
	for _, name := range []string{"ring_8_64KiB", "ringcalc_16_1MiB", "a2av_16_1MiB", "pipe_8_1MiB"} {
		text, want := unpacked(t, name+".goal.gz"), unpacked(t, name+".bin.gz")
		s, err := Parse(name, text)
		require.NoError(t, err)
		require.Equal(t, want, AppendBinary(nil, s), name)
		b, err := Parse(name, want)
		require.NoError(t, err)
		require.Equal(t, want, AppendBinary(nil, b), name)
		again, err := Parse(name, AppendText(nil, s))
		require.NoError(t, err)
		require.Equal(t, want, AppendBinary(nil, again), name)
	}
}

func TestReadUnpacks(t *testing.T) {
	s, err := Read("testdata/ring_8_64KiB.bin.gz")
	require.NoError(t, err)
	require.Equal(t, 8*2*7, s.Count(KindSend))
	_, err = Read("testdata/none")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Read("format_test.go")
	require.ErrorContains(t, err, `format_test.go:3: want num_ranks, have "package"`)
}

// badTexts are refused with this line and reason.
var badTexts = []struct{ name, text, want string }{
	{"empty", "", "1: the file is empty, want num_ranks"},
	{"nic before cpu", "num_ranks 2\nrank 0 {\nl1: send 64b to 1 nic 1 cpu 0\n}\nrank 1 {\n}\n", `3: unexpected "cpu"`},
	{"a cycle", "num_ranks 1\nrank 0 {\nl1: calc 5\nl2: calc 1\nl2 requires l1\nl1 requires l2\n}\n", "3: waits for itself: a cycle of dependencies"},
	{"a cycle of starts", "num_ranks 1\nrank 0 {\nl1: calc 5\nl1 irequires l1\n}\n", "3: waits for itself: a cycle of dependencies"},
	{"label below", "num_ranks 1\nrank 0 {\nl2: calc 5\nl2 requires l1\nl1: calc 1\n}\n", `4: label "l1" is not defined above`},
	{"keyword as label", "num_ranks 1\nrank 0 {\nsend: calc 4\n}\n", `3: "send" is a keyword and cannot be a label`},
	{"negative calc", "num_ranks 1\nrank 0 {\nl1: calc -4\n}\n", "3: the length of a calc in ns cannot be negative"},
	{"no b", "num_ranks 1\nrank 0 {\nl1: send 4 to 0\n}\n", `3: want b, have "to"`},
	{"no line end", "num_ranks 1\nrank 0 {\nl1: calc 4", "3: the file ends within rank 0: want a line end, and }"},
	{"no brace", "num_ranks 1\nrank 0 {\nl1: calc 4\n", "3: the file ends within rank 0, want }"},
	{"no num_ranks", "rank 0 {\nl1: calc 4\n}\n", `1: want num_ranks, have "rank"`},
	{"no ranks", "num_ranks 0\n", "1: num_ranks 0, want at least 1"},
	{"too large a number", "num_ranks 1\nrank 0 {\nl1: calc 99999999999999999999999\n}\n", "3: the length of a calc in ns 99999999999999999999999 is larger than 4503599627370496"},
	{"cpu of nine bits", "num_ranks 1\nrank 0 {\nl1: calc 9 cpu 256\n}\n", "3: the cpu 256 is larger than 255"},
	{"peer out of range", "num_ranks 2\n\nrank 0 {\nl1: send 4096b to 9 tag 0\n}\n\nrank 1 {\n}\n", "4: rank 9 is not one of the 2"},
	{"rank missing", "num_ranks 2\nrank 0 {\nl1: calc 4\n}\n", "4: rank 1 is missing: num_ranks is 2"},
	{"ranks descending", "num_ranks 2\nrank 1 {\n}\nrank 0 {\n}\n", "2: rank 1, want rank 0: ranks come in ascending order, all of them"},
	{"rank too many", "num_ranks 1\nrank 0 {\n}\nrank 1 {\n}\n", "4: rank 1 is not one of the 1 that num_ranks says"},
	{"send to any", "num_ranks 2\nrank 0 {\nl1: send 4b to -1 tag 0\n}\nrank 1 {\n}\n", "3: the rank to send to cannot be negative"},
	{"2 GiB", "num_ranks 2\n\nrank 0 {\nl1: send 2147483648b to 1 tag 0\n}\n", "4: the size of a message in bytes 2147483648 is larger than 2147483647"},
	{"open comment", "num_ranks 1 /* so\nmany\n", "2: the file ends within a comment"},
	{"strange character", "num_ranks 1\nrank 0 {\nl1: calc 4;\n}\n", "3: unexpected character ';'"},
	{"long line", "num_ranks 1\n" + strings.Repeat(" ", maxLine+1) + "\n", "2: line is longer than 64 KiB"},
	{"two statements", "num_ranks 1\nrank 0 {\ncalc 4 calc 5\n}\n", `3: unexpected "calc"`},
}

func TestBadTextsAreRefused(t *testing.T) {
	for _, c := range badTexts {
		_, err := Parse("x.goal", []byte(c.text))
		require.EqualError(t, err, "x.goal:"+c.want, c.name)
		require.ErrorIs(t, err, ErrSchedule, c.name)
	}
}

func TestTextForms(t *testing.T) {
	const text = `/* two
lines */ num_ranks 2 // of them
rank 0 {
	send 64 b to 1 cpu 3
	sender : calc 7
	l1: recv 0b from -1 tag -1 cpu 1 nic 2
	l1 irequires sender
}
rank 1 {
}`
	s, err := ParseText("x.goal", strings.NewReader(strings.ReplaceAll(text, "\n", "\r\n")))
	require.NoError(t, err)
	require.Equal(t, []Rank{{
		Ops: []Op{
			{Kind: KindSend, Size: 64, Peer: 1, CPU: 3, Line: 4},
			{Kind: KindCalc, Size: 7, Line: 5},
			{Kind: KindRecv, Peer: Any, Tag: Any, CPU: 1, NIC: 2, Line: 6},
		},
		Deps: []Dep{{Op: 2, On: 1, Started: true}},
	}, {}}, s.Ranks)
	require.Equal(t, 4, s.CPUs())
	require.Equal(t, 3, s.NICs())
	require.Equal(t, "rank 0: recv of 0 bytes from any tag any (line 6)", s.Name(0, 2))
}

// Whatever is stored twice in the binary form must agree, and nothing may point outside.
func TestBadBinariesAreRefused(t *testing.T) {
	good, err := Parse("x", []byte("num_ranks 2\nrank 0 {\nl1: calc 4\nl2: send 8b to 1\nl2 requires l1\n}\nrank 1 {\nrecv 8b from 0\n}\n"))
	require.NoError(t, err)
	const block = headBytes + 2*spanBytes // of rank 0: one root, two operations, one follower
	const op = block + 8 + 4
	for _, c := range []struct {
		name string
		at   int
		to   byte
		want string
	}{
		{"magic", 0, 38, "magic number 4134, want 4223"},
		{"ranks", 8, 200, "too few for 200 ranks"},
		{"cpu", 12, 1, "the header says 2 CPUs and 1 NICs, the operations use 1 and 1"},
		{"begin", headBytes, 0, "rank 0 is said to lie from 0"},
		{"end", headBytes + 8, 255, "rank 0 is said to lie from"},
		{"operations", block, 9, "too few for 9 operations"},
		{"roots", block + 4, 3, "too few for 2 operations, 3 of them roots"},
		{"root", block + 8, 1, "the roots are not the 1 operations that wait for none"},
		{"waits", op, 1, "operation 0 is said to wait for 1, and 0 have it for a follower"},
		{"kind", op + 4, 4, "Kind(4) is neither send, recv nor calc"},
		{"tag of a calc", op + 17, 1, "a calc with a peer, a tag or a NIC"},
		{"peer", op + opBytes + 5, 2, "rank 2 is not one of the 2"},
		{"size", op + opBytes + 9 + 7, 255, "a message of 9223372036854775807 bytes"},
		{"followers", op + 23, 2, "2 followers from 0 on"},
		{"follower", op + 2*opBytes, 2, "follower 2 of 2 operations"},
	} {
		b := AppendBinary(nil, good)
		b[c.at] = c.to
		_, err := ParseBinary("x.bin", b)
		require.ErrorContains(t, err, c.want, c.name)
		require.ErrorIs(t, err, ErrSchedule, c.name)
	}
	whole := AppendBinary(nil, good)
	for n := range whole {
		_, err := ParseBinary("x.bin", whole[:n])
		require.Error(t, err, n)
	}
	_, err = ParseBinary("x.bin", append(whole, 0))
	require.ErrorContains(t, err, "1 bytes behind the last rank")
}

// Whatever can be read can be written and is the same then, in both forms.
func FuzzParse(f *testing.F) {
	for _, c := range badTexts {
		f.Add([]byte(c.text))
	}
	for _, name := range []string{"ring_8_64KiB", "pipe_8_1MiB"} {
		f.Add(unpacked(f, name+".goal.gz"))
		f.Add(unpacked(f, name+".bin.gz"))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := Parse("x", in)
		if err != nil {
			require.ErrorIs(t, err, ErrSchedule)
			require.Nil(t, s)
			return
		}
		b := AppendBinary(nil, s)
		for _, form := range [][]byte{b, AppendText(nil, s)} {
			again, err := Parse("x", form)
			require.NoError(t, err)
			require.True(t, bytes.Equal(b, AppendBinary(nil, again)))
		}
	})
}
