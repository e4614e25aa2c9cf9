// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A wholeCell is one line of a matrix of the whole: a run of endpoints on the simulated fabric,
// and how well it has to go. testdata/whole describes the fields.
type wholeCell struct {
	Name             string      `json:"name"`
	Hosts            int         `json:"hosts"`
	Topology         string      `json:"topology"`
	Oversubscription float64     `json:"oversubscription"`
	Rate             float64     `json:"rate"`
	RTT              float64     `json:"rtt"`
	MTU              float64     `json:"mtu"`
	Queue            *wholeQueue `json:"queue"`
	Loss             float64     `json:"loss"`
	Reorder          float64     `json:"reorder"`
	Pattern          string      `json:"pattern"`
	Op               string      `json:"op"`
	Ordered          bool        `json:"ordered"`
	Size             float64     `json:"size"`
	Count            float64     `json:"count"`
	Stagger          float64     `json:"stagger"`
	CC               string      `json:"cc"`
	Told             wholeTold   `json:"told"`
	Peer             *wholePeer  `json:"peer"`
	Kill             *wholeKill  `json:"kill"`
	Bound            wholeBound  `json:"bound"`
}

type wholeQueue struct {
	Limit  float64         `json:"limit"`
	Policy string          `json:"policy"`
	Mark   json.RawMessage `json:"mark"`

	low, high float64 // of Mark
}

type wholeTold struct {
	RTT  *float64 `json:"rtt"`
	Rate *float64 `json:"rate"`
}

type wholePeer struct {
	MTU     float64  `json:"mtu"`
	CC      string   `json:"cc"`
	Range   int      `json:"range"`
	RTT     *float64 `json:"rtt"`
	Rate    *float64 `json:"rate"`
	Answers int      `json:"answers"`
}

type wholeKill struct {
	Host int     `json:"host"`
	At   float64 `json:"at"`
	Back float64 `json:"back"`
}

type wholeBound struct {
	Completion *float64 `json:"completion"`
	Failed     int      `json:"failed"`
	NACKs      *float64 `json:"nacks"`
	Drops      *float64 `json:"drops"`
	Resent     *float64 `json:"resent"`
	Jain       *float64 `json:"jain"`
	Queue      *float64 `json:"queue"`
	End        float64  `json:"end"`
}

var (
	wholeTopologies = []string{"star", "leafspine", "fattree"}
	wholePatterns   = []string{"pair", "both", "incast", "outcast", "readers", "permutation", "alltoall", "ring"}
	wholeOps        = []string{"write", "read", "send", "tagged", "atomic", "rendezvous", "mixed"}
	wholeCCs        = []string{"default", "nscc", "rccc", "both"}
	wholeMTUs       = []float64{1024, 2048, 4096, 8192}
)

// parseWhole reads a cell and fills in what it leaves out.
func parseWhole(line []byte) (*wholeCell, error) {
	c := &wholeCell{}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, err
	}
	c.Hosts, c.Topology, c.Oversubscription = cmp.Or(c.Hosts, 2), cmp.Or(c.Topology, "star"), cmp.Or(c.Oversubscription, 1)
	c.MTU, c.Count, c.CC = cmp.Or(c.MTU, 4096), cmp.Or(c.Count, 1), cmp.Or(c.CC, "default")
	if c.Op == "" {
		c.Op = "write"
		if c.Pattern == "readers" {
			c.Op = "read"
		}
	}
	if c.Queue == nil {
		c.Queue = &wholeQueue{}
	}
	if err := c.Queue.fill(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return c, nil
}

func (q *wholeQueue) fill() error {
	q.Limit, q.Policy = cmp.Or(q.Limit, 4), cmp.Or(q.Policy, "drop")
	marks := []float64{0.2, 0.8}
	if len(q.Mark) > 0 {
		if err := json.Unmarshal(q.Mark, &marks); err != nil {
			return err
		}
	}
	switch {
	case q.Policy != "trim" && q.Policy != "drop":
		return fmt.Errorf("queue policy %q, want trim or drop", q.Policy)
	case len(marks) == 0:
		q.low, q.high = -1, -1
	case len(marks) != 2 || marks[0] < 0 || marks[1] < marks[0]:
		return fmt.Errorf("queue mark %v, want two factors or null", marks)
	default:
		q.low, q.high = marks[0], marks[1]
	}
	return nil
}

func (c *wholeCell) check() error {
	word := func(field, v string, of []string) error {
		if slices.Contains(of, v) {
			return nil
		}
		return fmt.Errorf("%s %q, want one of %v", field, v, of)
	}
	size := func(field string, ok bool, v any) error {
		if ok {
			return nil
		}
		return fmt.Errorf("%s is %v", field, v)
	}
	err := cmp.Or(
		word("topology", c.Topology, wholeTopologies), word("pattern", c.Pattern, wholePatterns),
		word("op", c.Op, wholeOps), word("cc", c.CC, wholeCCs),
		size("name", c.Name != "", "empty"), size("hosts", c.Hosts >= 2 && c.Hosts <= 1<<16, c.Hosts),
		size("rate", c.Rate >= 1e6 && c.Rate <= 1e13, c.Rate), size("rtt", c.RTT >= 1 && c.RTT <= 1e9, c.RTT),
		size("mtu", slices.Contains(wholeMTUs, c.MTU), c.MTU), size("loss", c.Loss >= 0 && c.Loss < 0.8, c.Loss),
		size("reorder", c.Reorder >= 0 && c.Reorder <= 1, c.Reorder), size("oversubscription", c.Oversubscription >= 1, c.Oversubscription),
		size("count", c.Count >= 1 && c.Count <= 65536, c.Count), size("stagger", c.Stagger >= 0, c.Stagger),
		size("size", c.Op == "atomic" || c.Size >= 1 && c.Size < 1<<32-1, c.Size),
	)
	switch {
	case err != nil:
		return err
	case c.Op == "atomic":
		c.Size = 8
	}
	if p := c.Peer; p != nil {
		if p.MTU != 0 && !slices.Contains(wholeMTUs, p.MTU) || p.CC != "" && !slices.Contains(wholeCCs, p.CC) {
			return fmt.Errorf("peer %+v", *p)
		}
	}
	if k := c.Kill; k != nil && (k.Host < 0 || k.Host >= c.Hosts || k.Back != 0 && k.Back < k.At) {
		return errors.New("kill names a host that is not there, or comes back before it has gone")
	}
	return nil
}

// bdp is the bandwidth-delay product that queues are measured by, bytes.
func (c *wholeCell) bdp() float64 { return max(c.Rate/8*c.RTT/1e9, 16*(c.MTU+wholeHeader)) }
