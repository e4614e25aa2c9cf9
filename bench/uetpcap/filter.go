// SPDX-License-Identifier: Apache-2.0

package uetpcap

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ErrFilter is wrapped by the errors of [ParseFilter].
var ErrFilter = errors.New("uetpcap: not a filter")

// A Filter chooses packets.
type Filter func(*Packet) bool

// ParseFilter reads terms with commas between, all of which have to hold:
//
//	type=RUD_REQ        a field of the lines of JSON, case ignored; != for another value
//	psn=100..200        a number from 100 to 200
//	illegal             a field that is there, and neither 0 nor false; !illegal for the others
//
// host stands for src or dst, and pdcid for spdcid or dpdcid.
func ParseFilter(s string) (Filter, error) {
	var terms []Filter
	for _, word := range strings.Split(s, ",") {
		t, err := parseTerm(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		terms = append(terms, t)
	}
	return func(p *Packet) bool { return takes(terms, p) }, nil
}

// takes reports whether all filters take a packet.
func takes(all []Filter, p *Packet) bool {
	return !slices.ContainsFunc(all, func(f Filter) bool { return !f(p) })
}

// eitherFields are names for one of two fields.
var eitherFields = map[string][]string{"host": {"src", "dst"}, "pdcid": {"spdcid", "dpdcid"}}

func parseTerm(word string) (Filter, error) {
	name, want, hasValue := strings.Cut(word, "=")
	name, not := strings.CutSuffix(name, "!")
	if !hasValue {
		name, not = strings.CutPrefix(name, "!")
	}
	names := eitherFields[name]
	if names == nil {
		names = []string{name}
	}
	var places []int
	for _, n := range names {
		i := slices.Index(fieldNames, n)
		if i < 0 || n == "" {
			return nil, fmt.Errorf("%w: no field %q, there are %s, host and pdcid", ErrFilter, n, strings.Join(slices.DeleteFunc(slices.Clone(fieldNames), isEmpty), ", "))
		}
		places = append(places, i)
	}
	if hasValue && want == "" {
		return nil, fmt.Errorf("%w: %s: no value", ErrFilter, word)
	}
	matches, err := matcher(want, hasValue)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFilter, word, err)
	}
	return func(p *Packet) bool {
		v := reflect.ValueOf(p).Elem()
		return slices.ContainsFunc(places, func(i int) bool { return matches(v.Field(i)) }) != not
	}, nil
}

// matcher compares a field with a value, or says whether there is one.
func matcher(want string, hasValue bool) (func(reflect.Value) bool, error) {
	if !hasValue {
		return func(v reflect.Value) bool { return !v.IsZero() }, nil
	}
	low, high, isRange := strings.Cut(want, "..")
	if !isRange {
		return func(v reflect.Value) bool {
			v = reflect.Indirect(v)
			return v.IsValid() && strings.EqualFold(fmt.Sprint(v.Interface()), want)
		}, nil
	}
	a, errA := strconv.ParseFloat(low, 64)
	b, errB := strconv.ParseFloat(high, 64)
	if err := errors.Join(errA, errB); err != nil || a > b {
		return nil, errors.New("want numbers as in 5..9, the lower one first")
	}
	return func(v reflect.Value) bool {
		v = reflect.Indirect(v)
		if !v.IsValid() {
			return false
		}
		n, err := strconv.ParseFloat(fmt.Sprint(v.Interface()), 64)
		return err == nil && a <= n && n <= b
	}, nil
}

// fieldNames are the names in JSON of the fields of a [Packet], "" of what has none.
var fieldNames = func() (all []string) {
	for f := range reflect.TypeFor[Packet]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}()

func isEmpty(s string) bool { return s == "" }
