// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each wrong command line is one line of error, with what is wrong and what is wanted, and nothing is done.
func TestWrongCommandLines(t *testing.T) {
	dir := t.TempDir()
	results, short := filepath.Join(dir, resultsFile), writeFile(t, "token", []byte("short"))
	b := []byte(`{"key":"a","args":["-cc=nscc"],"runs":[{"name":"x","result":{"unfinished":0}}]}` + "\n")
	require.NoError(t, os.WriteFile(results, b, 0o600))
	for args, want := range map[string]string{
		"":                               "usage: uetsweep run|worker|compare|version",
		"sweep":                          "usage: uetsweep run|worker|compare|version",
		"run":                            "-out is missing",
		"run -out OUT":                   "nothing to sweep",
		"run -out OUT -cc nscc more":     `unexpected argument "more"`,
		"run -out OUT -colour red":       "flag provided but not defined: -colour",
		"run -out OUT -pcap a":           "flag provided but not defined: -pcap",
		"run -out OUT -cc nscc -cc rccc": "-cc is given twice",
		"run -out OUT -seed 1,1":         `value "1" of the list "1,1" is empty or there twice`,
		"run -out OUT -seed 9..1":        "9..1, want a first number up to the last one, and at most 1000000 of them",
		"run -out OUT -seed 1..99999 -speed 1..999":            "more than 10000000 jobs",
		"run -out OUT -matrix nowhere.cm":                      "-matrix: open nowhere.cm",
		"run -out OUT -cc nscc -jobs 0":                        "-jobs is 0, want 1 to 4096 jobs at a time",
		"run -out OUT -cc nscc -token-file a":                  "-token-file, -tls-cert and -tls-key need -serve",
		"run -out OUT -cc nscc -serve 4222":                    `-serve "4222", want host:port or :port`,
		"run -out OUT -cc nscc -serve 0.0.0.0:4222":            "-serve 0.0.0.0:4222 lets any machine in: give it and its workers a -token-file",
		"run -out OUT -cc nscc -serve :nats -token-file TOKEN": "want a number as port",
		"run -out OUT -cc nscc -serve :1 -token-file TOKEN":    "has 5 characters, want at least 16",
		"run -out OUT -cc nscc -serve localhost:1 -lease 1ms":  "-lease is 1ms, want 100ms to 1h0m0s of silence",
		"run -out OUT -cc nscc -serve localhost:1 -tls-key a":  "-tls-cert and -tls-key need each other",
		"worker":                                 "-join is missing: the address of uetsweep run -serve, host:port",
		"worker -join a:1 -jobs 0":               "-jobs is 0, want 1 to 4096 jobs at a time",
		"worker -join a:1 -wait -1s":             "-wait is -1s, want 0s to 1000h0m0s without the sweep",
		"compare":                                "nothing to compare: want the folders of sweeps",
		"compare -by seed DIR":                   `-by "seed": want version or an axis other than seed`,
		"compare -alpha 2 DIR":                   "-alpha is 2, want 1e-06 to 0.5",
		"compare -metric luck DIR":               `-metric "luck": there is no such number, but: unfinished`,
		"compare -metric unfinished -base x DIR": `-base "x": -cc has nscc`,
		"compare -html RESULTS DIR":              "the results and -html are the same file",
		"compare nowhere":                        "nowhere/results.jsonl",
	} {
		words := strings.NewReplacer("OUT", filepath.Join(dir, "out"), "TOKEN", short, "RESULTS", results, "DIR", dir).Replace(args)
		if strings.HasPrefix(args, "run -out OUT") {
			words += " -uetsim " + self(t)
			words = strings.Replace(words, " more -uetsim", " -uetsim", 1)
			if strings.HasSuffix(args, " more") {
				words += " more"
			}
		}
		status, out, errs := uetsweep(strings.Fields(words)...)
		require.Equal(t, 2, status, args)
		require.Contains(t, errs, want, args)
		require.Equal(t, 1, strings.Count(errs, "\n"), errs)
		require.NotContains(t, out, "done now", args)
	}
	left, err := os.ReadFile(results)
	require.NoError(t, err)
	require.Equal(t, string(b), string(left))
}
