// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"fmt"
	"testing"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

// One packet's whole life at both ends, and time passing: nothing is allocated.
func TestManagerAllocs(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reply Response
		lose  bool
	}{
		{name: "default response"},
		{name: "guaranteed response", reply: guaranteed},
		{name: "lost and sent again", lose: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := established(t, pairConfig{})
			r := &allocRig{pair: g, reply: tc.reply}
			alloctest.Zero(t, "a packet", func() { r.packet(tc.lose) })
		})
	}
}

// allocRig carries packets without anything that a test would like to keep.
type allocRig struct {
	*pair
	reply    Response
	buf, ack [ReplyMax + 64]byte
	in       In
	res      Result
	out      Out
}

func (r *allocRig) packet(lose bool) {
	r.now += 20_000
	if _, err := r.a.m.Submit(r.now, r.h, Packet{Handle: 1, Size: 4160, Next: pds.NextRequestStd, AR: true}); err != nil {
		panic(err)
	}
	if !r.a.m.Transmit(r.now, r.buf[:], &r.out) {
		panic("not sent")
	}
	if lose {
		r.now += 1_100_000
		if !r.a.m.Tick(r.now) || !r.a.m.Transmit(r.now, r.buf[:], &r.out) || !r.out.Retx {
			panic("not sent again")
		}
	}
	r.in = In{Packet: r.buf[:64], Src: AddrFrom(r.a.addr), Dst: AddrFrom(r.b.addr), Size: 4160}
	r.b.m.Receive(r.now+6000, &r.in, r.ack[:], &r.res)
	n, err := r.b.m.Respond(r.now+6000, r.res.ID, &r.reply, r.ack[:])
	if err != nil || n == 0 {
		panic(fmt.Sprint("not acknowledged ", n, err, r.res))
	}
	r.in = In{Packet: r.ack[:n], Src: AddrFrom(r.b.addr), Dst: AddrFrom(r.a.addr), Size: 64}
	r.a.m.Receive(r.now+12_000, &r.in, r.buf[:], &r.res)
	var e Event
	if !(r.a.m.Event(&e) && e.Kind == EventResponse) && r.res.Verdict != VerdictResponse {
		panic("no response")
	}
	r.a.m.Tick(r.now + 12_000)
	r.b.m.Tick(r.now + 12_000)
	r.a.m.NextDeadline()
}
