// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// errRefused is wrapped by the error about a job impossible for uetsim. A second try, or a
// different machine, would not help.
var errRefused = errors.New("uetsim could not run")

// A program is the uetsim of the jobs. Each job has a separate process: too much memory, or a
// panic, costs only a single job.
type program struct {
	path    string
	version string
	cores   int // that each job may use
}

const uetsimPackage = "github.com/uetcc/uetcc/bench/uetsim"

// findProgram is the uetsim at path or, with "", beside uetsweep or, in a checkout, built from the
// sources into dir. parallel jobs share the cores.
func findProgram(ctx context.Context, path, dir string, parallel int) (*program, error) {
	if path == "" {
		path = beside()
	}
	if path == "" {
		path = filepath.Join(dir, "uetsim"+exe())
		said, err := exec.CommandContext(ctx, "go", "build", "-o", path, uetsimPackage).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("no uetsim: name it with -uetsim, or install it beside uetsweep with go install %s@latest (go build: %v: %s)",
				uetsimPackage, err, lastLine(said))
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, path, "-version").Output()
	if err != nil {
		return nil, fmt.Errorf("-uetsim %s: %w", path, err)
	}
	version := strings.TrimSpace(string(out))
	released := !strings.Contains(version, "(devel)") && !strings.Contains(version, "(unknown)")
	if !released && !strings.Contains(version, "revision ") || strings.Contains(version, "modified") {
		sum, err := fileSum(path) // sources in between two revisions have no other name
		if err != nil {
			return nil, err
		}
		version += ", sha256:" + sum[:16]
	}
	return &program{path, version, max(1, runtime.NumCPU()/max(1, parallel))}, nil
}

func beside() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	path := filepath.Join(filepath.Dir(self), "uetsim"+exe())
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// run does a job, with the arguments args in place of the job's, whose files may lie elsewhere. An
// end of ctx ends the job without a result.
func (p *program) run(ctx context.Context, j job, args []string) (*result, error) {
	c := exec.CommandContext(ctx, p.path, append(args, "-json")...)
	c.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", p.cores))
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	began := time.Now()
	err := c.Run()
	r := &result{job: j, Took: time.Since(began).Seconds()}
	r.Host, _ = os.Hostname()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case c.ProcessState == nil:
		return nil, err
	case c.ProcessState.ExitCode() == 2:
		return nil, fmt.Errorf("%w %s: %s", errRefused, strings.Join(args, " "), lastLine(said.Bytes()))
	case c.ProcessState.ExitCode() > 2 || c.ProcessState.ExitCode() < 0:
		return nil, fmt.Errorf("uetsim %s: %w", strings.Join(args, " "), err)
	}
	for line := range strings.Lines(said.String()) {
		r.Failed = append(r.Failed, strings.TrimPrefix(strings.TrimSpace(line), "uetsim: FAILED: "))
	}
	if r.Runs, err = runsOf(out.Bytes()); err != nil {
		return nil, fmt.Errorf("uetsim %s: %w", strings.Join(args, " "), err)
	}
	return r, nil
}

// runsOf reads the output of uetsim -json.
func runsOf(report []byte) ([]namedRun, error) {
	var r struct {
		Partial string     `json:"partial"`
		Runs    []namedRun `json:"runs"`
	}
	if err := json.Unmarshal(report, &r); err != nil {
		return nil, err
	}
	if r.Partial != "" {
		return nil, fmt.Errorf("only a part: %s", r.Partial)
	}
	for _, run := range r.Runs {
		for _, list := range longLists {
			delete(run.Result, list)
		}
	}
	return r.Runs, nil
}

// lastLine is the line with a program's cause of death; for a panic the first.
func lastLine(said []byte) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return lines[len(lines)-1]
}
