// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/enum"
)

// SeriesConfig selects the samples of a run over time. The memory depends on Points and
// Lines, not on the length of the run.
type SeriesConfig struct {
	Interval link.Ps // between samples; 0: BaseRTT
	Points   int     // most points of a line, 2 to 1,048,576 and even; 0: 1,000
	Lines    int     // most ports and most connections that have lines of their own; 0: 64

	// Port chooses the ports with lines, by name in [QueueResult]; nil: the last hops to
	// hosts with senders, and then all other ports, by number.
	Port func(name string) bool
}

// SeriesKind is the quantity of a [Line].
type SeriesKind uint8

// The kinds.
const (
	SeriesQueue  SeriesKind = iota // bytes of data that wait at a port of a switch
	SeriesLink                     // bits a second that a port of a switch has begun to send
	SeriesWindow                   // bytes of the window of a connection
)

var (
	seriesKindNames = [...]string{"queue", "link", "window"}
	seriesKindUnits = [...]string{"bytes", "bits_per_second", "bytes"}
)

// String names the kind.
func (k SeriesKind) String() string { return enum.Name(seriesKindNames[:], k) }

// MarshalText is the name.
func (k SeriesKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText sets the kind of a name.
func (k *SeriesKind) UnmarshalText(b []byte) error {
	i := slices.Index(seriesKindNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("fabric: no kind of series is named %q", b)
	}
	*k = SeriesKind(i)
	return nil
}

// Unit is the unit of the numbers of a [Line].
func (k SeriesKind) Unit() string { return enum.Name(seriesKindUnits[:], k) }

// Series are samples of a run. Point i of every line is of the samples taken in
// Interval microseconds from i*Interval on; the last point may have fewer.
//
// What happens between two samples is not seen: a [Watcher] is told of every change, and package
// bench/page draws all extremes of the changes, at the cost of a call for each.
//
// When all points are used two become one, so the interval doubles: Min and Max of a point
// are over all samples of the point.
type Series struct {
	Sampled  float64 `json:"sampled_us"`  // between two samples
	Interval float64 `json:"interval_us"` // of a point
	Left     int     `json:"left_out"`    // ports and connections that were too many to have lines
	Lines    []Line  `json:"lines"`
}

// A Line is one quantity over time, a number in each slice for each point.
type Line struct {
	Kind SeriesKind `json:"kind"`
	Name string     `json:"name"` // of the port; of a connection its number and its hosts
	Min  []float64  `json:"min"`
	Mean []float64  `json:"mean"`
	Max  []float64  `json:"max"`

	what uint32 // port or connection
	sent int64  // bytes until the last sample
}

func (c *SeriesConfig) check() error {
	if c == nil {
		return nil
	}
	points := cmp.Or(c.Points, 2)
	if points%2 != 0 {
		return fmt.Errorf("%w: Series.Points is %d, want an even number", ErrConfig, points)
	}
	return cmp.Or(
		check.Range(ErrConfig, "Series.Interval", c.Interval, 0, link.Second),
		check.Range(ErrConfig, "Series.Points", points, 2, 1<<20),
		check.Range(ErrConfig, "Series.Lines", c.Lines, 0, 1<<20),
	)
}

// A sampler takes the samples of a run.
type sampler struct {
	interval int64 // ps
	points   int
	next     int64 // time of the next sample, ps
	per      int   // samples of a point
	have     int   // of the last one, samples so far
	out      Series
}

func newSampler(s *sim) *sampler {
	c := s.cfg.Series
	a := &sampler{interval: int64(cmp.Or(c.Interval, s.cfg.BaseRTT)), points: cmp.Or(c.Points, 1000), per: 1}
	a.next = a.interval
	most := cmp.Or(c.Lines, 64)
	ports := builder{s}.seriesPorts()
	for _, p := range ports[:min(most, len(ports))] {
		name := s.name(p)
		a.out.Lines = append(a.out.Lines, Line{Kind: SeriesQueue, Name: name, what: p}, Line{Kind: SeriesLink, Name: name, what: p})
	}
	conns := s.connections()
	for i := range uint32(min(most, conns)) {
		name := fmt.Sprintf("%d: %d to %d", i, s.hostOf[source(i)], s.hostOf[destination(i)])
		a.out.Lines = append(a.out.Lines, Line{Kind: SeriesWindow, Name: name, what: i})
	}
	a.out.Left = max(len(ports)-most, 0) + max(conns-most, 0)
	return a
}

// seriesPorts are the ports of switches that are to have lines, the most wanted first.
func (s builder) seriesPorts() (ports []uint32) {
	wanted := s.cfg.Series.Port
	var others []uint32
	receives := make([]bool, s.hosts)
	for _, f := range s.cfg.Matrix.Flows {
		receives[f.Dst] = true
	}
	for p := s.hosts; p < uint32(len(s.ports)); p++ {
		peer := s.ports[p].peer
		switch {
		case wanted != nil && !wanted(s.name(p)):
		case wanted != nil || peer < s.hosts && receives[peer]:
			ports = append(ports, p)
		default:
			others = append(others, p)
		}
	}
	return append(ports, others...)
}

// sample takes those samples due before an event at some time.
func (a *sampler) sample(s *sim, before int64) {
	for a.next <= before && a.next <= int64(s.cfg.End) {
		for i := range a.out.Lines {
			l := &a.out.Lines[i]
			l.add(a.read(s, l), a.have)
		}
		a.next += a.interval
		if a.have++; a.have == a.per {
			a.have = 0
			a.halve()
		}
	}
}

// read is the present value of a line.
func (a *sampler) read(s *sim, l *Line) float64 {
	switch l.Kind {
	case SeriesQueue:
		return float64(s.ports[l.what].queue.Bytes(switchq.ClassLow))
	case SeriesLink:
		p := &s.ports[l.what]
		before := l.sent
		l.sent = p.passedBytes + p.queue.Counters().OutBytes
		return float64(l.sent-before) * 8e12 / float64(a.interval)
	}
	return float64(s.equipment.windowOf(l.what))
}

// windowOf is the window of a connection, bytes; 0 while a connection of endpoints has none.
func (s *light) windowOf(conn uint32) int64 { return s.senders[conn].ctx.Cwnd() }

func (s endpoints) windowOf(conn uint32) int64 {
	h := s.world.hosts[s.hostOf[source(conn)]]
	if k := h.contexts[int(s.hostOf[destination(conn)])]; h.e != nil && k != 0 {
		if c := h.e.CC().Context(k); c != nil {
			return c.Cwnd()
		}
	}
	return 0
}

// add adds a sample to the last point, with samples already, or begins a new point.
func (l *Line) add(v float64, have int) {
	if have == 0 {
		l.Min, l.Mean, l.Max = append(l.Min, v), append(l.Mean, v), append(l.Max, v)
		return
	}
	i := len(l.Mean) - 1
	l.Min[i], l.Max[i] = min(l.Min[i], v), max(l.Max[i], v)
	l.Mean[i] += (v - l.Mean[i]) / float64(have+1)
}

// halve makes one point of two when no room is left for a new point.
func (a *sampler) halve() {
	if len(a.out.Lines) == 0 || len(a.out.Lines[0].Mean) < a.points {
		return
	}
	a.per *= 2
	for i := range a.out.Lines {
		l := &a.out.Lines[i]
		for j := range a.points / 2 {
			l.Min[j], l.Max[j] = min(l.Min[2*j], l.Min[2*j+1]), max(l.Max[2*j], l.Max[2*j+1])
			l.Mean[j] = (l.Mean[2*j] + l.Mean[2*j+1]) / 2
		}
		l.Min, l.Mean, l.Max = l.Min[:a.points/2], l.Mean[:a.points/2], l.Max[:a.points/2]
	}
}

// result is the samples so far.
func (a *sampler) result() *Series {
	out := a.out
	out.Sampled, out.Interval = us(a.interval), us(a.interval*int64(a.per))
	return &out
}
