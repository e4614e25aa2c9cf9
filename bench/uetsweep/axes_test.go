// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValues(t *testing.T) {
	for list, want := range map[string][]string{
		"nscc":            {"nscc"},
		"100,400":         {"100", "400"},
		"1..3,7":          {"1", "2", "3", "7"},
		"-1..1":           {"-1", "0", "1"},
		"5..5":            {"5"},
		"../a.cm,b..c.cm": {"../a.cm", "b..c.cm"},
		"0.5,1e-3":        {"0.5", "1e-3"},
		"":                nil,
		"1,,2":            nil,
		"1..3,2":          nil,
		"3..1":            nil,
		"1..1000001":      nil,
		"-9223372036854775808..9223372036854775807": nil,
	} {
		got, err := values(list, ",")
		require.Equal(t, want, got, list)
		if want == nil {
			require.ErrorIs(t, err, errAxis, list)
		}
	}
}

func FuzzValues(f *testing.F) {
	for _, list := range []string{"1..3,7", "a..b", "9223372036854775807..9223372036854775807", "..", ",", "1..2..3"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		all, err := values(list, ",")
		if err != nil {
			require.ErrorIs(t, err, errAxis)
			return
		}
		require.NotEmpty(t, all)
		require.NotContains(t, all, "")
		slices.Sort(all)
		require.Len(t, slices.Compact(all), len(all))
	})
}

// The first seed of all else comes before the second, and every combination once.
func TestCombinations(t *testing.T) {
	var all []string
	axes := []axis{{"cc", []string{"nscc", "rccc"}}, {"seed", []string{"1", "2"}}, {"speed", []string{"100"}}}
	require.NoError(t, combinations(axes, func(args []string) error {
		all = append(all, strings.Join(args, " "))
		return nil
	}))
	require.Equal(t, []string{
		"-seed=1 -speed=100 -cc=nscc", "-seed=1 -speed=100 -cc=rccc", "-seed=2 -speed=100 -cc=nscc", "-seed=2 -speed=100 -cc=rccc",
	}, all)
	many := make([]string, 4000)
	require.ErrorIs(t, combinations([]axis{{"cc", many}, {"seed", many}}, nil), errAxis)
}

// What uetsweep takes for an axis, the uetsim that runs the jobs takes, too, and no axis has a job write a file, repeat
// itself or say more.
func TestAxesAreFlagsOfUetsim(t *testing.T) {
	path, err := uetsim()
	require.NoError(t, err)
	said, err := exec.Command(path, "-h").CombinedOutput()
	require.NoError(t, err)
	var names []string
	for _, a := range axisFlags {
		names = append(names, a.name)
		require.Regexp(t, `(?m)^  -`+a.name+`( |$|\t)`, string(said))
		require.NotRegexp(t, `(?m)^  -`+a.name+`.*\n.*\bwrite`, string(said))
	}
	require.Subset(t, names, []string{"goal", "queue", "ecn-min", "fail", "tune", "routing", "reroute", "tiers", "ack-bytes"})
	for _, no := range []string{"pcap", "trace", "html", "qlog", "perfetto", "flows", "series", "cpuprofile", "json", "seeds", "workers", "version"} {
		require.NotContains(t, names, no)
	}
	require.Equal(t, "seed", names[0])
	require.Equal(t, "cc", names[len(names)-1])
}

// Values with commas of their own have semicolons between.
func TestAxesWithCommas(t *testing.T) {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	axes := addAxes(f)
	require.NoError(t, f.Parse([]string{"-fail", "leaf0.1:down@1-2,spine2:loss=0.01@0;leaf0.1:down@3", "-cc", "nscc,rccc"}))
	require.Equal(t, []axis{{"fail", []string{"leaf0.1:down@1-2,spine2:loss=0.01@0", "leaf0.1:down@3"}}, {"cc", []string{"nscc", "rccc"}}}, *axes)
}
