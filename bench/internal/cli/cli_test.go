// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name       string
		args       []string
		err, print string
	}{
		{"a flag and an argument", []string{"-n", "3", "x"}, "", ""},
		{"help", []string{"-h"}, "flag: help requested", "usage: test [flags]\n  -n int\n    \thow many\n"},
		{"unknown flag", []string{"-x"}, "flag provided but not defined: -x; -h lists the flags", ""},
		{"wrong value", []string{"-n", "x"}, `invalid value "x" for flag -n: parse error; -n int: how many`, ""},
		{"no value", []string{"-n"}, "flag needs an argument: -n; -n int: how many", ""},
	} {
		f := flag.NewFlagSet("test", flag.ContinueOnError)
		n := f.Int("n", 0, "how many")
		var w bytes.Buffer
		err := Parse(f, tc.args, "test [flags]", &w)
		require.Equal(t, tc.print, w.String(), tc.name)
		if tc.err != "" {
			require.EqualError(t, err, tc.err, tc.name)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 3, *n)
		require.Equal(t, []string{"x"}, f.Args())
	}
}
