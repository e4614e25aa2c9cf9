// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/cbfc"
)

// An ibItem is on the wire: a data packet or a flow control packet.
type ibItem struct {
	vl     uint8
	blocks int64
	fc     *cbfc.FlowControl
}

// An ibLink is one direction of an InfiniBand link with two lanes, driven by
// bytes. It keeps the unwrapped totals that the protocol only knows modulo 4096.
type ibLink struct {
	t        *testing.T
	a, b     *cbfc.Port // a sends data, b receives
	wire     []ibItem   // a to b, first in first out
	back     []cbfc.FlowControl
	buffer   int64
	sent     [2]int64 // blocks sent
	arrived  [2]int64 // blocks received or lost
	lastFCCL [2]uint16
}

func newIBLink(t *testing.T, buffer int64, start uint16) *ibLink {
	l := &ibLink{t: t, buffer: buffer}
	var err error
	l.a, err = cbfc.NewPort([]int64{0, 0}, 15)
	require.NoError(t, err)
	l.b, err = cbfc.NewPort([]int64{buffer, buffer}, 15)
	require.NoError(t, err)
	for vl := range uint8(2) { // all totals start at the same value
		l.a.Lane(vl).OnSend(int64(start))
		l.b.Lane(vl).Rx.OnFlowControl(start)
		l.lastFCCL[vl] = l.b.Lane(vl).FCCL()
	}
	return l
}

// step applies one operation and reports a digest of what was decided.
func (l *ibLink) step(op, arg byte) (decided bool) {
	vl := op >> 3 & 1
	other := *l.b.Lane(1 - vl)
	switch op & 7 {
	case 0, 1:
		n := int64(arg)%70 + 1
		if decided = l.a.Send(vl, n); decided {
			l.sent[vl] += n
			l.wire = append(l.wire, ibItem{vl: vl, blocks: n})
		}
	case 2:
		f := l.a.FlowControl(vl, 0)
		l.wire = append(l.wire, ibItem{vl: vl, fc: &f})
	case 3:
		f := l.b.FlowControl(vl, 0)
		require.Less(l.t, (f.FCCL-l.lastFCCL[vl])&4095, uint16(2049), "I5: the limit moved backwards")
		l.lastFCCL[vl] = f.FCCL
		l.back = append(l.back, f)
	case 4, 5:
		decided = l.deliver(arg < 30)
	case 6:
		if len(l.back) > 0 {
			if arg >= 30 {
				l.a.OnFlowControl(l.back[0], 0)
			}
			l.back = l.back[1:]
		}
	case 7:
		l.b.Lane(vl).Release(int64(arg) % 40)
		require.Equal(l.t, other, *l.b.Lane(1 - vl), "I9: lanes are independent")
	}
	l.check()
	return decided
}

// deliver takes the oldest item off the wire, or loses it.
func (l *ibLink) deliver(lost bool) bool {
	if len(l.wire) == 0 {
		return false
	}
	item := l.wire[0]
	l.wire = l.wire[1:]
	l.arrived[item.vl] += item.blocks
	switch {
	case lost:
	case item.fc != nil:
		l.b.OnFlowControl(*item.fc, 0)
	default:
		require.True(l.t, l.b.Receive(item.vl, item.blocks), "I1: overrun with a correct partner")
	}
	return lost
}

func (l *ibLink) check() {
	onWire := [2]int64{}
	for _, item := range l.wire {
		onWire[item.vl] += item.blocks
	}
	for vl := range uint8(2) {
		a, b := l.a.Lane(vl), l.b.Lane(vl)
		require.LessOrEqual(l.t, b.Occupied, l.buffer, "I1")
		require.Equal(l.t, l.sent[vl]-l.arrived[vl], onWire[vl], "I2")
		if a.Open {
			require.LessOrEqual(l.t, a.Credits(), uint16(cbfc.MaxGrant), "I3")
			require.LessOrEqual(l.t, onWire[vl]+b.Occupied+int64(a.Credits()),
				min(l.buffer, cbfc.MaxGrant+b.Occupied), "I4")
		}
	}
}

// settle drains everything, then exchanges one packet each way: nothing may
// have leaked.
func (l *ibLink) settle() {
	for len(l.wire) > 0 {
		l.deliver(false)
	}
	for vl := range uint8(2) {
		b := l.b.Lane(vl)
		b.Release(b.Occupied)
		l.b.OnFlowControl(l.a.FlowControl(vl, 0), 0)
		l.a.OnFlowControl(l.b.FlowControl(vl, 0), 0)
		require.Equal(l.t, l.a.Lane(vl).FCTBS, b.ABR, "I6")
		require.EqualValues(l.t, min(cbfc.MaxGrant, l.buffer), l.a.Lane(vl).Credits(), "I6")
	}
}

// runIBLink drives two links with the same operations; the second starts all its
// totals elsewhere and must decide alike.
func runIBLink(t *testing.T, ops []byte) {
	if len(ops) < 4 {
		return
	}
	buffer := int64(ops[0]) * 16
	base := newIBLink(t, buffer, 0)
	shifted := newIBLink(t, buffer, uint16(ops[1])<<4|uint16(ops[2])&15)
	for i := 3; i+1 < len(ops); i += 2 {
		require.Equal(t, base.step(ops[i], ops[i+1]), shifted.step(ops[i], ops[i+1]), "I8")
	}
	base.settle()
	shifted.settle()
}

// A ueLink is one direction of a UE CBFC link with two channels. Frames and
// CC_Updates share one ordered wire.
type ueLink struct {
	t         *testing.T
	s         *cbfc.Sender
	r         [2]cbfc.Receiver
	wire      []ueItem
	back      []ueItem
	limit     int64
	portLimit int64
	leaked    [2]int64 // credits of frames lost since the last exchange
}

