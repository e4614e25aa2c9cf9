package fuzz

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ses"
)

// A sesLine is one line of ses.jsonl or malformed.jsonl.
type sesLine struct {
	Name, Hex, Why, Expect string
	Fields                 map[string]any
}

// sesRead yields the lines of a vector file whose kind is one of ours, by the
// variable UETCC_VECTORS from another directory than testdata/vectors.
func sesRead(t testing.TB, file string) iter.Seq[*sesLine] {
	t.Helper()
	root := "testdata/vectors"
	if dir := os.Getenv("UETCC_VECTORS"); dir != "" {
		root = dir
	}
	d := json.NewDecoder(bytes.NewReader(readRecorded(t, os.DirFS(root), file)))
	d.UseNumber()
	return func(yield func(*sesLine) bool) {
		for {
			l := new(sesLine)
			if err := d.Decode(l); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatal(file, err)
			}
			if sesKinds[l.Name] != nil && !yield(l) {
				return
			}
		}
	}
}

// TestSESVectors decodes every SES vector to its fields and encodes the fields
// to its bytes.
func TestSESVectors(t *testing.T) {
	lines := 0
	for l := range sesRead(t, "ses.jsonl") {
		lines++
		for _, ways := range sesKinds[l.Name] {
			l.replay(t, ways)
		}
	}
	require.NotZero(t, lines)
	t.Logf("%d lines", lines)
}

func (l *sesLine) replay(t *testing.T, header func() (sesCodec, sesFields)) {
	wire, err := hex.DecodeString(l.Hex)
	require.NoError(t, err)
	h, fields := header()
	where := fmt.Sprintf("%s %s as %T", l.Name, l.Hex, h)
	n, err := h.Decode(append(bytes.Clone(wire), 0xa5))
	require.NoError(t, err, where)
	require.Equal(t, len(wire), n, where)
	fields.requireEqual(t, l.Fields, where)
	require.NoError(t, h.Validate(), where)

	h, fields = header()
	fields.set(t, l.Fields)
	dirty := bytes.Repeat([]byte{0xff}, 128)
	require.Equal(t, l.Hex, hex.EncodeToString(h.AppendTo(dirty[:0])), where)
}

// TestSESMalformed feeds the SES headers that must not decode, must not
// validate, or must decode with reserved bits ignored.
func TestSESMalformed(t *testing.T) {
	if os.Getenv("UETCC_VECTORS") == "" {
		t.Skip("malformed.jsonl is not recorded here yet")
	}
	lines := 0
	for l := range sesRead(t, "malformed.jsonl") {
		lines++
		for _, header := range sesKinds[l.Name] {
			l.replayMalformed(t, header)
		}
	}
	require.NotZero(t, lines)
	t.Logf("%d lines", lines)
}

func (l *sesLine) replayMalformed(t *testing.T, header func() (sesCodec, sesFields)) {
	wire, err := hex.DecodeString(l.Hex)
	require.NoError(t, err)
	h, _ := header()
	where := fmt.Sprintf("%s %s as %T: %s", l.Name, l.Hex, h, l.Why)
	_, err = h.Decode(wire)
	switch l.Expect {
	case "error":
		fresh, _ := header()
		require.Equal(t, fresh, h, "%s: touched on error", where)
		require.True(t, errors.Is(err, ses.ErrTruncated) || errors.Is(err, ses.ErrForm), where)
	case "invalid":
		require.NoError(t, err, where)
		require.Error(t, h.Validate(), where)
	case "ignore":
		require.NoError(t, err, where)
		same, err := hex.DecodeString(l.Why[strings.LastIndexByte(l.Why, ' ')+1:])
		require.NoError(t, err, where)
		want, _ := header()
		_, err = want.Decode(same)
		require.NoError(t, err, where)
		require.Equal(t, want, h, where)
		require.Equal(t, same, h.AppendTo(nil), where)
	default:
		t.Fatalf("%s: unknown expectation %q", where, l.Expect)
	}
}

// requireEqual compares the bound fields with those of a vector; fields that the
// vector lacks must be zero.
func (f sesFields) requireEqual(t *testing.T, want map[string]any, where string) {
	t.Helper()
	used := map[any]bool{}
	for name, v := range want {
		place, ok := f[name]
		require.True(t, ok, "%s: no field %s", where, name)
		require.Equal(t, sesValue(t, v), sesLoad(place), "%s: field %s", where, name)
		used[place] = true
	}
	for name, place := range f {
		if !used[place] {
			require.Zero(t, sesLoad(place), "%s: field %s is not in the vector", where, name)
		}
	}
}

// set stores the fields of a vector into the bound header.
func (f sesFields) set(t *testing.T, from map[string]any) {
	t.Helper()
	for name, v := range from {
		val := sesValue(t, v)
		switch p := f[name].(type) {
		case *ses.Operand:
			*p = val
		case sesFlag:
			if val.Lo != 0 {
				*p.flags |= p.bit
			}
		default:
			reflect.ValueOf(p).Elem().SetUint(val.Lo)
		}
	}
}

// sesValue reads a number of a vector: a JSON integer, or a string of all the
// digits.
func sesValue(t *testing.T, v any) (n ses.Operand) {
	t.Helper()
	s := fmt.Sprint(v)
	base := 10
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		s, base = digits, 16
	}
	var err error
	if len(s) == 32 {
		n.Hi, err = strconv.ParseUint(s[:16], base, 64)
		require.NoError(t, err)
		s = s[16:]
	}
	n.Lo, err = strconv.ParseUint(s, base, 64)
	require.NoError(t, err)
	return n
}

func sesLoad(place any) ses.Operand {
	switch p := place.(type) {
	case *ses.Operand:
		return *p
	case sesFlag:
		if *p.flags&p.bit != 0 {
			return ses.Operand{Lo: 1}
		}
		return ses.Operand{}
	default:
		return ses.Operand{Lo: reflect.ValueOf(p).Elem().Uint()}
	}
}
