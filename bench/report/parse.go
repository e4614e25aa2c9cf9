// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"
)

// A round is the figures of one pass over all jobs, by the name of the job's
// benchmark and by side.
type round struct {
	cpu  string
	jobs map[string]*[len(sides)]figures
}

// figures are measurements by benchmark and unit. A name is without "Benchmark"
// and without the number of processors the testing package appends.
type figures map[string]map[string]float64

// header begins the line of a transcript naming the source of the output that
// follows: "== ours PDSAckCC/op=decode" or "== peers PDSAckCC/op=decode".
const header = "== "

// parseRound reads a transcript: outputs of go test -bench with -cpu=procs, each
// behind a header.
func parseRound(text string, procs int) round {
	r := round{jobs: map[string]*[len(sides)]figures{}}
	suffix := ""
	if procs != 1 {
		suffix = "-" + strconv.Itoa(procs)
	}
	var into figures
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if h, ok := strings.CutPrefix(line, header); ok {
			into = r.section(h)
		}
		if cpu, ok := strings.CutPrefix(line, "cpu: "); ok {
			r.cpu = cpu
		}
		if name, units, ok := parseLine(line); ok && into != nil {
			into[strings.TrimSuffix(name, suffix)] = units
		}
	}
	return r
}

// section finds where the figures of a header go; nil is nowhere.
func (r *round) section(h string) figures {
	name, j, _ := strings.Cut(h, " ")
	for i, s := range sides {
		if s.name != name {
			continue
		}
		if r.jobs[j] == nil {
			r.jobs[j] = new([len(sides)]figures)
		}
		if r.jobs[j][i] == nil {
			r.jobs[j][i] = figures{}
		}
		return r.jobs[j][i]
	}
	return nil
}

// parseLine splits "BenchmarkX-2  100  12.5 ns/op  0 allocs/op".
func parseLine(line string) (name string, units map[string]float64, ok bool) {
	f := strings.Fields(line)
	if len(f) < 4 || len(f)%2 != 0 || !strings.HasPrefix(f[0], "Benchmark") {
		return "", nil, false
	}
	if _, err := strconv.Atoi(f[1]); err != nil {
		return "", nil, false
	}
	units = map[string]float64{}
	for i := 2; i < len(f); i += 2 {
		v, err := strconv.ParseFloat(f[i], 64)
		if err != nil {
			return "", nil, false
		}
		units[f[i+1]] = v
	}
	return strings.TrimPrefix(f[0], "Benchmark"), units, true
}

// time is one measurement in nanoseconds: in the unit named, else of a packet where
// the benchmark reports packets, else of an iteration. ok is false without a
// measurement.
func (r *round) time(j *job, side int, name, unit string) (v float64, ok bool) {
	if unit != "" {
		return r.figure(j, side, name, unit)
	}
	if v, ok = r.figure(j, side, name, "ns/packet"); !ok {
		v, ok = r.figure(j, side, name, "ns/op")
	}
	return v, ok
}

// figure is one measurement; ok is false without a measurement.
func (r *round) figure(j *job, side int, name, unit string) (v float64, ok bool) {
	both := r.jobs[j.ours]
	if both == nil {
		return 0, false
	}
	v, ok = both[side][name][unit]
	return v, ok
}
