package fuzz

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A header is what every wire header of packages pds and ses can do.
type header interface {
	Decode(b []byte) (int, error)
	Encode(b []byte) (int, error)
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
	Fields fields
	Hex    string
}

// A malformedVector is one line of malformed.jsonl.
type malformedVector struct {
	Name, Hex, Why, Class, Expect string
}

// TestVectors compares every codec with recorded bytes. The environment
// variable UETCC_VECTORS names another directory with files of the same names;
// they may be gzipped or not.
func TestVectors(t *testing.T) {
	t.Run("pds", testPDSVectors)
	t.Run("ses", testSESVectors)
	t.Run("packets", testPacketVectors)
	t.Run("malformed", testMalformedVectors)
}

// testPDSVectors checks that each line decodes to exactly its fields and encodes
// back to exactly its bytes.
func testPDSVectors(t *testing.T) {
	for _, v := range readVectors[vector](t, "pds.jsonl") {
		kind, ok := pdsKinds[v.Name]
		require.True(t, ok, "no header kind %q", v.Name)
		checkVector(t, v, kind)
	}
}

func checkVector(t *testing.T, v vector, kind headerKind) {
	t.Helper()
	wire := unhex(t, v.Hex)
	h := kind.new()
	n, err := h.Decode(wire)
	require.NoError(t, err, "%s %s", v.Name, v.Hex)
	require.Equal(t, len(wire), n, "%s %s", v.Name, v.Hex)
	require.Equal(t, v.Fields.plain(), kind.fields(h).plain(), "%s %s", v.Name, v.Hex)
	checkEncode(t, h, wire)
	if v.Name != "prologue" { // its type and next_hdr are independent here
		require.NoError(t, h.Validate(), "%s %s", v.Name, v.Hex)
	}

	line := h.String()
	require.NotEmpty(t, line)
	require.NotContains(t, line, "\n")
	require.NotContains(t, line, "%!")
}

// checkEncode checks that h has the bytes wire, into a dirty buffer of just the
// size, appended, and not into a smaller buffer.
func checkEncode(t *testing.T, h header, wire []byte) {
	t.Helper()
	buf := bytes.Repeat([]byte{0xa5}, len(wire))
	n, err := h.Encode(buf)
	require.NoError(t, err)
	require.Equal(t, len(wire), n)
	require.Equal(t, wire, buf)

	dirty := bytes.Repeat([]byte{0xa5}, 2*len(wire)+1)
	require.Equal(t, wire, h.AppendTo(dirty[:1])[1:])
	require.Equal(t, wire, h.AppendTo(nil))

	_, err = h.Encode(buf[:len(wire)-1])
	require.Error(t, err)
}

// testMalformedVectors checks that each line fails to decode, fails to
// validate, or decodes as if its reserved bits were zero, as it says.
func testMalformedVectors(t *testing.T) {
	valid := map[string][]byte{}
	for _, v := range readVectors[vector](t, "pds.jsonl") {
		valid[v.Name] = unhex(t, v.Hex)
	}
	for _, v := range readVectors[malformedVector](t, "malformed.jsonl") {
		if strings.HasPrefix(v.Name, "packet/") {
			v.replayPacket(t)
			continue
		}
		if ways := sesKinds[v.Name]; ways != nil {
			for _, header := range ways {
				v.replaySES(t, header)
			}
			continue
		}
		kind, ok := pdsKinds[v.Name]
		require.True(t, ok, "no header kind %q", v.Name)
		v.replayPDS(t, kind, valid[v.Name])
	}
}

// replayPDS holds the PDS header kind to v. other is a header of the kind that
// decodes.
func (v *malformedVector) replayPDS(t *testing.T, kind headerKind, other []byte) {
	switch wire := unhex(t, v.Hex); v.Expect {
	case "error":
		checkError(t, kind, wire, other)
	case "invalid":
		h := kind.new()
		_, err := h.Decode(wire)
		require.NoError(t, err, "%s %s: %s", v.Name, v.Hex, v.Why)
		require.Error(t, h.Validate(), "%s %s: %s", v.Name, v.Hex, v.Why)
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

// checkError checks that wire does not decode, always with the same error
// value, and that a header that held other bytes is left as it was.
func checkError(t *testing.T, kind headerKind, wire, other []byte) {
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

// readVectors returns the lines of a vector file.
func readVectors[T any](t testing.TB, file string) []T {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(readRecorded(t, vectorsDir(), file)))
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
