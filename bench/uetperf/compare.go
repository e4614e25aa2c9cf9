// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/uetcc/uetcc/bench/internal/stream"
)

// A rival is a program with two ends; all rivals understand the same flags.
type rival struct {
	name    string
	command []string
}

// rivals are uetperf and the rivals of -compare. QUIC and KCP are in a separate module, built first.
func (o *options) rivals(dir string) ([]rival, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	all := []rival{{"uet", []string{self, "-proto", "uet", "-mtu", fmt.Sprint(o.mtu), "-paths", "1", "-cc", o.cc}}}
	for _, name := range strings.Split(o.compare, ",") {
		switch name {
		case "tcp":
			all = append(all, rival{name, []string{self, "-proto", "tcp"}})
		case "quic", "kcp":
			program := filepath.Join(dir, "netperf")
			if _, err := os.Stat(program); err != nil {
				if err := build(program); err != nil {
					return nil, err
				}
			}
			all = append(all, rival{name, []string{program, "-proto", name}})
		default:
			return nil, fmt.Errorf("-compare %q, want some of tcp, quic, kcp", name)
		}
	}
	return all, nil
}

// build builds the peers outside the module, in the folder of their sources.
func build(program string) error {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/uetcc/uetcc").Output()
	if err != nil {
		return fmt.Errorf("-compare with quic or kcp runs inside the repository: %w", err)
	}
	c := exec.Command("go", "build", "-o", program, "./netperf")
	c.Dir = filepath.Join(strings.TrimSpace(string(root)), "bench", "peers")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build of bench/peers/netperf: %w: %s", err, out)
	}
	return nil
}

// A round is one run of each rival.
type round map[string]stream.Summary

// runCompare runs uet and the rivals in turn, in alternating order, and prints the medians of the
// rounds' ratios.
func (o *options) runCompare(r *report) error {
	dir, err := os.MkdirTemp("", "uetperf")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rivals, err := o.rivals(dir)
	if err != nil {
		return err
	}
	var rounds []round
	for i := range o.rounds {
		x := round{}
		for k := range rivals {
			v := rivals[(k+i)%len(rivals)]
			s, err := o.match(v)
			if err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			x[v.name] = s
			s.Event = "round"
			r.print(s, "round %d  %-5s %9.1f Mb/s  %9.0f messages/s  p50 %7.1f us  %.2f ns CPU a byte\n", i+1, v.name, s.Megabits, s.PerSecond, s.P50Micros,
				perByte(s))
		}
		rounds = append(rounds, x)
	}
	r.rounds = rounds
	for _, v := range rivals[1:] {
		r.ratio(v.name, rounds)
	}
	return nil
}

func perByte(s stream.Summary) float64 { return s.CPUSeconds * 1e9 / float64(max(s.Bytes, 1)) }

// ratio prints the medians of ours to a rival's.
func (r *report) ratio(name string, rounds []round) {
	median := func(f func(stream.Summary) float64) float64 {
		var all []float64
		for _, x := range rounds {
			if theirs := f(x[name]); theirs > 0 {
				all = append(all, f(x["uet"])/theirs)
			}
		}
		slices.Sort(all)
		if len(all) == 0 {
			return 0
		}
		return all[len(all)/2]
	}
	rate := median(func(s stream.Summary) float64 { return s.PerSecond })
	cpu := median(perByte)
	p50 := median(func(s stream.Summary) float64 { return s.P50Micros })
	r.print(map[string]any{"event": "ratio", "to": name, "rounds": len(rounds), "throughput": rate, "cpu_per_byte": cpu, "p50": p50},
		"uet / %-5s throughput %.2f, CPU a byte %.2f, p50 of a message %.2f; medians of %d rounds\n", name, rate, cpu, p50, len(rounds))
}

// match runs both ends of a rival as processes.
func (o *options) match(v rival) (s stream.Summary, err error) {
	far := exec.Command(v.command[0], append(v.command[1:], "-listen", "127.0.0.1:0", "-message", fmt.Sprint(o.message), "-depth", fmt.Sprint(o.depth))...)
	out, err := far.StdoutPipe()
	if err != nil {
		return s, err
	}
	far.Stderr = os.Stderr
	if err := far.Start(); err != nil {
		return s, err
	}
	defer func() {
		_ = far.Process.Signal(os.Interrupt)
		end := time.AfterFunc(5*time.Second, func() { _ = far.Process.Kill() })
		_, _ = io.Copy(io.Discard, out)
		_ = far.Wait()
		end.Stop()
		s.CPUSeconds += (far.ProcessState.UserTime() + far.ProcessState.SystemTime()).Seconds()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	at, ok := strings.CutPrefix(strings.TrimSpace(line), "listening at ")
	if err != nil || !ok {
		return s, fmt.Errorf("its far end says %q: %w", line, errors.Join(err))
	}
	near := exec.Command(v.command[0], append(v.command[1:], "-connect", at, "-message", fmt.Sprint(o.message), "-depth", fmt.Sprint(o.depth),
		"-seconds", fmt.Sprint(o.seconds), fmt.Sprintf("-ask=%v", o.ask), "-json")...)
	var said bytes.Buffer
	near.Stdout, near.Stderr = &said, os.Stderr
	if err := near.Run(); err != nil {
		return s, fmt.Errorf("its near end: %w: %s", err, said.Bytes())
	}
	lines := bytes.Split(bytes.TrimSpace(said.Bytes()), []byte("\n"))
	for _, l := range lines {
		var x stream.Summary
		if json.Unmarshal(l, &x) == nil && x.Event == "summary" {
			s = x
		}
	}
	s.CPUSeconds = (near.ProcessState.UserTime() + near.ProcessState.SystemTime()).Seconds()
	if s.Messages == 0 {
		return s, fmt.Errorf("its near end says %q", said.Bytes())
	}
	return s, nil
}
