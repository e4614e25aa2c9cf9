// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"testing"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
)

// FuzzFabricRun simulates whatever small load and configuration the input spells
// out: every transfer must finish, and nothing may be lost or made on the way.
func FuzzFabricRun(f *testing.F) {
	f.Add(uint64(1), []byte("\x00\x00\x01\x00\x10\x02\x01\x00\x20\x03\x01\x08\x30"))
	f.Add(uint64(2), []byte("\x3b\x10\x01\x00\xff\x02\x01\x00\xff\x03\x01\x00\xff\x04\x01\x00\xff")) // no trimming
	f.Add(uint64(3), []byte("\x40\x05\x0f\x00\xff\x00\x0f\x00\xff"))                                 // flow control
	f.Add(uint64(4), []byte("\x07\x85\x02\x03\x01\x03\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, seed uint64, in []byte) {
		if len(in) < 5 || len(in) > 80 {
			return
		}
		c := fabricConfig(seed, in[0], in[1])
		for b := in[2:]; len(b) >= 3; b = b[3:] {
			src, dst := int(b[0]>>4), int(b[0]&15)
			if src == dst {
				dst = (dst + 1) % 16
			}
			c.Matrix.Flows = append(c.Matrix.Flows, fabric.Flow{
				Src: src, Dst: dst, Start: link.Ps(b[1]) * 100 * link.Nanosecond, Size: 1 + int64(b[2])*600,
			})
		}
		r, err := fabric.Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Violations) > 0 || r.Unfinished > 0 {
			t.Fatalf("%d unfinished, %v\n%+v", r.Unfinished, r.Violations, r.Totals)
		}
	})
}

// fabricConfig takes one choice from each bit or two of a and b.
func fabricConfig(seed uint64, a, b byte) fabric.Config {
	c := fabric.Config{
		Matrix:  &fabric.Matrix{Nodes: 16},
		Seed:    seed,
		Rules:   fabric.Rules(a & 1),
		Mode:    ccc.Mode(a >> 1 & 3 % 3),
		NoTrim:  a>>3&1 != 0,
		NoECN:   a>>4&1 != 0,
		Entropy: ccc.EntropyConfig{Scheme: ccc.Scheme(b & 7 % 5), Values: 1 << (b >> 3 & 7)},

		SlowLinks:   int(b >> 6),
		PacketBytes: [...]int64{0, 1500, 9000, 300}[a>>5&1+b>>5&2],
		MaxPSNRange: int(a>>7) * 64,
	}
	if a>>6&1 != 0 {
		c.PFC = &switchq.PFCConfig{XOff: 60_000, XOn: 40_000, Pause: 50_000}
	}
	return c
}
