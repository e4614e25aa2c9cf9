// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"testing"

	"github.com/uetcc/uetcc/internal/alloctest"
)

func TestAllocs(t *testing.T) {
	p, _ := NewPort([]int64{1 << 20}, 1)
	p.Reinit(0)
	p.OnFlowControl(FlowControl{FCCL: 2048}, 0)
	buf := make([]byte, 0, FlowControlLen)
	alloctest.Zero(t, "port", func() {
		if !p.Send(0, 1) || !p.Receive(0, 1) {
			panic("blocked")
		}
		p.Lane(0).Release(1)
		f := p.FlowControl(0, 1)
		if f.Decode(f.AppendTo(buf)) != nil {
			panic("codec")
		}
		p.OnFlowControl(FlowControl{FCTBS: f.FCTBS, FCCL: f.FCCL}, 1)
	})
	s, _ := NewSender([]int64{40}, 0)
	var r Receiver
	alloctest.Zero(t, "ue", func() {
		if !s.CanSend(0, 33) {
			panic("blocked")
		}
		s.OnSend(0, 33)
		r.OnFrame(33)
		r.OnDrain(33)
		r.OnCCUpdate(s.VCs[0].Consumed)
		s.OnCFUpdate(0, r.Freed)
	})
}
