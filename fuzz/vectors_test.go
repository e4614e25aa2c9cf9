// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// A header is what every wire header of packages pds and ses can do.
type header interface {
	Decode(b []byte) (int, error)
	AppendTo(b []byte) []byte
	Validate() error
	String() string
}

// fields are the fields of a header by their specification names: integers of
// any type, booleans for flags, strings "0x..." from 64 bits on.
type fields map[string]any

// A headerKind is how the lines of one name are read.
type headerKind struct {
	new    func() header
	fields func(h header) fields
}

// kindOf returns the kind of header T; show lists the fields of one.
func kindOf[T any, P interface {
	*T
	header
}](show func(h P) fields) headerKind {
	return headerKind{
		new:    func() header { return P(new(T)) },
		fields: func(h header) fields { return show(h.(P)) },
	}
}

// A vector is one line of pds.jsonl or ses.jsonl.
type vector struct {
	Name   string
	Source string
	Fields fields
	Hex    string
}

// A malformedVector is one line of malformed.jsonl.
type malformedVector struct {
	Name, Hex, Why, Class, Expect string
}

// TestVectors compares every codec with recorded bytes. The environment
// variable UETCC_VECTORS names another directory, an absolute one, with any number of
// NAME.jsonl, gzipped or not: a line shows by its members what it is. Recordings of exchanges
// lie in its folder interop, or in the directory itself. The go command does not see that
// these files change, so run it with -count=1.
func TestVectors(t *testing.T) {
	dir := vectorsDir()
	files, err := fs.ReadDir(dir, ".")
	require.NoError(t, err)
	found := false
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".gz")
		file, isLines := strings.CutSuffix(name, ".jsonl")
		switch {
		case f.IsDir() && name == "interop":
			found = true
			recordings, err := fs.Sub(dir, name)
			require.NoError(t, err)
			t.Run(name, func(t *testing.T) { runInterop(t, recordings) })
		case isLines && isRecorded(t, readLines[json.RawMessage](t, dir, name)[0]):
			found = true
			t.Run("interop/"+file, func(t *testing.T) { runRecordings(t, dir, name) })
		case isLines:
			found = true
			t.Run(file, func(t *testing.T) {
				for i, line := range readLines[json.RawMessage](t, dir, name) {
					replayLine(t, line, fmt.Sprintf("%s line %d", name, i+1))
				}
			})
		case name == nsccStepsFile: // TestNSCCSteps takes it
			found = true
		default:
			require.NotEqual(t, ".json", path.Ext(name), "%s is of no known kind", name)
		}
	}
	require.True(t, found, "no vectors")
}

// replayLine replays a line of any of the files.
func replayLine(t *testing.T, line []byte, where string) {
	var is struct{ Name, Encap, Expect, TSS string }
	require.NoError(t, json.Unmarshal(line, &is), where)
	kind, isPDS := pdsKinds[is.Name]
	switch header := sesKinds[is.Name]; {
	case is.TSS != "":
		readStrictly[tssVector](t, line, where).replay(t)
	case is.Encap != "":
		readStrictly[packetVector](t, line, where).replay(t)
	case is.Expect != "":
		readStrictly[malformedVector](t, line, where).replay(t)
	case isPDS:
		checkVector(t, readStrictly[vector](t, line, where), kind)
	case header != nil:
		readStrictly[vector](t, line, where).replaySES(t, header)
	default:
		t.Fatalf("%s: no header kind %q", where, is.Name)
	}
}

