// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

const (
	cccMTU   = 4096
	cccPDCs  = 4 // the even ones on context 0, the odd ones on context 1
	cccNodes = 2
)

// FuzzCCCEvents runs any sequence of events through a manager and, beside it, a
// model that keeps every packet in a list and adds up from there. Runs are tried first.
func FuzzCCCEvents(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x00\x05\x01\x00\x00\x01\x00\x00\x03\x00\x02"))             // data, two packets, both acknowledged
	f.Add([]byte("\x00\x00\x05\x01\x00\x00\x04\x00\x00\x03\x00\x01"))             // refused, then acknowledged before it was sent again
	f.Add([]byte("\x00\x01\x05\x01\x01\x00\x05\x01\x00\x02\x01\x00\x03\x01\x01")) // lost, sent again, acknowledged
	f.Add([]byte("\x00\x02\x09\x01\x02\x00\x05\x02\x00\x08\x02\x00\x00\x02\x03")) // unbound with all kinds of things left
	f.Add([]byte("\x00\x00\x09\x09\x00\x20\x0a\x00\x00\x07\x00\x01\x07\x00\x00")) // reserved; observing and enforcing again
	f.Add([]byte("\x00\x03\x40\x01\x03\x00\x01\x03\x00\x03\x03\xff\x06\x03\x10")) // a penalty; credit
	for seed := range byte(4) {                                                   // long walks
		walk := make([]byte, 6000)
		_, _ = rand.NewChaCha8([32]byte{seed}).Read(walk)
		f.Add(walk)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, k := range []struct {
			control ccc.Control
			gates   bool
		}{{ccc.ControlNSCC, false}, {ccc.ControlNSCC, true}, {ccc.ControlBoth, true}} {
			w := newCCCWorld(t, k.control, k.gates)
			for ops := in; len(ops) >= 3; ops = ops[3:] {
				w.step(ops[0], ops[1], ops[2])
				w.check()
			}
		}
	})
}

// A cccPDC is what the model knows of a PDC: sizes of packets, by where they are.
type cccPDC struct {
	handle                   ccc.Handle
	unsent, inflight, marked []int64
}

// cccWorld is the manager under test with the model beside it.
type cccWorld struct {
	t        *testing.T
	p        *ccc.Params
	m        *ccc.Manager
	now      int64
	pdcs     [cccPDCs]cccPDC
	contexts [cccNodes]ccc.Handle
	reserved [cccNodes]int64 // at the gates
	mode     [cccNodes]ccc.Mode
	credited int64
	gates    bool
}

func newCCCWorld(t *testing.T, control ccc.Control, gates bool) *cccWorld {
	p, err := ccc.NewParams(ccc.Config{
		NSCC:    nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 6000, MTU: cccMTU, Trimming: true, InitialCwnd: 8 * cccMTU},
		RCCC:    rccc.Config{InitialCredit: 6 * cccMTU},
		Control: control,
		Entropy: ccc.EntropyConfig{Scheme: ccc.SchemeMixed, Values: 16},
	})
	require.NoError(t, err)
	w := &cccWorld{t: t, p: &p, gates: gates}
	w.m, err = ccc.NewManager(ccc.ManagerConfig{Params: &p, Contexts: cccNodes, PDCs: cccPDCs, Admission: gates, Inbox: 2, Seed: 1})
	require.NoError(t, err)
	for i := range w.contexts {
		w.contexts[i] = ccc.NewHandle(uint16(i), 1)
		require.NoError(t, w.m.Open(w.contexts[i], 0, 0))
	}
	for i := range w.pdcs {
		w.bind(i, ccc.NewHandle(uint16(i), 1))
	}
	return w
}

func (w *cccWorld) bind(i int, h ccc.Handle) {
	w.pdcs[i] = cccPDC{handle: h}
	require.NoError(w.t, w.m.Bind(h, w.contexts[i%cccNodes], w.now, i == 3))
}

// step runs one event: what, to which PDC, with which argument.
func (w *cccWorld) step(op, who, arg byte) {
	i := int(who) % cccPDCs
	d := &w.pdcs[i]
	switch op % 11 {
	case 0:
		size := 41 + int64(arg)*16
		d.unsent = append(d.unsent, size, size)
		w.m.OnNewData(d.handle, w.now, 2*size)
	case 1:
		w.send(d, &d.unsent, ccc.Sent{})
	case 2:
		w.send(d, &d.marked, ccc.Sent{Rtx: true})
	case 3:
		w.acknowledge(d, int(arg))
	case 4:
		if size, ok := pop(&d.inflight); ok {
			d.marked = append(d.marked, size)
			w.m.OnNACK(d.handle, w.now, ccc.Nack{Nack: nscc.Nack{Size: size, RTT: int64(arg) * 100, Reason: nscc.NackReason(arg % 3)},
				CE: arg&4 != 0, NoPDC: arg&8 != 0})
		}
	case 5:
		if size, ok := pop(&d.inflight); ok {
			d.marked = append(d.marked, size)
			w.m.OnInferredLoss(d.handle, w.now, ccc.Loss{Size: size, Entropy: uint16(arg), NoPDC: arg&8 != 0})
		}
	case 6:
		w.credited += int64(arg) * 256
		w.m.OnCreditUpdate(d.handle, w.now, w.credited)
	case 7:
		k := i % cccNodes
		w.mode[k] = ccc.Mode(arg % 3)
		w.m.SetMode(w.contexts[k], w.now, w.mode[k])
	case 8:
		w.unbind(i)
	case 9:
		if w.gates {
			w.reserve(d, i%cccNodes, 1+int64(arg)*32)
		}
	case 10:
		w.now += int64(arg) * 64
		w.m.Tick(w.now)
	}
}

