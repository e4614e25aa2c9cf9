// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const childVariable = "UETPERF_CHILD"

// In a child TestMain is the command, and so in what that starts.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// startChild starts the command as a process.
func startChild(t *testing.T, args string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	c := exec.Command(os.Args[0], strings.Fields(args)...)
	c.Env = append(os.Environ(), childVariable+"=1")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c, bufio.NewReader(out)
}

// The two ends of the command, as two processes: writes, reads, requests and answers, eight flows, UET and TCP. An interrupt
// ends the far one, with a summary.
func TestListenAndConnect(t *testing.T) {
	for _, proto := range []string{"uet", "tcp"} {
		far, lines := startChild(t, "-listen 127.0.0.1:0 -i 0 -proto "+proto)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		at := strings.TrimPrefix(strings.TrimSpace(line), "listening at ")
		for _, args := range []string{"", " -R", " -P 8 -bytes 2097152", " -ask -message 100 -bytes 10000", " -seconds 0.1"} {
			if proto == "tcp" && args == " -R" {
				continue
			}
			var out, errs bytes.Buffer
			require.Zero(t, run(strings.Fields("-i 0 -json -proto "+proto+" -connect "+at+args), &out, &errs), "%s: %s%s", args, out.String(), errs.String())
			var last struct {
				Event    string
				Bytes    int64
				Messages int64
			}
			all := strings.Split(strings.TrimSpace(out.String()), "\n")
			require.NoError(t, json.Unmarshal([]byte(all[len(all)-1]), &last))
			require.Equal(t, "summary", last.Event)
			require.Positive(t, last.Messages)
			if strings.Contains(args, "-P") {
				require.EqualValues(t, 8*2<<20, last.Bytes)
				require.Len(t, all, 9)
			}
		}
		require.NoError(t, far.Process.Signal(os.Interrupt))
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		if proto == "uet" {
			require.Contains(t, string(rest), "target: ")
		}
		require.NoError(t, far.Wait(), "an interrupt is no failure")
	}
}

// What fails says so, and the exit code with it.
func TestConnectFails(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, 1, run(strings.Fields("-i 0 -connect 127.0.0.1:9"), &out, &errs), errs.String())
	require.Contains(t, out.String(), "nobody listens")
	require.Equal(t, 2, run(strings.Fields("-i 0 -connect 127.0.0.1:9 -proto tcp"), &out, &errs))
}

// Intervals are there as they go.
func TestIntervals(t *testing.T) {
	r := &report{out: &bytes.Buffer{}}
	over := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { close(over) })
	r.watch(&options{interval: interval(time.Millisecond)}, over, func() int64 { return 1000 })
	require.Contains(t, r.out.(*bytes.Buffer).String(), "Mb/s")
}

func TestRunRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"x":                                  "unexpected argument",
		"-listen 127.0.0.1 -connect ::1":     "exclude each other",
		"-compare tcp -connect ::1":          "exclude each other",
		"-compare sctp":                      `-compare "sctp"`,
		"-connect ::1 -proto sctp":           `-proto "sctp"`,
		"-cc tcp":                            `-cc "tcp"`,
		"-senders 33":                        "-senders is 33",
		"-6 -senders 2":                      "one sender",
		"-mtu 1500":                          "1500",
		"-mtu 1":                             "-mtu is 1, want 1024 to 8192 payload bytes of a packet",
		"-paths 257":                         "-paths is 257, want 1 to 256 entropy values",
		"-depth 64 -message 33554432":        "-depth x -message is 2147483648, want 1 to 1073741824 bytes",
		"-depth 65":                          "-depth is 65, want 1 to 64 messages",
		"-bytes 0":                           "-bytes is 0, want 1 to 9223372036854775807 bytes",
		"-delay 2s":                          "-delay is 2s, want 0s to 1s of one direction",
		"-rtt -1s":                           "-rtt is -1s, want 0s to 1s of round trip",
		"-seconds -1":                        "-seconds is -1, want 0 to 1e+06 s",
		"-rate 1":                            "-rate is 1, want 100000 to 1e+12 bits a second",
		"-compare tcp -rounds 0":             "-rounds is 0, want 1 to 1000 rounds",
		"-listen 127.0.0.1 -senders 2":       "-senders is of the bottleneck",
		"-port 5000":                         "-port goes with",
		"-from 127.0.0.1":                    "-from goes with",
		"-P 3":                               "-P goes with",
		"-ask":                               "-ask goes with",
		"-connect ::1 -ask -message 1048577": "want at most 1048576 bytes with -ask",
		"-shards 2":                          "-shards goes with -listen",
		"-rounds 2":                          "-rounds goes with -compare",
		"-listen 127.0.0.1 -bytes 9":         "-bytes changes nothing with -listen",
		"-compare tcp -rate 1e9":             "-rate changes nothing with -compare",
		"-compare tcp -proto tcp":            "-proto goes with -listen or -connect",
		"-listen ::1 -proto tcp -mtu 0":      "-mtu goes with -proto uet",
		"-i -1":                              `invalid value "-1" for flag -i: -1s, want 0 to 1h`,
		"-connect 127.0.0.1":                 "set -from to another address",
		"-connect 127.0.0.2 -from 127.0.0.1 -P 2": "one address is one flow",
		"-listen 0.0.0.0":                         "want an address of one interface",
		"-connect 127.0.0.1 -from fe80::1%x":      "",
	} {
		var out, errs bytes.Buffer
		require.Equal(t, 2, run(strings.Fields(args), &out, &errs), args)
		require.Contains(t, errs.String(), want, args)
	}
	require.Zero(t, run([]string{"-h"}, io.Discard, io.Discard))
}

// A request that the far end has no room for failed unseen, while its answer was awaited for ever.
func TestAskTooMuch(t *testing.T) {
	_, lines := startChild(t, "-listen 127.0.0.1:0 -i 0 -message 2000")
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	at := strings.TrimPrefix(strings.TrimSpace(line), "listening at ")
	var out, errs bytes.Buffer
	require.Equal(t, 1, run(strings.Fields("-i 0 -ask -message 9000 -bytes 9000 -connect "+at), &out, &errs))
	require.Contains(t, out.String()+errs.String(), "send with "+at)
	out.Reset()
	require.Zero(t, run(strings.Fields("-i 0 -ask -message 2000 -bytes 9000 -connect "+at), &out, &errs), "the far end goes on")
}

// Rounds beside TCP: each ends with figures of both, and the last line is the ratio.
func TestCompare(t *testing.T) {
	c, lines := startChild(t, "-json -compare tcp -rounds 2 -seconds 0.1 -message 10000")
	var all []map[string]any
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		var x map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &x))
		all = append(all, x)
	}
	require.NoError(t, c.Wait())
	require.Len(t, all, 5)
	require.Equal(t, "ratio", all[4]["event"])
	require.Positive(t, all[4]["throughput"])
	require.Positive(t, all[4]["cpu_per_byte"])
	require.Equal(t, fmt.Sprint(all[0]["proto"], all[3]["proto"]), "uetuet", "the order rotates")
}