// checkVector checks that v decodes to exactly its fields and encodes back to exactly
// its bytes.
func checkVector(t *testing.T, v *vector, kind headerKind) {
	t.Helper()
	wire := unhex(t, v.Hex)
	h := kind.new()
	n, err := h.Decode(wire)
	require.NoError(t, err, "%s %s", v.Name, v.Hex)
	require.Equal(t, len(wire), n, "%s %s", v.Name, v.Hex)
	require.Equal(t, v.Fields.plain(), kind.fields(h).plain(), "%s %s", v.Name, v.Hex)
	checkEncode(t, h, wire)
	for i := range wire {
		require.ErrorIs(t, checkError(t, kind, wire[:i], wire), pds.ErrTruncated)
	}
	if reserved := append([]byte{0xf8 | wire[0]&7}, wire[1:]...); v.Name != "prologue" && v.Name != "entropy" {
		require.ErrorIs(t, checkError(t, kind, reserved, wire), pds.ErrType)
	}
	if v.Name != "prologue" { // its type and next_hdr are independent here
		require.NoError(t, h.Validate(), "%s %s", v.Name, v.Hex)
	}

	line := h.String()
	require.NotEmpty(t, line)
	require.NotContains(t, line, "\n")
	require.NotContains(t, line, "%!")
}

// checkEncode checks that h has the bytes wire, into a dirty buffer of just the
// size, and appended.
func checkEncode(t *testing.T, h header, wire []byte) {
	t.Helper()
	buf := bytes.Repeat([]byte{0xa5}, len(wire))
	require.Equal(t, wire, h.AppendTo(buf[:0]))
	require.Equal(t, wire, buf, "in place")

	dirty := bytes.Repeat([]byte{0xa5}, 2*len(wire)+1)
	require.Equal(t, wire, h.AppendTo(dirty[:1])[1:])
	require.Equal(t, wire, h.AppendTo(nil))
}

// wrong lists what may be said of each class of malformed bytes.
var wrong = map[string][]string{
	"truncated":         {pds.ErrTruncated.Error(), ses.ErrTruncated.Error()},
	"reserved-type":     {pds.ErrType.Error()},
	"reserved-next-hdr": {wrongNextHdr, ses.ErrForm.Error()},
	"reserved-enum": {
		illegalPDS + "ctl_type reserved", illegalPDS + "nack_code reserved", illegalPDS + "congestion-control type reserved",
		illegalPDS + "request of an ACK reserved", illegalSES + "unknown version", illegalSES + "reserved request opcode",
		wrongResponseOpcode, illegalSES + "reserved return code", illegalSES + "reserved atomic opcode", illegalSES + "reserved atomic datatype",
	},
	"bad-combination": {wrongNextHdr, illegalSES + "opcode not allowed in this header form", wrongResponseOpcode},
	"semantic": {illegalPDS + "PDCID zero, or not zero without a PDC", illegalPDS + "clear_psn_offset positive",
		illegalSES + "header form needs som and eom", frame.ErrPayloadLength.Error()},
}

const (
	illegalPDS          = "pds: illegal field: "
	illegalSES          = "ses: illegal field: "
	wrongNextHdr        = illegalPDS + "next_hdr not allowed on this packet type"
	wrongResponseOpcode = illegalSES + "reserved response opcode"
)

// replay checks that v fails to decode, fails to validate, or decodes as if its
// reserved bits were zero, as it says.
func (v *malformedVector) replay(t *testing.T) {
	kind, isPDS := pdsKinds[v.Name]
	switch header := sesKinds[v.Name]; {
	case strings.HasPrefix(v.Name, "packet/"):
		v.replayPacket(t)
	case isPDS:
		v.replayPDS(t, kind, validPDS(t)[v.Name])
	case header != nil:
		v.replaySES(t, header)
	default:
		t.Fatalf("no header kind %q", v.Name)
	}
}

// requireWrong checks that err is one of those that v's class may have.
func (v *malformedVector) requireWrong(t *testing.T, err error) {
	t.Helper()
	require.Contains(t, wrong, v.Class)
	require.True(t, slices.Contains(wrong[v.Class], err.Error()), "%s %s: %s: %v", v.Name, v.Hex, v.Why, err)
}

// validPDS returns the bytes of a header of each kind that decodes.
var validPDS = func() func(t *testing.T) map[string][]byte {
	valid := map[string][]byte{}
	return func(t *testing.T) map[string][]byte {
		if len(valid) == 0 {
			for _, v := range readVectors[vector](t, "pds.jsonl") {
				valid[v.Name] = unhex(t, v.Hex)
			}
		}
		return valid
	}
}()

