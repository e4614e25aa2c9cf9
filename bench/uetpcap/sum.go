// SPDX-License-Identifier: Apache-2.0

package uetpcap

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// A Flow is what one side of a PDC has sent in a capture, in the output of [Sum]. A PDC has two, with
// the same number. What goes on no PDC, RUDI packets and datagrams, is a flow for each pair of addresses.
type Flow struct {
	PDC      int     `json:"pdc"` // in the order of their first packets, from 1
	Src      string  `json:"src"`
	Dst      string  `json:"dst"`
	SPDCID   uint16  `json:"spdcid"` // of Src; 0: no PDC
	Packets  int     `json:"packets"`
	Requests int     `json:"requests"`
	Bytes    int64   `json:"bytes"` // of data
	Resent   int     `json:"resent"`
	Trimmed  int     `json:"trimmed"`
	Marked   int     `json:"marked"` // with CE
	ACKs     int     `json:"acks"`
	NACKs    int     `json:"nacks"`
	Controls int     `json:"controls"`
	First    float64 `json:"first_s"`
	Last     float64 `json:"last_s"`
}

// Sum writes a table with a line for each [Flow] of the capture r, or with asJSON lines of JSON. For the rest
// see [Print]. It keeps a line for each flow in memory.
func Sum(w io.Writer, r io.Reader, parser *frame.Parser, asJSON bool, keep ...Filter) (Counts, error) {
	s := sums{flows: map[flowKey]*Flow{}}
	n, err := each(io.Discard, r, parser, keep, func(_ *bufio.Writer, p *Packet) error {
		s.add(p)
		return nil
	})
	if err != nil {
		return n, err
	}
	if asJSON {
		out := json.NewEncoder(w)
		for _, f := range s.order {
			if err := out.Encode(f); err != nil {
				return n, err
			}
		}
		return n, nil
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "pdc\tfrom\tto\tspdcid\tpackets\trequests\tbytes\tresent\ttrimmed\tmarked\tacks\tnacks\tcontrols\tfirst s\tlast s\t\n")
	for _, f := range s.order {
		fmt.Fprintf(out, "%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.6f\t%.6f\t\n", f.PDC, f.Src, f.Dst, f.SPDCID, f.Packets,
			f.Requests, f.Bytes, f.Resent, f.Trimmed, f.Marked, f.ACKs, f.NACKs, f.Controls, f.First, f.Last)
	}
	return n, out.Flush()
}

// A flowKey is a side of a PDC: the sender's address and PDCID.
type flowKey struct {
	src, dst string
	id       uint16
}

type sums struct {
	flows map[flowKey]*Flow
	order []*Flow
	pdcs  int
}

func (s *sums) add(p *Packet) {
	if p.Src == "" {
		return // unreadable
	}
	k := flowKey{p.Src, p.Dst, p.SPDCID}
	f := s.flows[k]
	if f == nil {
		f = &Flow{Src: p.Src, Dst: p.Dst, SPDCID: p.SPDCID, First: p.Time, PDC: s.number(p)}
		s.flows[k] = f
		s.order = append(s.order, f)
	}
	f.Packets++
	f.Bytes += int64(p.Bytes)
	f.Last = p.Time
	f.Resent += one(p.Resent && p.request)
	f.Trimmed += one(p.Trimmed)
	f.Marked += one(p.ECN == pds.ECNCE.String())
	f.Requests += one(p.request)
	f.ACKs += one(p.CACK != nil)
	f.NACKs += one(p.nack)
	f.Controls += one(p.control)
}

// number is that of the PDC of a flow's first packet: the other side's, if that is known.
func (s *sums) number(p *Packet) int {
	if f := s.flows[flowKey{p.Dst, p.Src, p.DPDCID}]; f != nil {
		return f.PDC
	}
	s.pdcs++
	return s.pdcs
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
