// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/link"
)

func loadMatrix(t testing.TB, name string) *Matrix {
	t.Helper()
	m, err := ReadMatrix(filepath.Join("testdata", name))
	require.NoError(t, err)
	return m
}

func TestParseMatrixShippedFiles(t *testing.T) {
	for _, tc := range []struct {
		file                   string
		nodes, flows, triggers int
		bytes                  int64
	}{
		{"one.cm", 16, 1, 0, 2_000_000},
		{"bidir.cm", 16, 2, 0, 4_000_000},
		{"incast.cm", 16, 15, 0, 30_000_000}, // without a newline at the end
		{"incast_3-1_overlapped.tm", 128, 3, 0, 2_500_000},
		{"outcast_incast.cm", 128, 21, 0, 42_000_000},
		{"perm_16n_16c_2MB.cm", 16, 16, 0, 32_000_000},
		{"perm_128n_128c_2MB.cm", 128, 128, 0, 256_000_000},
		{"incast_128.cm", 128, 127, 0, 254_000_000},
		{"alltoall_serial_16n.cm", 16, 240, 224, 480_000_000},
		{"test_cr_1f10m10p.cm", 2, 10, 0, 408_600},
	} {
		t.Run(tc.file, func(t *testing.T) {
			m := loadMatrix(t, tc.file)
			require.Equal(t, tc.nodes, m.Nodes)
			require.Len(t, m.Flows, tc.flows)
			require.Len(t, m.Triggers, tc.triggers)
			var bytes int64
			for _, f := range m.Flows {
				bytes += f.Size
			}
			require.Equal(t, tc.bytes, bytes)
		})
	}
}

// The shipped a2a.cm says 3,600 connections and holds 240.
func TestParseMatrixMalformedA2A(t *testing.T) {
	_, err := ReadMatrix("testdata/a2a.cm")
	require.EqualError(t, err, "a2a.cm:2: the header says Connections 3600, the file holds 240")
}

// What the simulator reads, if by accident: whole numbers with decimals, a count that means
// nothing, ends of lines of another system.
func TestParseMatrixAsLenientAsHtsim(t *testing.T) {
	m, err := ParseMatrix("x", strings.NewReader(
		"Nodes 4.0\r\nConnections 2\r\nTriggers 1\r\n\r\n0->1 id 1 start 0.0 size 4086.00 send_done_trigger 1 \r\n2->3 id 2 trigger 1 size 1\r\ntrigger id 1 oneshot count 3\r\n"))
	require.NoError(t, err)
	require.Equal(t, 4, m.Nodes)
	require.EqualValues(t, 4086, m.Flows[0].Size)
	require.Equal(t, TriggerOneshot, m.Triggers[0].Kind)
	_, err = ParseMatrix("x", strings.NewReader("Nodes 2\nConnections 1\n0->1 start 0 size 1.5"))
	require.EqualError(t, err, `x:3: size "1.5" is not a whole number`)
}

func TestParseMatrixEveryField(t *testing.T) {
	m, err := ParseMatrix("x", strings.NewReader(`# a comment
Nodes 4
Connections 3
Triggers 2
Failures 1

0->1 id 7 msg start 1.25 size 100 send_done_trigger 1 recv_done_trigger 2 prio 3
0->1 id 7 msg 2 trigger 2 size 200
2->3   start 0	size 1 # another
trigger id 1 oneshot
trigger id 2 barrier count 2
failure switch_type AGG switch_id 3 link_id 1
`))
	require.NoError(t, err)
	require.Equal(t, &Matrix{
		Nodes: 4,
		Flows: []Flow{
			{Src: 0, Dst: 1, ID: 7, Message: true, Size: 100, Start: 1_250 * link.Nanosecond, SendDone: 1, RecvDone: 2, Line: 7},
			{Src: 0, Dst: 1, ID: 7, Message: true, Size: 200, Trigger: 2, Line: 8},
			{Src: 2, Dst: 3, Size: 1, Line: 9},
		},
		Triggers: []Trigger{{ID: 1, Line: 10}, {ID: 2, Kind: TriggerBarrier, Count: 2, Line: 11}},
		Failures: []Failure{{Tier: 1, Switch: 3, Link: 1, Line: 12}},
	}, m)
}

