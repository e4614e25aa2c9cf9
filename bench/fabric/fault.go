// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/internal/enum"
)

// A Fault is a failure at a time: a link or a switch going down, a link slowing down or losing
// packets. A link fails in both directions, and a switch with all links.
type Fault struct {
	Place Place
	Kind  FaultKind
	Value float64 // of FaultRate what is left of the rate, of FaultLoss the probability; 1e-6 to less than 1
	From  link.Ps
	Until link.Ps // when all is well again; 0: never
}

// A Place is the link of a host, an uplink of a switch, or a switch.
type Place struct {
	Tier   int // 0 leaf, 1 aggregation or spine, 2 core; -1: a host
	Number int // of the switch in its tier, or of the host
	Link   int // number of the uplink; -1: the switch itself, or the link of the host
}

// leastRate is the least Value.
const leastRate = 1e-6

// FaultKind is the kind of a [Fault].
type FaultKind uint8

// The kinds.
const (
	FaultDown FaultKind = iota // all packets are lost, those that wait too
	FaultRate                  // the link is slower
	FaultLoss                  // packets are lost at random
)

var faultNames = [...]string{"down", "rate", "loss"}

// String is down, rate or loss.
func (k FaultKind) String() string { return enum.Name(faultNames[:], k) }

var tierNames = [...]string{"leaf", "spine", "core"}

// String is host3, leaf3.2 or spine1, as read by [ParseFault].
func (p Place) String() string {
	name := "host"
	if p.Tier >= 0 {
		name = enum.Name(tierNames[:], uint8(p.Tier))
	}
	if p.Link >= 0 {
		return fmt.Sprintf("%s%d.%d", name, p.Number, p.Link)
	}
	return fmt.Sprintf("%s%d", name, p.Number)
}

// String is the form read by [ParseFault].
func (f Fault) String() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	what := f.Kind.String()
	if f.Kind != FaultDown {
		what += "=" + number(f.Value)
	}
	s := fmt.Sprintf("%v:%s@%s", f.Place, what, number(us(int64(f.From))))
	if f.Until != 0 {
		s += "-" + number(us(int64(f.Until)))
	}
	return s
}

// ParseFault reads PLACE:WHAT@FROM or PLACE:WHAT@FROM-UNTIL, with times in microseconds. A place is
// leaf3.2 (uplink 2 of leaf 3), spine1 or agg1, core4 (a switch), or host5 (the host's link); down,
// rate=0.25 (of the link's) and loss=0.01 (of the packets) are the faults there. So
//
//	leaf0.1:down@100-400   spine2:down@50   agg0.1:rate=0.25@0   host5:loss=0.01@10-90
//
// The error wraps [ErrConfig].
func ParseFault(text string) (f Fault, err error) {
	bad := func(what string) (Fault, error) {
		return Fault{}, fmt.Errorf("%w: fault %q: %s, want PLACE:WHAT@FROM[-UNTIL] as in leaf0.1:down@100-400", ErrConfig, text, what)
	}
	place, rest, ok := strings.Cut(text, ":")
	what, when, timed := strings.Cut(rest, "@")
	if !ok || !timed {
		return bad("a part is missing")
	}
	if f.Place, ok = parsePlace(place); !ok {
		return bad("no place " + strconv.Quote(place))
	}
	if f.Kind, f.Value, ok = parseWhat(what); !ok {
		return bad(strconv.Quote(what) + " is none of down, rate=X and loss=X with X from 1e-6 to less than 1")
	}
	from, until, ends := strings.Cut(when, "-")
	if f.From, ok = parseMicroseconds(from); !ok {
		return bad("no time " + strconv.Quote(from))
	}
	if !ends {
		return f, nil
	}
	if f.Until, ok = parseMicroseconds(until); !ok || f.Until <= f.From {
		return bad("no later time " + strconv.Quote(until))
	}
	return f, nil
}

func parsePlace(text string) (p Place, ok bool) {
	for name, tier := range map[string]int{"host": -1, "leaf": 0, "spine": 1, "agg": 1, "core": 2} {
		number, found := strings.CutPrefix(text, name)
		if !found {
			continue
		}
		p = Place{Tier: tier, Link: -1}
		sw, uplink, linked := strings.Cut(number, ".")
		if p.Number, ok = parseCount(sw); ok && linked {
			p.Link, ok = parseCount(uplink)
		}
		return p, ok && (!linked || tier == 0 || tier == 1)
	}
	return p, false
}

func parseCount(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 24)
	return int(n), err == nil
}

func parseWhat(text string) (k FaultKind, v float64, ok bool) {
	name, value, valued := strings.Cut(text, "=")
	switch {
	case name == "down" && !valued:
		return FaultDown, 0, true
	case name == "rate":
		k = FaultRate
	case name == "loss":
		k = FaultLoss
	default:
		return 0, 0, false
	}
	v, err := strconv.ParseFloat(value, 64)
	return k, v, err == nil && v >= leastRate && v < 1
}

// parseMicroseconds reads a time of less than 1,000 s.
func parseMicroseconds(text string) (link.Ps, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v < 1e9) {
		return 0, false
	}
	return link.Ps(math.Round(v * float64(link.Microsecond))), true
}

// check repeats the checks of [ParseFault].
func (f *Fault) check() error {
	if f.Kind > FaultLoss || f.Kind != FaultDown && !(f.Value >= leastRate && f.Value < 1) || f.From < 0 || f.Until != 0 && f.Until <= f.From {
		return fmt.Errorf("%w: fault %v: kind, value or times", ErrConfig, f)
	}
	return nil
}
