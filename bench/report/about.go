// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// about is the reader's background to judge the figures, and to measure again.
type about struct {
	Date    string
	CPU     string
	Procs   int
	System  string
	Load    string // of the machine when the run began and ended, one-minute averages
	Go      string
	Commit  string
	Command string
	Rounds  int

	Benchtime string
}

func newAbout(o *options, args []string) about {
	return about{
		Date:    time.Now().UTC().Format(time.DateOnly),
		Procs:   o.procs,
		System:  runtime.GOOS + "/" + runtime.GOARCH,
		Load:    loadAverage(),
		Go:      runtime.Version(),
		Commit:  commit(o.root),
		Command: commandLine(args),
		Rounds:  o.rounds,

		Benchtime: o.benchtime,
	}
}

// commandLine is args as typed into a shell.
func commandLine(args []string) string {
	line := "go run ./bench/report"
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t*?[]|&;<>()$`\"'\\") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		line += " " + a
	}
	return line
}

// commit names the measured revision, "" outside a repository.
func commit(root string) string {
	out, err := exec.Command("git", "-C", root, "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// loadAverage is "" where the system lacks the file.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

func (a about) String() string {
	s := fmt.Sprintf("%s, %d cores used, %s, %s, commit %s, %s", a.CPU, a.Procs, a.System, a.Go, a.Commit, a.Date)
	if a.Load != "" {
		s += ", load average " + a.Load
	}
	return s
}

const aboutFile = "about.json"

func (a about) write(dir string) error {
	text, err := json.MarshalIndent(a, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, aboutFile), append(text, '\n'), 0o666)
}

func readAbout(dir string) (a about, err error) {
	text, err := os.ReadFile(filepath.Join(dir, aboutFile))
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(text, &a)
}
