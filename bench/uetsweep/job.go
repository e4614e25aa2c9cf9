// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A job is one run of uetsim: with all that the result depends on.
type job struct {
	Key     string            `json:"key"`              // hash of the rest
	Version string            `json:"version"`          // of uetsim
	Args    []string          `json:"args"`             // of uetsim, each -flag=value
	Inputs  map[string]string `json:"inputs,omitempty"` // SHA-256 of the file that a flag names, by flag
}

// A result is a job done: a line of results.jsonl.
type result struct {
	job
	Runs   []namedRun `json:"runs"`             // of the job's uetsim; a scenario has several
	Failed []string   `json:"failed,omitempty"` // what uetsim said against them
	Host   string     `json:"host"`             // that ran the job
	Took   float64    `json:"took_s"`           // from the start of uetsim to its end
}

// A namedRun is a run of uetsim -json, without the lists that grow with the number of transfers and
// ports.
type namedRun struct {
	Name   string                     `json:"name"`
	Result map[string]json.RawMessage `json:"result"`
}

// longLists are the fields of uetsim's results left out by a namedRun. Run the job again to see the
// lists.
var longLists = []string{"transfers", "queues", "uplinks", "pfc_pauses"}

func newJob(version string, args []string, inputs map[string]string) job {
	j := job{Version: version, Args: args, Inputs: inputs}
	b, err := json.Marshal(j) // maps are sorted
	if err != nil {
		panic(err) // texts alone
	}
	sum := sha256.Sum256(b)
	j.Key = hex.EncodeToString(sum[:12])
	return j
}

// check checks that a foreign job matches the job's key and has nothing but axes, so no server can
// have a worker's uetsim write files.
func (j job) check() error {
	if want := newJob(j.Version, j.Args, j.Inputs).Key; j.Key != want {
		return fmt.Errorf("job %q: its key should be %s", j.Key, want)
	}
	for _, arg := range j.Args {
		flag, value := splitArg(arg)
		if !strings.HasPrefix(arg, "-") || axisUsage(flag) == "" {
			return fmt.Errorf("job %s: argument %q: %w", j.Key, arg, errAxis)
		}
		if sum, err := hex.DecodeString(j.Inputs[flag]); slices.Contains(fileAxes, flag) && (err != nil || len(sum) != sha256.Size) {
			return fmt.Errorf("job %s: no hash of -%s %s", j.Key, flag, value)
		}
	}
	return nil
}

// splitArg is the flag, without the dash, and the value of an argument of a job.
func splitArg(arg string) (flag, value string) {
	flag, value, _ = strings.Cut(strings.TrimPrefix(arg, "-"), "=")
	return flag, value
}

// An inputs knows the files named by jobs, and the hashes.
type inputs map[string]string

// of gives the hashes of the files the arguments of a job name.
func (in inputs) of(args []string) (map[string]string, error) {
	sums := map[string]string{}
	for _, arg := range args {
		flag, path := splitArg(arg)
		if !slices.Contains(fileAxes, flag) {
			continue
		}
		if _, ok := in[path]; !ok {
			sum, err := fileSum(path)
			if err != nil {
				return nil, fmt.Errorf("-%s: %w", flag, err)
			}
			in[path] = sum
		}
		sums[flag] = in[path]
	}
	return sums, nil
}

// fileSum is the SHA-256 of a file, in hexadecimal digits.
func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// jobs are the combinations of the axes, each with the files' hashes.
func jobs(version string, axes []axis) (all []job, files inputs, err error) {
	files = inputs{}
	err = combinations(axes, func(args []string) error {
		sums, err := files.of(args)
		all = append(all, newJob(version, args, sums))
		return err
	})
	return all, files, err
}

// withFiles are the arguments of a job whose files lie elsewhere: at says where, by hash and name.
func (j job) withFiles(at func(sum, base string) string) []string {
	args := slices.Clone(j.Args)
	for i, arg := range args {
		if flag, path := splitArg(arg); slices.Contains(fileAxes, flag) {
			args[i] = "-" + flag + "=" + at(j.Inputs[flag], "of-"+filepath.Base(path))
		}
	}
	return args
}