type ueItem struct {
	vc      int
	credits int64 // of a frame
	update  bool
	value   uint32 // of an update
}

func newUELink(t *testing.T, limit, portLimit int64, start uint32) *ueLink {
	s, err := cbfc.NewSender([]int64{limit, limit}, portLimit)
	require.NoError(t, err)
	l := &ueLink{t: t, s: s, limit: limit, portLimit: portLimit}
	for vc := range l.r {
		s.Up(vc, start, limit)
		l.r[vc].Up(start)
	}
	return l
}

func (l *ueLink) step(op, arg byte) (decided bool) {
	vc := int(op >> 3 & 1)
	switch op & 7 {
	case 0, 1:
		n := int64(arg)%34 + 1
		if decided = l.s.CanSend(vc, n); decided {
			l.s.OnSend(vc, n)
			l.wire = append(l.wire, ueItem{vc: vc, credits: n})
		}
	case 2:
		l.wire = append(l.wire, ueItem{vc: vc, update: true, value: l.s.VCs[vc].Consumed})
	case 3:
		l.back = append(l.back, ueItem{vc: vc, value: l.r[vc].Freed})
	case 4, 5:
		l.deliver(arg < 30)
	case 6:
		if len(l.back) > 0 {
			if arg >= 30 {
				require.True(l.t, l.s.OnCFUpdate(l.back[0].vc, l.back[0].value))
			}
			l.back = l.back[1:]
		}
	case 7:
		l.r[vc].OnDrain(min(int64(arg)%40, l.r[vc].Held()))
	}
	l.check()
	return decided
}

func (l *ueLink) deliver(lost bool) {
	if len(l.wire) == 0 {
		return
	}
	item := l.wire[0]
	l.wire = l.wire[1:]
	switch {
	case lost:
		l.leaked[item.vc] += item.credits
	case item.update:
		require.Equal(l.t, l.leaked[item.vc], l.r[item.vc].OnCCUpdate(item.value), "U6: a lost frame leaks its cost")
		l.leaked[item.vc] = 0
	default:
		l.r[item.vc].OnFrame(item.credits)
	}
}

func (l *ueLink) check() {
	sum := int64(0)
	for vc := range l.r {
		v := l.s.VCs[vc]
		require.LessOrEqual(l.t, l.r[vc].Held(), v.InUse(), "U1")
		require.LessOrEqual(l.t, v.InUse(), l.limit, "U1")
		require.EqualValues(l.t, (v.Consumed-v.Freed)&(1<<20-1), v.InUse(), "U2")
		sum += v.InUse()
	}
	require.Equal(l.t, sum, l.s.InUse, "U3")
	require.LessOrEqual(l.t, sum, l.portLimit, "U3")
}

// settle drains everything, then exchanges one message each way.
func (l *ueLink) settle() {
	for len(l.wire) > 0 {
		l.deliver(false)
	}
	for vc := range l.r {
		l.r[vc].OnDrain(l.r[vc].Held())
		l.r[vc].OnCCUpdate(l.s.VCs[vc].Consumed)
		require.True(l.t, l.s.OnCFUpdate(vc, l.r[vc].Freed))
		require.Zero(l.t, l.s.VCs[vc].InUse(), "U4")
		require.Equal(l.t, l.s.VCs[vc].Consumed, l.r[vc].Consumed, "U4")
		require.Equal(l.t, l.r[vc].Consumed, l.r[vc].Freed, "U4")
	}
}

func runUELink(t *testing.T, ops []byte) {
	if len(ops) < 4 {
		return
	}
	limit, portLimit := int64(ops[0])*4+1, int64(ops[1])*4+1
	base := newUELink(t, limit, portLimit, 0)
	shifted := newUELink(t, limit, portLimit, 1<<20-uint32(ops[2])) // soon over the end
	for i := 3; i+1 < len(ops); i += 2 {
		require.Equal(t, base.step(ops[i], ops[i+1]), shifted.step(ops[i], ops[i+1]), "U7")
	}
	base.settle()
	shifted.settle()
}

// TestCBFCInvariants drives links of both kinds with random operations: a tenth
// of everything on the wire is lost.
func TestCBFCInvariants(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	for range 150 {
		runIBLink(t, randomBytes(r, 1000))
		runUELink(t, randomBytes(r, 1000))
	}
}

func FuzzIBLink(f *testing.F) {
	f.Add([]byte{20, 255, 15, 3, 0, 6, 255, 0, 60, 0, 60, 4, 0, 4, 255, 7, 39, 2, 0, 4, 255}) // a lost packet, healed
	f.Add([]byte{255, 255, 15, 3, 0, 6, 255, 0, 69, 0, 69, 0, 69, 0, 69})                     // window over the wrap
	f.Fuzz(runIBLink)
}

func FuzzUELink(f *testing.F) {
	f.Add([]byte{10, 10, 20, 0, 33, 0, 0, 4, 255, 4, 0, 7, 33, 3, 0, 6, 255, 2, 0, 4, 255, 3, 0, 6, 255}) // a lost frame, healed
	f.Add([]byte{255, 3, 1, 0, 12, 8, 12})                                                                // the port limit binds
	f.Fuzz(runUELink)
}

// FuzzFlowControlPacket: whatever decodes encodes back to the same bytes.
func FuzzFlowControlPacket(f *testing.F) {
	f.Add((&cbfc.FlowControl{Init: true, VL: 3, FCTBS: 4095, FCCL: 2048}).AppendTo(nil))
	f.Add([]byte{0, 1, 2})
	f.Fuzz(func(t *testing.T, in []byte) {
		var p cbfc.FlowControl
		if p.Decode(in) == nil {
			require.Equal(t, in[:cbfc.FlowControlLen], p.AppendTo(nil))
		}
	})
}
