// SPDX-License-Identifier: Apache-2.0

package goal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// backwardTag is the tag of the first micro-batch on the way back.
const backwardTag = 1000

// pipeline computes on CPU 0 and has messages on CPU 1, in parallel to the computation.
func pipeline(j Job) *Schedule {
	back := max(backwardTag, j.Pieces)
	return build(j, func(r int, b *rankBuilder) {
		var last []uint32 // calculation
		stage := func(from, to, tag int, ns int64) {
			var wait []uint32
			if from >= 0 && from < j.Ranks {
				recv := b.Recv(from, j.Bytes, uint32(tag))
				b.Ops[recv].CPU = 1
				wait = append(wait, recv)
			}
			calc := b.Calc(ns, 0)
			b.Require(calc, append(wait, last...)...)
			last = []uint32{calc}
			if to >= 0 && to < j.Ranks {
				send := b.Send(to, j.Bytes, uint32(tag))
				b.Ops[send].CPU = 1
				b.Require(send, calc)
			}
		}
		for m := range j.Pieces {
			stage(r-1, r+1, m, j.Forward)
		}
		for m := range j.Pieces {
			stage(r+1, r-1, back+m, j.Backward)
		}
	})
}

func incast(j Job) *Schedule {
	return build(j, func(r int, b *rankBuilder) {
		if r > 0 {
			b.Send(0, j.Bytes, 0)
			return
		}
		for from := 1; from < j.Ranks; from++ {
			b.Recv(from, j.Bytes, 0)
		}
	})
}

// permutation is one cycle, so nobody sends to itself (Sattolo's shuffle).
func permutation(j Job) *Schedule {
	rnd := rand.New(rand.NewPCG(j.Seed, 0))
	to, from := make([]int, j.Ranks), make([]int, j.Ranks)
	for r := range to {
		to[r] = r
	}
	for r := j.Ranks - 1; r > 0; r-- {
		k := rnd.IntN(r)
		to[r], to[k] = to[k], to[r]
	}
	for r, t := range to {
		from[t] = r
	}
	return build(j, func(r int, b *rankBuilder) {
		b.Send(to[r], j.Bytes, 0)
		b.Recv(from[r], j.Bytes, 0)
	})
}

// A SizeTable is a distribution of flow sizes: the share of flows of up to so many bytes, linear
// between the points.
type SizeTable struct {
	Name   string
	Source string
	points []sizePoint
}

type sizePoint struct {
	bytes float64
	share float64
}

var sizeTables = []SizeTable{
	{"web-search", "Alizadeh et al., DCTCP, SIGCOMM 2010", []sizePoint{
		{0, 0}, {10e3, .15}, {20e3, .20}, {30e3, .30}, {50e3, .40}, {80e3, .53}, {200e3, .60}, {1e6, .70}, {2e6, .80}, {5e6, .90}, {10e6, .97}, {30e6, 1}}},
	{"data-mining", "Greenberg et al., VL2, SIGCOMM 2009", []sizePoint{
		{0, 0}, {180, .1}, {216, .2}, {560, .3}, {900, .4}, {1100, .5}, {1870, .6}, {3160, .7}, {10e3, .8}, {400e3, .9}, {3.16e6, .95}, {100e6, .98}, {1e9, 1}}},
	{"hadoop", "Roy et al., Facebook, SIGCOMM 2015", []sizePoint{
		{0, 0}, {100, .01}, {200, .02}, {300, .05}, {350, .15}, {400, .20}, {500, .30}, {600, .40}, {700, .50}, {1000, .60}, {2000, .67}, {7000, .70}, {30e3, .72},
		{50e3, .82}, {80e3, .87}, {120e3, .90}, {300e3, .95}, {1e6, .975}, {2e6, .99}, {10e6, 1}}},
}

// FindSizes returns the table of a name, or an error with all names.
func FindSizes(name string) (*SizeTable, error) {
	var names []string
	for i := range sizeTables {
		if sizeTables[i].Name == name {
			return &sizeTables[i], nil
		}
		names = append(names, sizeTables[i].Name)
	}
	return nil, fmt.Errorf("%w: no sizes %q, there are: %s", ErrSchedule, name, strings.Join(names, ", "))
}

func sizesKnown(j Job) error {
	_, err := FindSizes(j.Sizes)
	return err
}

// Mean is the mean size, bytes.
func (t *SizeTable) Mean() (sum float64) {
	for i, p := range t.points[1:] {
		sum += (p.share - t.points[i].share) * (p.bytes + t.points[i].bytes) / 2
	}
	return sum
}

// Quantile is the size a share from 0 to 1 of the flows does not exceed, at least a byte.
func (t *SizeTable) Quantile(share float64) int64 {
	for i, p := range t.points[1:] {
		if last := t.points[i]; share <= p.share {
			return max(1, int64(last.bytes+(p.bytes-last.bytes)*(share-last.share)/(p.share-last.share)))
		}
	}
	return int64(t.points[len(t.points)-1].bytes)
}

// poisson has every rank begin flows at random, with a mean spacing of mean size / (Load * Rate),
// each to a different rank of equal chance. A rank's times are a chain of calculations on CPU 0.
func poisson(j Job) *Schedule {
	t, _ := FindSizes(j.Sizes)
	spacing := t.Mean() * 8e9 / (j.Load * float64(j.Rate)) // ns
	s := &Schedule{Ranks: make([]Rank, j.Ranks)}
	tag := uint32(0)
	for r := range s.Ranks {
		rnd := rand.New(rand.NewPCG(j.Seed, uint64(r)))
		src, at, last := &s.Ranks[r], int64(0), []uint32{}
		for next := rnd.ExpFloat64() * spacing; next < float64(j.Duration); next += rnd.ExpFloat64() * spacing {
			begin := int64(math.Round(next))
			calc := src.Calc(begin-at, 0)
			src.Require(calc, last...)
			at, last = begin, []uint32{calc}
			dst := (r + 1 + rnd.IntN(j.Ranks-1)) % j.Ranks
			bytes := t.Quantile(rnd.Float64())
			send := src.Send(dst, bytes, tag)
			recv := s.Ranks[dst].Recv(r, bytes, tag)
			src.Ops[send].CPU, s.Ranks[dst].Ops[recv].CPU = 1, 1
			src.Require(send, calc)
			tag++
		}
	}
	return s
}