func (w *cccWorld) send(d *cccPDC, from *[]int64, s ccc.Sent) {
	var ok bool
	if s.Size, ok = pop(from); ok {
		d.inflight = append(d.inflight, s.Size)
		if s.Rtx || s.Reserved || !w.sendNew(d, s.Size) {
			w.m.Send(d.handle, w.now, s)
		}
	}
}

// sendNew is a run of one, which serves exactly where the context admits the packet and
// takes runs.
func (w *cccWorld) sendNew(d *cccPDC, size int64) bool {
	admits := w.m.Context(w.contexts[int(d.handle.Index())%cccNodes]).Admits()
	x := ccc.Run{Most: 1, Size: size}
	ok := w.m.Exchange(d.handle, w.now, &x)
	require.Equal(w.t, admits && w.runs(), ok)
	require.Equal(w.t, ok, x.Sent == 1)
	return ok
}

// runs reports whether contexts take runs.
func (w *cccWorld) runs() bool { return !w.gates }

// acknowledge covers up to three packets, wherever they are.
func (w *cccWorld) acknowledge(d *cccPDC, arg int) {
	a := ccc.Ack{Entropy: uint16(arg), Ack: nscc.Ack{RTT: int64(arg) * 150, ECN: arg&16 != 0, Restore: arg&32 != 0}}
	if arg > 200 {
		a.Pend = uint8(arg)
	}
	for k := range arg % 4 {
		from := &d.inflight
		if k == 1 {
			from = &d.marked
		}
		size, ok := pop(from)
		if !ok {
			continue
		}
		a.Packets++
		a.Bytes += size
		if k == 1 {
			a.RtxPackets++
			a.RtxBytes += size
		}
	}
	if a.RtxPackets == 0 && a.Pend == 0 && !a.Restore {
		x := ccc.Run{Acks: 1}
		x.News[0] = ccc.PlainAck{PlainAck: nscc.MakePlainAck(a.Bytes, a.RTT, a.ECN), Packets: int32(a.Packets), Entropy: a.Entropy}
		ok := w.m.Exchange(d.handle, w.now, &x)
		require.Equal(w.t, w.runs(), ok)
		if ok {
			return
		}
	}
	w.m.OnACK(d.handle, w.now, &a)
}

// unbind ends a PDC's life and begins another; the old handle then does nothing.
func (w *cccWorld) unbind(i int) {
	old, k := w.pdcs[i].handle, i%cccNodes
	freed, _ := w.m.Unbind(old, w.now)
	require.Zero(w.t, freed, "the other PDC has it still")
	if w.mode[k] == ccc.ModeEnforce { // unbind that one too
		other := (i + cccNodes) % cccPDCs
		freed, rtt := w.m.Unbind(w.pdcs[other].handle, w.now)
		require.Equal(w.t, w.contexts[k], freed)
		w.contexts[k] = ccc.NewHandle(freed.Index(), freed.Generation()+2)
		require.NoError(w.t, w.m.Open(w.contexts[k], w.now, rtt))
		w.bind(other, ccc.NewHandle(uint16(other), w.pdcs[other].handle.Generation()+2))
	}
	w.bind(i, ccc.NewHandle(uint16(i), old.Generation()+2))
	w.m.OnNewData(old, w.now, 1)
	w.m.OnACK(old, w.now, &ccc.Ack{Packets: 1})
}

// reserve takes from the gate and gives back or sends what it has.
func (w *cccWorld) reserve(d *cccPDC, k int, n int64) {
	g := w.m.Gate(w.contexts[k])
	room := g.Room()
	require.Equal(w.t, n <= room, g.TryReserve(n))
	if n > room {
		return
	}
	w.reserved[k] += n
	if size := w.reserved[k] / 2; n%64 != 1 && size > 0 {
		d.unsent = append([]int64{size}, d.unsent...)
		w.m.OnNewData(d.handle, w.now, size)
		w.send(d, &d.unsent, ccc.Sent{Reserved: true})
		w.reserved[k] -= size
	}
	g.GiveBack(w.reserved[k] / 2)
	w.reserved[k] -= w.reserved[k] / 2
}

