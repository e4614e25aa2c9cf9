// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ses"
)

// replaySES decodes v to its fields in one way of reading its kind, and encodes the fields
// to its bytes.
func (v *vector) replaySES(t *testing.T, header func() (sesCodec, sesFields)) {
	wire := unhex(t, v.Hex)
	h, fields := header()
	where := fmt.Sprintf("%s %s as %T", v.Name, v.Hex, h)
	n, err := h.Decode(append(bytes.Clone(wire), 0xa5))
	require.NoError(t, err, where)
	require.Equal(t, len(wire), n, where)
	fields.requireEqual(t, v.Fields, where)
	require.NoError(t, h.Validate(), where)

	h, fields = header()
	fields.set(t, v.Fields)
	dirty := bytes.Repeat([]byte{0xff}, 128)
	require.Equal(t, v.Hex, hex.EncodeToString(h.AppendTo(dirty[:0])), where)
}

// replaySES feeds one way of reading a SES header what must not decode, must not
// validate, or must decode with reserved bits ignored.
func (v *malformedVector) replaySES(t *testing.T, header func() (sesCodec, sesFields)) {
	wire := unhex(t, v.Hex)
	h, _ := header()
	where := fmt.Sprintf("%s %s as %T: %s", v.Name, v.Hex, h, v.Why)
	_, err := h.Decode(wire)
	switch v.Expect {
	case "error":
		fresh, _ := header()
		require.Equal(t, fresh, h, "%s: touched on error", where)
		v.requireWrong(t, err)
	case "invalid":
		require.NoError(t, err, where)
		v.requireWrong(t, h.Validate())
	case "ignore":
		require.NoError(t, err, where)
		same := v.same(t)
		want, _ := header()
		_, err = want.Decode(same)
		require.NoError(t, err, where)
		require.Equal(t, want, h, where)
		require.Equal(t, same, h.AppendTo(nil), where)
	default:
		t.Fatalf("%s: unknown expectation %q", where, v.Expect)
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
