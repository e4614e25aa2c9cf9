// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

// loop moves packets between two ends with buffers of its own, as an embedder
// does, until neither has anything to send.
type loop struct {
	ends [2]*uetcc.Endpoint
	buf  [2][]byte
	out  uetcc.Datagram
	back uetcc.Datagram
	r    uetcc.Received
	now  int64
}

func newLoop(t testing.TB, edit func(*uetcc.Config)) *loop {
	l := &loop{buf: [2][]byte{make([]byte, 0, 8192), make([]byte, 0, 8192)}}
	for i := range l.ends {
		c := uetcc.Config{Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), MTU: netMTU, Contexts: 4, Messages: 64,
			Answers: 64, PDCs: pdc.TableConfig{General: 8}, Seed: 3, Target: ses.TargetConfig{AtomicOps: 1, AtomicTypes: 1 << ses.TypeUint64}}
		edit(&c)
		l.ends[i] = newEnd(t, c)
		n := network{t: t}
		n.open(&netEnd{e: l.ends[i]})
	}
	return l
}

// run returns how many packets there were.
func (l *loop) run() (packets int) {
	for moved := true; moved; {
		moved = false
		for i, e := range l.ends {
			for l.out.Packet = l.buf[0]; e.Transmit(l.now, &l.out); l.out.Packet = l.buf[0] {
				packets++
				moved = true
				l.now += 100
				in := l.out
				in.Packet = in.Packet[:len(in.Packet)+int(in.Payload.Length)]
				l.back.Packet = l.buf[1]
				l.ends[1-i].Receive(l.now, &in, &l.back, &l.r)
				l.reply(1 - i)
			}
			e.Tick(l.now)
		}
	}
	return packets
}

func (l *loop) reply(from int) {
	id, n := l.r.Answer, l.r.Length
	l.deliver(from)
	if id == 0 {
		return
	}
	var data [8]byte
	l.back.Packet = l.buf[1]
	if l.ends[from].Answer(l.now, id, data[:n], &l.back) != nil {
		panic("answer")
	}
	l.deliver(from)
}

func (l *loop) deliver(from int) {
	if len(l.back.Packet) == 0 {
		return
	}
	l.back.Packet = l.back.Packet[:len(l.back.Packet)+int(l.back.Payload.Length)]
	l.out.Packet = l.buf[0]
	l.ends[1-from].Receive(l.now, &l.back, &l.out, &l.r)
}

// Sending, receiving, acknowledging and completing allocate nothing, with and without a tap.
func TestEndpointAllocatesNothing(t *testing.T) {
	t.Run("NSCC", func(t *testing.T) { allocatesNothing(t, func(*uetcc.Config) {}) })
	t.Run("TFC", func(t *testing.T) { allocatesNothing(t, underCells(ccc.ControlNSCC, 20)) })
	seen := 0
	t.Run("tapped", func(t *testing.T) {
		allocatesNothing(t, func(c *uetcc.Config) { c.Tap = func(_ int64, _ bool, d uetcc.Datagram) { seen += len(d.Packet) } })
	})
	require.NotZero(t, seen)
}

func allocatesNothing(t *testing.T, edit func(*uetcc.Config)) {
	l := newLoop(t, edit)
	e := l.ends[0]
	to := uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2"), Job: 1}
	done := func(h ses.Handle, err error) {
		if err != nil {
			panic(err)
		}
		if l.run() == 0 {
			panic("nothing was sent")
		}
		if ev, ok := e.Poll(); !ok || ev.Message != h || ev.Outcome.Status != ses.StatusOK {
			panic(fmt.Sprintf("no completion: %+v %v at %d", ev, ok, l.now))
		}
	}
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI} {
		m := uetcc.Message{To: to, Mode: mode, Key: 1, Length: 20 * netMTU}
		alloctest.Zero(t, "write "+mode.String(), func() { done(e.Write(l.now, &m)) })
		alloctest.Zero(t, "read "+mode.String(), func() { done(e.Read(l.now, &m)) })
	}
	atomic := uetcc.Message{To: to, Key: 1, Length: 8, Fetch: true, Swap: ses.CompareSwap{Atomic: ses.Atomic{Type: ses.TypeUint64}}}
	alloctest.Zero(t, "atomic", func() { done(e.Atomic(l.now, &atomic)) })
	datagram := uetcc.Message{To: to, Mode: ses.ModeUUD, Length: 100}
	alloctest.Zero(t, "datagram", func() { done(e.Send(l.now, &datagram)) })
	require.Zero(t, e.PDS().Stats().Failed)
}
