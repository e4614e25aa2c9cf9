// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/enum"
)

// A Size is an amount of data in one of the units of queues. The zero Size leaves a default
// unchanged.
type Size struct {
	N    float64
	Unit SizeUnit
}

// SizeUnit is the unit of a [Size].
type SizeUnit uint8

// The units.
const (
	UnitBytes   SizeUnit = iota
	UnitPackets          // of PacketBytes
	UnitBDP              // bandwidth-delay products between two hosts
)

var sizeUnits = [...]string{"b", "p", "bdp"}

// String is the ending of the number: b, p or bdp.
func (u SizeUnit) String() string { return enum.Name(sizeUnits[:], u) }

// Bytes is a size of n bytes.
func Bytes(n int64) Size { return Size{float64(n), UnitBytes} }

// Packets is a size of n packets.
func Packets(n int64) Size { return Size{float64(n), UnitPackets} }

// BDPs is a size of n bandwidth-delay products.
func BDPs(n float64) Size { return Size{n, UnitBDP} }

// ParseSize reads a number with a unit: 200000 or 200000b are bytes, 50p packets and 1.5bdp
// bandwidth-delay products. The error wraps [ErrConfig].
func ParseSize(text string) (s Size, err error) {
	number := text
	switch {
	case strings.HasSuffix(text, "bdp"):
		number, s.Unit = strings.TrimSuffix(text, "bdp"), UnitBDP
	case strings.HasSuffix(text, "p"):
		number, s.Unit = strings.TrimSuffix(text, "p"), UnitPackets
	case strings.HasSuffix(text, "b"):
		number = strings.TrimSuffix(text, "b")
	}
	if s.N, err = strconv.ParseFloat(number, 64); err != nil || !(s.N >= 0 && s.N <= maxSize) {
		return Size{}, fmt.Errorf("%w: size %q, want 0 to %g bytes, packets as in 50p, or 1.5bdp", ErrConfig, text, float64(maxSize))
	}
	return s, nil
}

// maxSize bounds the number of a size, so the bytes fit.
const maxSize = 1 << 40

// String is the form read by [ParseSize].
func (s Size) String() string { return strconv.FormatFloat(s.N, 'g', -1, 64) + s.Unit.String() }

func (s Size) check(field string) error { return check.Range(ErrConfig, field, s.N, 0, maxSize) }

// in is s in bytes for the packets and the round trip of c.
func (s Size) in(c *Config) int64 {
	switch s.Unit {
	case UnitPackets:
		return int64(math.Round(s.N * float64(c.PacketBytes)))
	case UnitBDP:
		return int64(math.Round(s.N * float64(c.bdp())))
	}
	return int64(s.N)
}