// A start is written as any program prints a number of microseconds; what is below a
// picosecond is rounded.
func TestParseMatrixStarts(t *testing.T) {
	for text, want := range map[string]link.Ps{
		"0": 0, "007": 7_000_000, "40.25": 40_250_000, "0.000001": 1, "1.": 1_000_000, ".5": 500_000,
		"16.000000000000004": 16_000_000, "5e-05": 50, "1e3": 1_000_000_000, "0.0000004": 0, "0.1": 100_000,
		"1099511627776": 1_099_511_627_776_000_000,
	} {
		m, err := ParseMatrix("x", strings.NewReader("Nodes 2\nConnections 1\n0->1 start "+text+" size 1"))
		require.NoError(t, err)
		require.Equal(t, want, m.Flows[0].Start, text)
	}
}

func TestParseMatrixErrors(t *testing.T) {
	const head = "Nodes 4\nConnections 1\n"
	for _, tc := range []struct{ name, in, want string }{
		{"start and trigger", head + "Triggers 1\n0->1 start 0 trigger 1 size 1\ntrigger id 1 oneshot", "x:4: flow 0->1 has both a start and a trigger"},
		{"neither", head + "0->1 size 1", "x:3: flow 0->1 has neither a start nor a trigger"},
		{"no size", head + "0->1 start 0", "x:3: flow 0->1 has no size"},
		{"size 0", head + "0->1 start 0 size 0", "x:3: size 0 is not between 1 and 1099511627776"},
		{"unknown field", head + "0->1 start 0 size 1 colour 3", `x:3: unknown field "colour" of a flow`},
		{"unknown item", head + "frobnicate 1", `x:3: unknown item "frobnicate", want SRC->DST, trigger or failure`},
		{"field without value", head + "0->1 start 0 size", "x:3: size needs a number"},
		{"field twice", head + "0->1 start 0 size 1 size 2", "x:3: size is given twice"},
		{"start is no number", head + "0->1 start soon size 1", `x:3: start "soon" is not a time`},
		{"start is not a number", head + "0->1 start NaN size 1", `x:3: start "NaN" is not a time`},
		{"start before time", head + "0->1 start -0.5 size 1", `x:3: start "-0.5" is not a time`},
		{"start at the end of time", head + "0->1 start 1e13 size 1", `x:3: start "1e13" is not a time`},
		{"negative", head + "0->1 start 0 size -1", "x:3: size -1 is not between 1 and 1099511627776"},
		{"beyond int64", head + "0->1 start 0 size 99999999999999999999", `x:3: size "99999999999999999999" is not a whole number`},
		{"source is no number", head + "a->1 start 0 size 1", `x:3: source "a" is not a whole number`},
		{"arrow without end", head + "1-> start 0 size 1", `x:3: destination "" is not a whole number`},
		{"node out of range", head + "0->4 start 0 size 1", "x:3: flow 0->4: node out of range, the header says Nodes 4"},
		{"source out of range", head + "4->0 start 0 size 1", "x:3: flow 4->0: node out of range, the header says Nodes 4"},
		{"to itself", head + "1->1 start 0 size 1", "x:3: flow 1->1 goes nowhere"},
		{"too few flows", "Nodes 4\nConnections 2\n0->1 start 0 size 1", "x:2: the header says Connections 2, the file holds 1"},
		{"flows never announced", "Nodes 4\n0->1 start 0 size 1", "x:1: the header says Connections 0, the file holds 1"},
		{"too few triggers", head + "Triggers 1\n0->1 start 0 size 1", "x:3: the header says Triggers 1, the file holds 0"},
		{"too few failures", head + "Failures 2\n0->1 start 0 size 1", "x:3: the header says Failures 2, the file holds 0"},
		{"trigger nobody defined", head + "0->1 trigger 9 size 1", "x:3: trigger 9 is not in the file"},
		{"trigger twice", "Nodes 2\nTriggers 2\ntrigger id 1 oneshot\ntrigger id 1 oneshot", "x:4: trigger 1 is given twice, first in line 3"},
		{"trigger without kind", "Nodes 2\nTriggers 1\ntrigger id 1", "x:3: trigger 1 is neither oneshot, multishot nor barrier"},
		{"trigger of two kinds", "Nodes 2\nTriggers 1\ntrigger id 1 oneshot barrier count 2", "x:3: the kind of the trigger is given twice"},
		{"barrier without count", "Nodes 2\nTriggers 1\ntrigger id 1 barrier", "x:3: trigger 1: a barrier needs a count"},
		{"trigger without id", "Nodes 2\nTriggers 1\ntrigger oneshot", "x:3: trigger without id"},
		{"unknown trigger field", "Nodes 2\nTriggers 1\ntrigger id 1 twoshot", `x:3: unknown field "twoshot" of a trigger`},
		{"id twice", "Nodes 2\nConnections 2\n0->1 id 1 start 0 size 1\n0->1 id 1 start 0 size 1", "x:4: id 1 is given twice, first in line 3; messages of one connection say msg"},
		{"messages of two pairs", "Nodes 3\nConnections 2\n0->1 id 1 msg start 0 size 1\n0->2 id 1 msg start 0 size 1", "x:4: messages of connection 1 have different ends, see line 3"},
		{"msg without id", head + "0->1 msg start 0 size 1", "x:3: msg of flow 0->1 needs the id of its connection"},
		{"failure of what", "Nodes 2\nFailures 1\nfailure switch_type TOR link_id 1", "x:3: failure needs switch_type, switch_id and link_id"},
		{"failure of a router", "Nodes 2\nFailures 1\nfailure switch_type EDGE", `x:3: switch_type "EDGE" is none of TOR, AGG, CORE`},
		{"header twice", "Nodes 2\nNodes 3", "x:2: Nodes is given twice, first in line 1"},
		{"header after items", "Nodes 2\n0->1 start 0 size 1\nConnections 1", "x:3: header field Connections after the first item"},
		{"two words of header", "Nodes 2 3", `x:1: unknown field "3"`},
		{"no nodes", "Connections 0", "x:1: the header says Nodes 0, want 1 to 1048576"},
		{"empty", "", "x:1: the header says Nodes 0, want 1 to 1048576"},
		{"too many nodes", "Nodes 1048577", "x:1: the header says Nodes 1048577, want 1 to 1048576"},
		{"a line without end", "Nodes 2\n" + strings.Repeat("x", 1<<17), "x:2: line is longer than 64 KiB"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseMatrix("x", strings.NewReader(tc.in))
			require.EqualError(t, err, tc.want)
			var pe *ParseError
			require.ErrorAs(t, err, &pe)
		})
	}
}