// check compares every counter with the model's lists, and the state with its
// definition.
func (w *cccWorld) check() {
	for k, h := range w.contexts {
		c := w.m.Context(h)
		var unsent, marked, inflight int64
		var nMarked, nInflight int
		for i := k; i < cccPDCs; i += cccNodes {
			d := &w.pdcs[i]
			unsent += sum(d.unsent)
			marked += sum(d.marked)
			inflight += sum(d.inflight)
			nMarked += len(d.marked)
			nInflight += len(d.inflight)
		}
		require.Equal(w.t, unsent, c.Backlog())
		require.Equal(w.t, marked, c.RtxBacklog())
		require.Equal(w.t, nMarked, c.WaitingRtx())
		require.Equal(w.t, nInflight, c.InflightPackets())
		require.Equal(w.t, inflight, c.Inflight())
		require.GreaterOrEqual(w.t, c.Cwnd(), int64(cccMTU))
		require.LessOrEqual(w.t, c.Cwnd(), w.p.NSCC().MaxWnd())
		w.checkState(c, k, unsent+marked, inflight)
	}
}

func (w *cccWorld) checkState(c *ccc.Context, k int, waiting, inflight int64) {
	credit := int64(1) << 59
	if w.p.RCCC().MaxCredit() != 0 {
		credit = c.Credit()
	}
	admitted := inflight+cccMTU <= c.Cwnd() && credit > 0 || w.mode[k] != ccc.ModeEnforce
	want := ccc.StateIdle
	switch {
	case waiting > 0 && admitted:
		want = ccc.StateReady
	case waiting > 0:
		want = ccc.StateActive
	case c.InflightPackets() > 0:
		want = ccc.StatePending
	}
	require.Equal(w.t, want, c.State())
	require.Equal(w.t, want == ccc.StateReady, c.Decide(w.p, w.now).Bytes > 0)
	if w.mode[k] == ccc.ModeEnforce && w.gates {
		left := c.Cwnd() - inflight
		if left < cccMTU {
			left = min(left, 0)
		}
		require.Equal(w.t, min(left, credit)-w.reserved[k], w.m.Gate(w.contexts[k]).Room())
	}
}

func pop(from *[]int64) (int64, bool) {
	if len(*from) == 0 {
		return 0, false
	}
	size := (*from)[0]
	*from = (*from)[1:]
	return size, true
}

func sum(sizes []int64) int64 {
	var n int64
	for _, s := range sizes {
		n += s
	}
	return n
}

// FuzzCCCEntropy reports anything about any value: a scheme must stay within its
// side memory and its values.
func FuzzCCCEntropy(f *testing.F) {
	f.Add(uint8(0), []byte{})
	f.Add(uint8(1), []byte("\x03\x00\x00\x03\x01\x00")) // every value lost
	f.Add(uint8(2), []byte("\x03\x00\x00\x00\x11\x22")) // frozen, then recycled
	f.Add(uint8(3), []byte("\x00\x01\x00\x00\x02\x00\x00\x03\x00\x00\x04\x00\x00\x05\x00"))
	f.Add(uint8(4), []byte("\x00\xff\xff\xff\xff\xff")) // a value nobody gave out
	f.Fuzz(func(t *testing.T, scheme uint8, in []byte) {
		p, err := ccc.NewEntropyParams(ccc.EntropyConfig{Scheme: ccc.Scheme(scheme % 5), Values: 8, Queue: 4, Freeze: 20})
		require.NoError(t, err)
		side := make([]uint64, p.Words())
		var e ccc.Entropy
		e.Init(&p, uint64(scheme))
		fresh := e
		base := fresh.Next(&p, make([]uint64, p.Words()), ccc.Progress{}) &^ 7
		known := map[uint16]bool{} // values that feedback may have brought in
		recycled := 0
		for now := int64(0); len(in) >= 3; now++ {
			fate, value := int64(in[0]%4), uint16(in[1])|uint16(in[2])<<8
			in = in[3:]
			tellPath(&e, &p, side, now, value, fate)
			if fate == 0 {
				known[value] = true
				recycled++
			}
			v := e.Next(&p, side, ccc.Progress{Seq: uint64(now), WindowPackets: 3})
			upper := uint16(0)
			if s := ccc.Scheme(scheme % 5); s != ccc.SchemeREPS && s != ccc.SchemeREPSLegacy {
				upper = base
			}
			require.True(t, v&^7 == upper || known[v], "value %d from nowhere", v)
			s := p.REPSState(side)
			require.LessOrEqual(t, s.Fresh, 8)
			require.LessOrEqual(t, s.Fresh, s.Filled)
			require.LessOrEqual(t, s.Filled, recycled)
		}
	})
}
