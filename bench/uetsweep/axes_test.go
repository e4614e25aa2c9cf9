package main

import (
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
		got, err := values(list)
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
		all, err := values(list)
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

// What uetsweep takes for an axis, uetsim takes, too, and no axis has a job write a file.
func TestAxesAreFlagsOfUetsim(t *testing.T) {
	path, err := uetsim()
	require.NoError(t, err)
	said, err := exec.Command(path, "-h").CombinedOutput()
	require.NoError(t, err)
	for _, a := range axisFlags {
		require.Regexp(t, `(?m)^  -`+a.name+`( |$|\t)`, string(said))
		require.NotRegexp(t, `(?m)^  -`+a.name+`.*\n.*\bwrite`, string(said))
	}
}
