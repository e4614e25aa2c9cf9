package link

import (
	"errors"
	"fmt"
)

// ErrPath is what [Path.Validate] wraps.
var ErrPath = errors.New("link: invalid path")

// A Path is the way from one host to another through an idle network. The zero
// Path has no delay. Paths are values; methods do not change them.
type Path struct {
	FrameBytes    int64 // largest frame, headers included
	HeaderBytes   int64 // what comes back as an acknowledgement; 0: not counted
	BitsPerSecond int64 // of every link on the way
	FiberMetres   int64 // of all links together
	Switches      int64 // on the way; links are one more
	SwitchDelay   Ps    // head in to head out, per switch
	FECDelay      Ps    // per link

	// StoreForward switches take in a whole frame before they send its first
	// bit: serialisation counts once a link instead of once a path.
	StoreForward bool
}

// Validate reports the first field that makes no sense, as an error that wraps
// [ErrPath].
func (p Path) Validate() error {
	switch {
	case p.FrameBytes <= 0:
		return fmt.Errorf("%w: FrameBytes %d, want more than 0", ErrPath, p.FrameBytes)
	case p.HeaderBytes < 0 || p.HeaderBytes > p.FrameBytes:
		return fmt.Errorf("%w: HeaderBytes %d, want 0 to FrameBytes %d", ErrPath, p.HeaderBytes, p.FrameBytes)
	case p.BitsPerSecond <= 0:
		return fmt.Errorf("%w: BitsPerSecond %d, want more than 0", ErrPath, p.BitsPerSecond)
	case p.FiberMetres < 0, p.Switches < 0, p.SwitchDelay < 0, p.FECDelay < 0:
		return fmt.Errorf("%w: a negative length, count or delay", ErrPath)
	}
	return nil
}

// Links on the way: one more than switches.
func (p Path) Links() int64 { return p.Switches + 1 }

// OneWay is the time from the first bit out of the sender to the last bit into
// the receiver.
func (p Path) OneWay() Ps { return p.fixed() + p.serialization(p.FrameBytes) }

// BaseRTT is there and back. Without HeaderBytes both directions count a full
// frame, as figure 6-7 does; with them the way back carries an acknowledgement
// of that size.
func (p Path) BaseRTT() Ps {
	if p.HeaderBytes == 0 {
		return 2 * p.OneWay()
	}
	return p.OneWay() + p.fixed() + p.serialization(p.HeaderBytes)
}

// BDP of the path in bytes, both ends at its link rate.
func (p Path) BDP() int64 { return BDP(p.BitsPerSecond, p.BitsPerSecond, p.BaseRTT()) }

func (p Path) fixed() Ps {
	return Propagation(p.FiberMetres) + Ps(p.Switches)*p.SwitchDelay + Ps(p.Links())*p.FECDelay
}

func (p Path) serialization(bytes int64) Ps {
	s := Serialization(bytes, p.BitsPerSecond)
	if p.StoreForward {
		s *= Ps(p.Links())
	}
	return s
}
