// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// A recorded is a line of a recording of two implementations that talk to each other: a
// frame, or a remark.
type recorded struct {
	Scenario string
	N        int
	Us       int64  // since the start
	Dir      string // "uetcc>ref" or "ref>uetcc"
	Dropped  bool   // by the wire: nobody has received it
	Frame    string // hex, from Ethernet to the CRC
	Note     string
	What     string // Frame for people
}

// isRecorded reports whether a line of a file of vectors is one of a recording.
func isRecorded(t *testing.T, line []byte) bool {
	var is recorded
	return json.Unmarshal(line, &is) == nil && is.Scenario != "" && (is.Frame != "" || is.Note != "")
}

// runInterop runs every recording of the files in dir, NAME.jsonl with one scenario or several,
// as TestVectors/interop/NAME/SCENARIO: its frames in themselves, and then against an [Endpoint].
func runInterop(t *testing.T, dir fs.FS) {
	files, err := fs.ReadDir(dir, ".")
	require.NoError(t, err)
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".gz")
		if file, isLines := strings.CutSuffix(name, ".jsonl"); isLines {
			t.Run(file, func(t *testing.T) { runRecordings(t, dir, name) })
		}
	}
}

// runRecordings runs the recordings of one file.
func runRecordings(t *testing.T, dir fs.FS, file string) {
	all := map[string][]*recorded{}
	for _, line := range readLines[json.RawMessage](t, dir, file) {
		r := readStrictly[recorded](t, line, file)
		all[r.Scenario] = append(all[r.Scenario], r)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			frames := slices.DeleteFunc(all[name], func(r *recorded) bool { return r.Frame == "" })
			for _, r := range frames {
				r.checkFrame(t)
			}
			replayInterop(t, name, frames)
		})
	}
}

// checkFrame reads a frame, its CRC included, and writes it again byte for byte. The reference
// provider's trailers are the proof for the order of the CRC's bytes: none of the 13,740 frames
// passed when the least significant one was taken for the first.
func (r *recorded) checkFrame(t *testing.T) {
	wire := unhex(t, r.Frame)
	var f frame.Frame
	require.NoError(t, (&frame.Parser{CRC: true}).Ethernet(wire, &f), "%s %d: %s", r.Scenario, r.N, r.Frame)
	if err := f.Validate(); f.Type != pds.TypeACKCCX || !errors.Is(err, pds.ErrField) || !strings.Contains(err.Error(), "congestion-control type") { // whose ccx_type 0 is reserved
		require.NoError(t, err, "%s %d: %v", r.Scenario, r.N, &f)
	}
	f.DstMAC, f.SrcMAC, f.CRC = [6]byte(wire), [6]byte(wire[6:]), true
	require.Equal(t, wire, f.AppendTo(nil, wire[f.Payload:f.End]), "%s %d: %v", r.Scenario, r.N, &f)
}