// replayPDS holds the PDS header kind to v. other is a header of the kind that
// decodes.
func (v *malformedVector) replayPDS(t *testing.T, kind headerKind, other []byte) {
	switch wire := unhex(t, v.Hex); v.Expect {
	case "error":
		v.requireWrong(t, checkError(t, kind, wire, other))
	case "invalid":
		h := kind.new()
		_, err := h.Decode(wire)
		require.NoError(t, err, "%s %s: %s", v.Name, v.Hex, v.Why)
		v.requireWrong(t, h.Validate())
	case "ignore":
		checkIgnored(t, kind, wire, v.same(t))
	default:
		t.Fatalf("unknown expectation %q", v.Expect)
	}
}

// same returns the bytes that v means with its reserved bits at zero.
func (v *malformedVector) same(t *testing.T) []byte {
	_, same, ok := strings.Cut(v.Why, "same meaning as ")
	require.True(t, ok, v.Why)
	return unhex(t, same)
}

// checkError returns the error with which wire does not decode, always the same
// value. A header that held other bytes must be left as it was.
func checkError(t *testing.T, kind headerKind, wire, other []byte) error {
	t.Helper()
	h, before := kind.new(), kind.new()
	h.Decode(other)
	before.Decode(other)
	n, err := h.Decode(wire)
	require.Error(t, err, "%x", wire)
	require.Zero(t, n)
	require.Equal(t, before, h, "changed by %x", wire)
	_, again := h.Decode(wire)
	require.True(t, err == again, "the error is not a sentinel")
	return err
}

// checkIgnored checks that wire and same decode to the same header, and that it
// encodes to same.
func checkIgnored(t *testing.T, kind headerKind, wire, same []byte) {
	t.Helper()
	h, want := kind.new(), kind.new()
	_, err := h.Decode(wire)
	require.NoError(t, err, "%x", wire)
	_, err = want.Decode(same)
	require.NoError(t, err, "%x", same)
	require.Equal(t, want, h, "%x", wire)
	require.Equal(t, same, h.AppendTo(nil))
}

// vectorsDir returns where the vector files are.
func vectorsDir() fs.FS {
	if dir := os.Getenv("UETCC_VECTORS"); dir != "" {
		return os.DirFS(dir)
	}
	return os.DirFS("testdata/vectors")
}

// readVectors returns the lines of a vector file of this package.
func readVectors[T any](t testing.TB, file string) []T {
	t.Helper()
	return readLines[T](t, os.DirFS("testdata/vectors"), file)
}

// readLines returns the lines of a vector file.
func readLines[T any](t testing.TB, dir fs.FS, file string) []T {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(readRecorded(t, dir, file)))
	d.UseNumber()
	var all []T
	for d.More() {
		var v T
		require.NoError(t, d.Decode(&v))
		all = append(all, v)
	}
	require.NotEmpty(t, all, file)
	return all
}

// readStrictly returns what a line holds, which is nothing that T does not have.
func readStrictly[T any](t *testing.T, line []byte, where string) *T {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	d.DisallowUnknownFields()
	v := new(T)
	require.NoError(t, d.Decode(v), where)
	return v
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// plain returns f with every number as int64 and every flag as 0 or 1.
func (f fields) plain() fields {
	p := fields{}
	for name, v := range f {
		switch r := reflect.ValueOf(v); {
		case r.Type() == reflect.TypeFor[json.Number]():
			p[name], _ = v.(json.Number).Int64()
		case r.CanInt():
			p[name] = r.Int()
		case r.CanUint():
			p[name] = int64(r.Uint())
		case r.Kind() == reflect.Bool && r.Bool():
			p[name] = int64(1)
		case r.Kind() == reflect.Bool:
			p[name] = int64(0)
		default:
			p[name] = v
		}
	}
	return p
}

// with returns f and g together.
func (f fields) with(g fields) fields {
	maps.Copy(f, g)
	return f
}
