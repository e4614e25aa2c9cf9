// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/bits"
	"reflect"
	"strings"
	"unicode"
)

// A layout is a header, or a part of a header, as read by a codec.
type layout struct {
	name  string
	len   int    // bytes
	first []byte // that make the codec read this layout; the rest is zero
	read  func(b []byte) any
}

// A field is where a codec has a value from.
type field struct {
	name   string // in snake_case
	at     int    // bit of the layout, the first on the wire is 0
	bits   int
	signed bool
	values []string // names of the values from 0 on; "": it has none
}

// fields finds the fields and places of l's codec by turning round each bit on the wire: the field
// whose value changes by 2^k has bit k there. So the dissector has no table besides the codecs. A bit
// of no field is reserved.
func (l *layout) fields() (all []field, err error) {
	wire := make([]byte, max(l.len, len(l.first))+64) // with room for what an opcode asks for behind
	copy(wire, l.first)
	before := flatten(l.read(wire))
	for at := range 8 * l.len {
		wire[at/8] ^= 0x80 >> (at % 8)
		name, k, err := changed(before, flatten(l.read(wire)))
		wire[at/8] ^= 0x80 >> (at % 8)
		if err != nil {
			return nil, fmt.Errorf("%s, bit %d: %w", l.name, at, err)
		}
		if name == "" {
			continue
		}
		if n := len(all); n > 0 && all[n-1].name == name {
			all[n-1].bits++
		} else {
			all = append(all, field{name: name, at: at, bits: 1})
		}
		if f := &all[len(all)-1]; k == 0 {
			f.describe(before)
		} else if f.at+f.bits-1 != at {
			return nil, fmt.Errorf("%s: %s is not in one piece", l.name, name)
		}
	}
	return all, nil
}

// describe notes the facts in the type of a field.
func (f *field) describe(values []value) {
	for _, v := range values {
		if v.name != f.name {
			continue
		}
		f.signed = v.of.CanInt()
		if _, is := v.of.Interface().(fmt.Stringer); !is || f.bits > 8 || !v.of.CanUint() {
			return
		}
		for i := range 1 << f.bits {
			x := reflect.New(v.of.Type()).Elem()
			x.SetUint(uint64(i))
			f.values = append(f.values, nameOf(x.Interface().(fmt.Stringer)))
		}
	}
}

// A value is a field of a structure.
type value struct {
	name string
	of   reflect.Value
	bits uint64
}

// flatten lists the numbers of a structure, including embedded structures. Arrays have no number.
func flatten(of any) (all []value) {
	v := reflect.Indirect(reflect.ValueOf(of))
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		switch {
		case x.Kind() == reflect.Struct && f.Anonymous:
			all = append(all, flatten(x.Interface())...)
		case x.Kind() == reflect.Struct:
			for _, y := range flatten(x.Interface()) {
				y.name = snake(f.Name) + "_" + y.name
				all = append(all, y)
			}
		case x.CanUint():
			all = append(all, value{snake(f.Name), x, x.Uint()})
		case x.CanInt():
			all = append(all, value{snake(f.Name), x, uint64(x.Int()) & (1<<x.Type().Bits() - 1)})
		case x.Kind() == reflect.Bool:
			n := uint64(0)
			if x.Bool() {
				n = 1
			}
			all = append(all, value{snake(f.Name), x, n})
		}
	}
	return all
}

// changed names the differing value, and the differing bit.
func changed(before, after []value) (name string, k int, err error) {
	for i := range before {
		d := before[i].bits ^ after[i].bits
		if d == 0 {
			continue
		}
		if name != "" || bits.OnesCount64(d) != 1 {
			return "", 0, fmt.Errorf("%s and %s change, or %s by %#x", name, before[i].name, before[i].name, d)
		}
		name, k = before[i].name, bits.TrailingZeros64(d)
	}
	return name, k, nil
}

// snake is a Go name in snake_case: OOOCount is ooo_count.
func snake(name string) string {
	name = strings.NewReplacer("PIDonFEP", "PidOnFep", "CCCID", "CccID", "RsvPDC", "ReservedPDC").Replace(name)
	var b strings.Builder
	r := []rune(name)
	for i, c := range r {
		if i > 0 && unicode.IsUpper(c) && (unicode.IsLower(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
