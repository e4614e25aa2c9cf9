// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A samples gathers the numbers of all results by the common parts of the jobs.
type samples struct {
	o      *compareOptions
	of     map[point][]float64
	groups []string
	values map[string]bool // of -by
	found  map[string]bool // names of numbers in the results
	failed map[string]int  // jobs of which uetsim said something, by value of -by
	seen   map[string]bool // keys
	all    map[string]int  // jobs, by value

	versions map[string]bool
}

// A point is a cell of the comparison.
type point struct{ group, metric, value string }

func newSamples(o *compareOptions) *samples {
	return &samples{o: o, of: map[point][]float64{}, values: map[string]bool{}, found: map[string]bool{},
		failed: map[string]int{}, seen: map[string]bool{}, all: map[string]int{}, versions: map[string]bool{}}
}

// add takes a result not there before, maybe in another folder.
func (s *samples) add(r *result) {
	if s.seen[r.Key] {
		return
	}
	s.seen[r.Key] = true
	value := r.Version
	if s.o.by != "version" {
		value = "default"
	}
	var common []string
	for _, arg := range r.Args {
		switch flag, v := splitArg(arg); flag {
		case s.o.by:
			value = v
		case "seed":
		default:
			common = append(common, arg)
		}
	}
	if s.o.by != "version" {
		common = append(common, by(r.Version))
	}
	s.versions[r.Version] = true
	s.values[value] = true
	s.all[value]++
	if len(r.Failed) > 0 {
		s.failed[value]++
	}
	for _, run := range r.Runs {
		name := strings.Join(common, " ")
		if len(r.Runs) > 1 {
			name = "run " + strconv.Quote(run.Name) + " of " + name
		}
		if !slices.Contains(s.groups, name) {
			s.groups = append(s.groups, name)
		}
		s.addNumbers("", run.Result, func(metric string, v float64) {
			s.found[metric] = true
			if slices.Contains(s.o.metrics, metric) {
				k := point{name, metric, value}
				s.of[k] = append(s.of[k], v)
			}
		})
	}
}

// addNumbers gives each number of a result to yield, named by the path of fields.
func (s *samples) addNumbers(prefix string, fields map[string]json.RawMessage, yield func(string, float64)) {
	for name, b := range fields {
		var v float64
		var deeper map[string]json.RawMessage
		switch {
		case json.Unmarshal(b, &v) == nil && string(b) != "null":
			yield(prefix+name, v)
		case json.Unmarshal(b, &deeper) == nil:
			s.addNumbers(prefix+name+".", deeper, yield)
		}
	}
}

// columns are the values of -by, the base first.
func (s *samples) columns() ([]string, error) {
	if len(s.values) == 0 {
		return nil, fmt.Errorf("no results in %s", strings.Join(s.o.dirs, ", "))
	}
	for _, metric := range s.o.metrics {
		if !s.found[metric] {
			return nil, fmt.Errorf("-metric %q: there is no such number, but: %s", metric, strings.Join(slices.Sorted(maps.Keys(s.found)), ", "))
		}
	}
	slices.SortFunc(s.groups, natural)
	values := slices.SortedFunc(maps.Keys(s.values), natural)
	if s.o.base == "" {
		return values, nil
	}
	i := slices.Index(values, s.o.base)
	if i < 0 {
		return nil, fmt.Errorf("-base %q: -%s has %s", s.o.base, s.o.by, strings.Join(values, ", "))
	}
	return slices.Concat([]string{s.o.base}, values[:i], values[i+1:]), nil
}

// natural orders texts word by word, and numbers by value.
func natural(a, b string) int {
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '=' })
	}
	return slices.CompareFunc(split(a), split(b), func(x, y string) int {
		v, errX := strconv.ParseFloat(x, 64)
		w, errY := strconv.ParseFloat(y, 64)
		if errX == nil && errY == nil {
			return cmp.Compare(v, w)
		}
		return cmp.Compare(x, y)
	})
}

// by names the version in a group's name.
func by(version string) string { return "(" + version + ")" }

// title is a group's name, without the version if the same everywhere.
func (s *samples) title(group string) string {
	if len(s.versions) > 1 {
		return group
	}
	for v := range s.versions {
		group = strings.TrimSpace(strings.TrimSuffix(group, by(v)))
	}
	return cmp.Or(group, "all")
}

// notes name the version of the results, and jobs with unsound results.
func (s *samples) notes() (notes []string) {
	if len(s.versions) == 1 {
		for v := range s.versions {
			notes = append(notes, "results of "+v)
		}
	}
	for _, value := range slices.SortedFunc(maps.Keys(s.failed), natural) {
		notes = append(notes, fmt.Sprintf("%d of %d jobs of %s failed in uetsim, such as by transfers that did not finish: see \"failed\" of their lines",
			s.failed[value], s.all[value], value))
	}
	return notes
}
