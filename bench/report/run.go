// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A command runs a program in a directory and returns the output.
type command func(dir, program string, args ...string) ([]byte, error)

// A side is one of the two modules.
type side struct {
	name     string
	dir      string // below the root of the repository
	packages []string
}

var sides = [...]side{
	ourSide:  {"ours", ".", []string{"./bench", "./bench/fabric", "./internal/pdc"}},
	peerSide: {"peers", "bench/peers", []string{"./..."}},
}

const (
	ourSide = iota
	peerSide
)

// sideOf is the index in sides of kind k.
func sideOf(k kind) int {
	if k == kindOwn {
		return ourSide
	}
	return peerSide
}

// A bench runs benchmarks of both sides from test binaries built once.
type bench struct {
	o        *options
	run      command
	binaries [len(sides)]map[string]string // path, by the name of a top-level benchmark
}

// build compiles the tests of both sides into dir and lists the benchmarks.
func build(o *options, run command, dir string) (*bench, error) {
	b := &bench{o: o, run: run}
	for i, s := range sides {
		out := filepath.Join(dir, s.name)
		if err := os.Mkdir(out, 0o777); err != nil {
			return nil, err
		}
		args := append([]string{"test", "-c", "-o", out + string(filepath.Separator)}, s.packages...)
		if text, err := run(filepath.Join(o.root, s.dir), "go", args...); err != nil {
			return nil, fmt.Errorf("building %s: %w\n%s", s.name, err, text)
		}
		found, err := os.ReadDir(out)
		if err != nil {
			return nil, err
		}
		b.binaries[i] = map[string]string{}
		for _, f := range found {
			program := filepath.Join(out, f.Name())
			text, err := run(out, program, "-test.list", "^Benchmark")
			if err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", program, err, text)
			}
			for name := range strings.FieldsSeq(string(text)) {
				b.binaries[i][name] = program
			}
		}
	}
	return b, nil
}

// round measures every job due once and gives a transcript, see parseRound.
// All measurements of one job fall within a few seconds; rivals go first in every
// second round.
func (b *bench) round(n int, some []chapter) (string, error) {
	var transcript strings.Builder
	for _, c := range some {
		for i := range c.jobs {
			if n%c.every != 0 {
				break
			}
			order := []int{ourSide, peerSide}
			if n/c.every%2 == 1 {
				slices.Reverse(order)
			}
			for _, s := range order {
				if err := b.job(&transcript, s, &c.jobs[i]); err != nil {
					return "", err
				}
			}
		}
	}
	return transcript.String(), nil
}

// job runs j's benchmarks of side s, in the folder with our benchmarks' data.
func (b *bench) job(transcript *strings.Builder, s int, j *job) error {
	wanted := map[string][]string{} // by binary
	add := func(name string) {
		top, _, _ := strings.Cut("Benchmark"+name, "/")
		if program, ok := b.binaries[s][top]; ok {
			wanted[program] = append(wanted[program], name)
		}
	}
	if s == ourSide {
		add(j.ours)
	}
	for i := range j.rivals {
		r := &j.rivals[i]
		if sideOf(r.kind) == s {
			add(r.name)
		}
		switch {
		case r.from == "":
		case s == ourSide:
			add(r.start(j.ours))
		default:
			add(r.start(r.name))
		}
	}
	for program, names := range wanted {
		text, err := b.run(filepath.Join(b.o.root, "bench"), program, "-test.run", "^$", "-test.bench", exactly(names),
			"-test.benchtime", b.o.benchtime, "-test.cpu", fmt.Sprint(b.o.procs))
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(names, ", "), err, text)
		}
		fmt.Fprintf(transcript, "%s%s %s\n%s", header, sides[s].name, j.ours, text)
	}
	return nil
}

// exactly is a -bench pattern that runs the named benchmarks only. A name comes
// before longer names with the same beginning, else the testing package takes the
// name for a parent and does not measure the benchmark.
func exactly(names []string) string {
	slices.Sort(names)
	all := make([]string, len(names))
	for i, name := range names {
		parts := strings.Split("Benchmark"+name, "/")
		for k, p := range parts {
			parts[k] = "^" + regexp.QuoteMeta(p) + "$"
		}
		all[i] = strings.Join(parts, "/")
	}
	return strings.Join(all, "|")
}

// measure runs all rounds and keeps the transcripts if asked to.
func measure(o *options, some []chapter, run command) (rounds []string, err error) {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b, err := build(o, run, dir)
	if err != nil {
		return nil, err
	}
	for n := range o.rounds {
		fmt.Fprintf(o.log, "round %d of %d\n", n+1, o.rounds)
		text, err := b.round(n, some)
		if err != nil {
			return nil, err
		}
		if o.raw != "" {
			if err := os.WriteFile(filepath.Join(o.raw, fmt.Sprintf("round%02d.txt", n+1)), []byte(text), 0o666); err != nil {
				return nil, err
			}
		}
		rounds = append(rounds, text)
	}
	return rounds, nil
}

// load reads the transcripts kept by -raw.
func load(dir string) (rounds []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "round*.txt"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, string(text))
	}
	return rounds, err
}
