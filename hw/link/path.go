// SPDX-License-Identifier: Apache-2.0

package link

import (
	"cmp"
	"errors"

	"github.com/uetcc/uetcc/internal/check"
)

// ErrConfig is wrapped by the errors of [Path.Validate].
var ErrConfig = errors.New("link: invalid configuration")

// A Path is the way from one host to another through an idle network. The zero
// Path has no delay. Paths are values; methods do not change a Path. Sums saturate at
// the largest [Ps].
type Path struct {
	FrameBytes    int64 // largest frame, headers included
	HeaderBytes   int64 // what comes back as an acknowledgement; 0: not counted
	BitsPerSecond int64 // of every link on the way
	FiberMetres   int64 // of all links together
	Switches      int64 // on the way; links are one more
	SwitchDelay   Ps    // head in to head out, per switch
	FECDelay      Ps    // per link

	// StoreForward switches take in a whole frame before sending the first bit:
	// serialisation counts once a link instead of once a path.
	StoreForward bool
}

// Validate reports the first senseless field, as an error that wraps
// [ErrConfig].
func (p Path) Validate() error {
	return cmp.Or(
		check.AtLeast(ErrConfig, "FrameBytes", p.FrameBytes, 1),
		check.Range(ErrConfig, "HeaderBytes", p.HeaderBytes, 0, p.FrameBytes),
		check.AtLeast(ErrConfig, "BitsPerSecond", p.BitsPerSecond, 1),
		check.AtLeast(ErrConfig, "FiberMetres", p.FiberMetres, 0),
		check.AtLeast(ErrConfig, "Switches", p.Switches, 0),
		check.AtLeast(ErrConfig, "SwitchDelay", p.SwitchDelay, 0),
		check.AtLeast(ErrConfig, "FECDelay", p.FECDelay, 0),
	)
}

// links is the number of links on the way: Switches + 1.
func (p Path) links() int64 { return add(p.Switches, 1) }

// OneWay is the time from the first bit out of the sender to the last bit into
// the receiver.
func (p Path) OneWay() Ps { return add(p.fixed(), p.serialization(p.FrameBytes)) }

// BaseRTT is the round trip. Without HeaderBytes both directions count a full
// frame, as figure 6-7 does; otherwise the way back carries an acknowledgement of
// HeaderBytes.
func (p Path) BaseRTT() Ps {
	if p.HeaderBytes == 0 {
		return add(p.OneWay(), p.OneWay())
	}
	return add(p.OneWay(), add(p.fixed(), p.serialization(p.HeaderBytes)))
}

func (p Path) fixed() Ps {
	return add(Propagation(p.FiberMetres), add(p.SwitchDelay.times(p.Switches), p.FECDelay.times(p.links())))
}

func (p Path) serialization(bytes int64) Ps {
	s := Serialization(bytes, p.BitsPerSecond)
	if p.StoreForward {
		s = s.times(p.links())
	}
	return s
}
