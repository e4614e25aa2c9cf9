// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ses"
)

// freely is a congestion control of the user's own that lets everything go: what is left
// is what it costs to ask it.
type freely struct{ packets, acked int64 }

func (f *freely) OnSend(int64, int64, bool)            { f.packets++ }
func (f *freely) OnACK(_ int64, a ccc.Ack)             { f.acked += int64(a.Packets) }
func (*freely) OnNACK(int64, ccc.Nack)                 {}
func (*freely) OnInferredLoss(int64, ccc.Loss)         {}
func (*freely) Allow(int64, ccc.Standing) (_, _ int64) { return 1 << 40, 0 }

// An option is how a source differs from the default.
type option struct {
	name   string
	edit   func(*uetcc.Config)
	mode   ses.Mode // of its messages
	credit bool     // acknowledgements carry credit
	ticks  bool     // Tick follows each batch
}

// sourceOptions are what users choose.
var sourceOptions = []option{
	{name: "default"},
	{name: "inferloss", edit: func(c *uetcc.Config) { c.PDS.InferLoss = true }},
	{name: "reps", edit: func(c *uetcc.Config) { c.CC.Entropy.Scheme = ccc.SchemeREPS }},
	{name: "bitmap", edit: func(c *uetcc.Config) { c.CC.Entropy.Scheme = ccc.SchemeBitmap }},
	{name: "growonlyfull", edit: func(c *uetcc.Config) { c.CC.NSCC.GrowOnlyFull = true }},
	{name: "algorithm", edit: func(c *uetcc.Config) { c.Algorithm = func(ccc.Key) ccc.Algorithm { return &freely{} } }},
	{name: "observe", edit: func(c *uetcc.Config) { c.CC.Mode = ccc.ModeObserve }},
	{name: "rod", mode: ses.ModeROD},
	{name: "rccc", credit: true, edit: func(c *uetcc.Config) { c.CC.Control, c.Receiver.Rate = ccc.ControlRCCC, 100e9/8 }},
}

// BenchmarkOption is SourcePath on one PDC, in order, with one option changed: an
// acknowledgement in and a packet out. What an option costs is its ratio to "default".
func BenchmarkOption(b *testing.B) {
	for _, o := range sourceOptions {
		for _, batch := range []int{1, pathBatch} {
			b.Run(fmt.Sprintf("%s/batch=%d", o.name, batch), func(b *testing.B) {
				p := newSourceSteps(b, 1, 1, "clean", batch, o)
				b.ReportAllocs()
				for b.Loop() {
					p.step()
				}
				p.check(b)
				p.clock.report(b)
			})
		}
	}
	for _, batch := range []int{1, pathBatch} {
		b.Run(fmt.Sprintf("readdata/batch=%d", batch), func(b *testing.B) {
			p := newReadSteps(b, batch)
			for b.Loop() {
				p.step()
			}
			p.check()
			p.clock.report(b)
		})
	}
}

// BenchmarkOptionSend is SendPath with one option changed.
func BenchmarkOptionSend(b *testing.B) {
	for _, o := range sourceOptions {
		b.Run(o.name, func(b *testing.B) { sendPath(b, 1, o) })
	}
}
