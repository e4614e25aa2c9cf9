// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uetcc/uetcc/bench/uetsim/sim"
)

// errAxis is wrapped by the errors about an axis.
var errAxis = errors.New("not an axis")

// An axis is a flag of uetsim with the values a sweep gives it.
type axis struct {
	flag   string
	values []string
}

// An axisFlag is a flag of uetsim that may be an axis.
type axisFlag struct{ name, usage string }

// axisFlags are those that uetsim has: seeds first and congestion controls last, so that a sweep that is cut off has
// something of each, and the others by name.
var axisFlags = func() (all []axisFlag) {
	sim.Axes(func(f *flag.Flag) {
		_, usage := flag.UnquoteUsage(f)
		all = append(all, axisFlag{f.Name, usage})
	})
	rank := map[string]int{"seed": -1, "cc": 1}
	slices.SortStableFunc(all, func(a, b axisFlag) int { return rank[a.name] - rank[b.name] })
	return all
}()

// axisUsage is how to give values to the axis of a name, "" if there is no such axis.
func axisUsage(name string) string {
	for _, a := range axisFlags {
		if a.name == name {
			return a.usage
		}
	}
	return ""
}

// fileAxes are the flags whose values are files that uetsim reads, commaFlags those whose values have commas.
var fileAxes, commaFlags = []string{"matrix", "topo", "goal"}, []string{"fail", "tune"}

// addAxes makes a flag of each axis; the result fills during parsing.
func addAxes(f *flag.FlagSet) *[]axis {
	var axes []axis
	for _, a := range axisFlags {
		usage, sep := "`LIST` of uetsim's -"+a.name+": "+a.usage, ","
		if slices.Contains(commaFlags, a.name) {
			usage, sep = usage+"; semicolons between the values", ";"
		}
		f.Func(a.name, usage, func(list string) error {
			if slices.ContainsFunc(axes, func(b axis) bool { return b.flag == a.name }) {
				return fmt.Errorf("%w: -%s is given twice", errAxis, a.name)
			}
			v, err := values(list, sep)
			axes = append(axes, axis{a.name, v})
			return err
		})
	}
	return &axes
}

// maxValues bounds an axis, and maxJobs a sweep, so a slip of the finger does not fill the memory.
const maxValues, maxJobs = 1_000_000, 10_000_000

// values are the values in a list: words with sep between, and a..b for whole numbers from a to b.
func values(list, sep string) (all []string, err error) {
	seen := map[string]bool{}
	for _, word := range strings.Split(list, sep) {
		some, err := numbers(word)
		if err != nil {
			return nil, err
		}
		for _, v := range some {
			if v == "" || seen[v] {
				return nil, fmt.Errorf("%w: value %q of the list %q is empty or there twice", errAxis, v, list)
			}
			seen[v] = true
			all = append(all, v)
		}
		if len(all) > maxValues {
			return nil, fmt.Errorf("%w: more than %d values", errAxis, maxValues)
		}
	}
	return all, nil
}

// numbers are the numbers from a to b, or the word alone.
func numbers(word string) ([]string, error) {
	low, high, ok := strings.Cut(word, "..")
	a, errA := strconv.ParseInt(low, 10, 64)
	b, errB := strconv.ParseInt(high, 10, 64)
	if !ok || errA != nil || errB != nil { // such as ../a.cm
		return []string{word}, nil
	}
	if a > b || b-a < 0 || b-a >= maxValues {
		return nil, fmt.Errorf("%w: %s, want a first number up to the last one, and at most %d of them", errAxis, word, maxValues)
	}
	all := make([]string, 0, b-a+1)
	for i := range b - a + 1 {
		all = append(all, strconv.FormatInt(a+i, 10))
	}
	return all, nil
}

// combinations gives every choice of values, one from each axis, to yield, as arguments of uetsim.
func combinations(axes []axis, yield func(args []string) error) error {
	place := func(a axis) int {
		return slices.IndexFunc(axisFlags, func(f axisFlag) bool { return f.name == a.flag })
	}
	axes = slices.SortedFunc(slices.Values(axes), func(a, b axis) int { return place(a) - place(b) })
	n := 1
	for _, a := range axes {
		if n *= len(a.values); n > maxJobs {
			return fmt.Errorf("%w: more than %d jobs", errAxis, maxJobs)
		}
	}
	for i := range n {
		args := make([]string, len(axes))
		for k := len(axes) - 1; k >= 0; k-- {
			v := axes[k].values
			args[k] = "-" + axes[k].flag + "=" + v[i%len(v)]
			i /= len(v)
		}
		if err := yield(args); err != nil {
			return err
		}
	}
	return nil
}
