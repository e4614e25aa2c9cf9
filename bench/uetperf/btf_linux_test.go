// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// btf is as much of the kernel's description of its own types as it takes to find a
// function's number and a field's place.
type btf struct {
	strings []byte
	types   []btfType // by number; 0 is void
}

type btfType struct {
	name    string
	kind    uint8
	bits    bool // members are in the form for bit fields
	members []btfMember
}

type btfMember struct {
	name   string
	typ    uint32
	offset uint32 // bits
}

const (
	btfMagic                         = 0xeb9f
	btfStruct, btfUnion, btfFunction = 4, 5, 12
)

// btfExtra is what follows a type of each kind, bytes: so many, and so many for each member.
var btfExtra = map[uint8][2]int{
	1: {4, 0}, 3: {12, 0}, btfStruct: {0, 12}, btfUnion: {0, 12}, 6: {0, 8}, 13: {0, 8}, 14: {4, 0}, 15: {0, 12}, 17: {4, 0}, 19: {0, 12},
}

var errBTF = errors.New("no usable BTF")

func readBTF(path string) (*btf, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(b) < 24 || binary.NativeEndian.Uint16(b) != btfMagic {
		return nil, errBTF
	}
	word := func(at int) int { return int(binary.NativeEndian.Uint32(b[at:])) }
	body := b[word(4):]
	t := &btf{strings: body[word(16):][:word(20)], types: make([]btfType, 1)}
	for rest := body[word(8):][:word(12)]; len(rest) >= 12; {
		rest = t.read(rest)
	}
	return t, nil
}

func (t *btf) text(offset uint32) string {
	s, _, _ := bytes.Cut(t.strings[offset:], []byte{0})
	return string(s)
}

// read takes the next type in and returns what follows it.
func (t *btf) read(b []byte) []byte {
	word := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	info := word(4)
	y := btfType{name: t.text(word(0)), kind: uint8(info >> 24 & 0x1f), bits: info>>31 == 1}
	members := int(info & 0xffff)
	if y.kind == btfStruct || y.kind == btfUnion {
		for i := range members {
			at := 12 + 12*i
			y.members = append(y.members, btfMember{t.text(word(at)), word(at + 4), word(at + 8)})
		}
	}
	t.types = append(t.types, y)
	extra := btfExtra[y.kind]
	return b[12+extra[0]+members*extra[1]:]
}

// function is the number of a function's type.
func (t *btf) function(name string) (int32, error) {
	for i := range t.types {
		if t.types[i].kind == btfFunction && t.types[i].name == name {
			return int32(i), nil
		}
	}
	return 0, fmt.Errorf("%w: no function %s", errBTF, name)
}

// offset is that of a field in a struct, bytes.
func (t *btf) offset(structure, field string) (int16, error) {
	for i := range t.types {
		if y := &t.types[i]; y.kind == btfStruct && y.name == structure && len(y.members) > 0 {
			if bits, ok := t.find(y, field); ok {
				return int16(bits / 8), nil
			}
		}
	}
	return 0, fmt.Errorf("%w: no field %s.%s", errBTF, structure, field)
}

// find looks into members without a name, too.
func (t *btf) find(y *btfType, field string) (bits uint32, ok bool) {
	for _, m := range y.members {
		offset := m.offset
		if y.bits {
			offset &= 1<<24 - 1
		}
		if m.name == field {
			return offset, true
		}
		if m.name == "" {
			if inner, ok := t.find(&t.types[m.typ], field); ok {
				return offset + inner, true
			}
		}
	}
	return 0, false
}
