// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wholeFile reads the cells of a file.
func wholeFile(t *testing.T, path string) (cells []*wholeCell) {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		r, err = gzip.NewReader(f)
		require.NoError(t, err)
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		c, err := parseWhole(lines.Bytes())
		require.NoError(t, err, "%s:%d", path, n)
		cells = append(cells, c)
	}
	require.NoError(t, lines.Err())
	return cells
}

// TestWhole runs endpoints on the simulated fabric, configured with no more than their
// addresses, the rate of their links and the round trip: a run for each cell, and for some
// another, which has to be the same.
//
//	go test ./fuzz -run TestWhole -v                    the figures of each cell
//	go test ./fuzz -run TestWhole/told                  some of them
//	UETCC_WHOLE=FILE go test ./fuzz -run TestWhole -v   others, each twice
//
// testdata/whole describes the format.
func TestWhole(t *testing.T) {
	path, every := "testdata/whole/cells.jsonl.gz", 8
	if other := os.Getenv("UETCC_WHOLE"); other != "" {
		path, every = other, 1
	}
	for i, c := range wholeFile(t, path) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			r, err := runWhole(c)
			require.NoError(t, err)
			t.Log(r)
			for _, why := range r.Why {
				t.Error(why)
			}
			if i%every == 0 {
				again, err := runWhole(c)
				require.NoError(t, err)
				require.Equal(t, r.Fingerprint, again.Fingerprint, "another run is another one")
			}
		})
	}
}

// Lines that say nothing sensible are refused with a reason.
func TestWholeRefuses(t *testing.T) {
	for line, why := range map[string]string{
		`{"name":"x"`: "EOF",
		`{"name":"x","rate":1e11,"rtt":12000,"pattern":"pair","size":1,"speed":1}`:                        "unknown field",
		`{"name":"x","rate":1e11,"rtt":12000,"pattern":"star","size":1}`:                                  "pattern",
		`{"name":"x","rtt":12000,"pattern":"pair","size":1}`:                                              "rate",
		`{"name":"x","rate":1e11,"rtt":12000,"pattern":"pair"}`:                                           "size",
		`{"name":"x","rate":1e11,"rtt":12000,"pattern":"pair","size":1,"mtu":1500}`:                       "mtu",
		`{"name":"x","rate":1e11,"rtt":12000,"pattern":"pair","size":1,"queue":{"policy":"x"}}`:           "policy",
		`{"name":"x","rate":1e11,"rtt":12000,"pattern":"pair","size":1,"queue":{"mark":[1]}}`:             "mark",
		`{"name":"x","rate":1e11,"rtt":12000,"pattern":"pair","size":1,"peer":{"cc":"cubic"}}`:            "peer",
		`{"name":"x","rate":1e11,"rtt":12000,"pattern":"pair","size":1,"kill":{"host":2,"at":1}}`:         "kill",
		`{"name":"x","rate":1e11,"rtt":12000,"pattern":"pair","size":1,"bound":{"completeness":"often"}}`: "unknown field",
	} {
		_, err := parseWhole([]byte(line))
		require.ErrorContains(t, err, why, line)
	}
}

func (r *wholeResult) String() string {
	return fmt.Sprintf("completion %.3f, failed %d, nacks %.4f, drops %.4f, resent %.4f, jain %.3f, queue %.2f, %d packets, %d events, %x",
		r.Completion, r.Failed, r.NACKs, r.Drops, r.Resent, r.Jain, r.Queue, r.Data, r.Events, r.Fingerprint)
}

// Four senders share a slow link whose queue holds nine packets, keeps no marks and is always full: a
// packet of the one that has just lost its window is dropped ten times in a row and more. Its peer
// answers all the time, so no message fails. What the ends believe of the rate makes no difference.
func TestWholeDropTail(t *testing.T) {
	for _, told := range []int{1, 1000} {
		for _, rtt := range []int{40_000, 1_000_000} {
			for _, ordered := range []bool{false, true} {
				t.Run(fmt.Sprintf("told=%d/rtt=%d/ordered=%v", told, rtt, ordered), func(t *testing.T) {
					t.Parallel()
					c, err := parseWhole(fmt.Appendf(nil, `{"name": "drop-tail", "hosts": 5, "pattern": "incast", "rate": 1e8, "rtt": %d, "ordered": %v, "size": 65536, "count": 64,
						"told": {"rate": %d}, "queue": {"policy": "drop", "limit": 0.6, "mark": null}, "bound": {"completion": 3}}`, rtt, ordered, told))
					require.NoError(t, err)
					r, err := runWhole(c)
					require.NoError(t, err)
					t.Log(r)
					require.Empty(t, r.Why)
				})
			}
		}
	}
}

// Eight senders begin one after the other at such a link. Those that have seen the path without a queue do
// not take the queue of the others for a longer path, and leave room for the first packets of the next: of
// 96 cells of this kind, with 4 and 8 senders, 11 had messages fail with "timeouts exhausted", now one does,
// where the rate is told 1,000 times too high; with a tenth of a transfer between the starts 42 % of ordered
// packets were sent again.
func TestWholeDropTailStaggered(t *testing.T) {
	for name, cell := range map[string]string{
		"rod, 0.1": `"rtt": 1e6, "ordered": true, "stagger": 33554432`,
		"rud, 0.1": `"rtt": 1e6, "stagger": 33554432`,
		"rod, 0.5": `"rtt": 4e4, "ordered": true, "stagger": 167772160`,
		"rud, 0.5": `"rtt": 4e4, "stagger": 167772160`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := parseWhole([]byte(`{"name": "staggered", "hosts": 9, "pattern": "incast", "rate": 1e8, "size": 65536, "count": 64, ` + cell +
				`, "queue": {"policy": "drop", "limit": 0.611, "mark": null}, "bound": {"completion": 1.1, "resent": 0.1}}`))
			require.NoError(t, err)
			r, err := runWhole(c)
			require.NoError(t, err)
			t.Log(r)
			require.Empty(t, r.Why)
		})
	}
}