func TestReadFileErrors(t *testing.T) {
	_, err := ReadMatrix("testdata/none.cm")
	require.ErrorIs(t, err, os.ErrNotExist)
	plain := filepath.Join(t.TempDir(), "plain.topo.gz")
	require.NoError(t, os.WriteFile(plain, []byte("Nodes 2"), 0o666))
	_, err = ReadTopology(plain)
	require.ErrorContains(t, err, "unpack "+plain)
}

// What is written is read as the same matrix.
func TestAppendMatrixIsParsed(t *testing.T) {
	for _, file := range []string{"incast_3-1_overlapped.tm", "test_cr_1f10m10p.cm", "alltoall_serial_16n.cm"} {
		m, err := ReadMatrix("testdata/" + file)
		require.NoError(t, err)
		m.Failures = append(m.Failures, Failure{Tier: 1, Switch: 2, Link: 3})
		again, err := ParseMatrix(file, bytes.NewReader(AppendMatrix(nil, m)))
		require.NoError(t, err)
		for _, x := range []*Matrix{m, again} { // lines are the file's
			for i := range x.Flows {
				x.Flows[i].Line = 0
			}
			for i := range x.Triggers {
				x.Triggers[i].Line = 0
			}
			for i := range x.Failures {
				x.Failures[i].Line = 0
			}
		}
		require.Equal(t, m, again)
	}
}
