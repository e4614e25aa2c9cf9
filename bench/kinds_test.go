// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// kinds is a target that is given one kind of packet again and again: whoever can send any packet
// chooses the one that costs most. A benchmark of each, since no packet may cost more than
// twenty times the median one.
type kinds struct {
	e      *uetcc.Endpoint
	in     uetcc.Datagram
	reply  uetcc.Datagram
	got    uetcc.Received
	now    int64
	peer   pds.PDCID // the target's PDCID
	psn    pds.PSN
	handle ses.Handle

	b    *testing.B
	room [256]byte
}

func newKinds(b *testing.B, posted int) *kinds {
	c := uetcc.Config{Address: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Seed: 1}
	c.Target.Receives, c.PDCs.Quarantine = 65535, 1
	e, err := uetcc.NewEndpoint(c)
	if err != nil {
		b.Fatal(err)
	}
	k := &kinds{e: e, reply: uetcc.Datagram{Packet: make([]byte, 0, e.ReplyMax())}, psn: 1000, b: b}
	k.in = uetcc.Datagram{Src: source(1), Dst: pdc.AddrFrom(c.Address), Size: 200}
	t := e.Target()
	k.handle, _ = t.AddProcess(ses.Process{Job: 1})
	_, _ = t.OpenIndex(0, k.handle, 0, ses.Index{})
	_, _ = t.OpenIndex(0, k.handle, 1, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
	_, _ = t.Register(k.handle, 0, ses.Region{Length: 1 << 30, Key: 1, Job: ses.AnyJob, Rights: ses.RightRead | ses.RightWrite, Idempotent: true})
	for i := range posted {
		k.post(uint64(i))
	}
	k.in.Packet = k.request(ses.OpcodeWrite, 1, pds.FlagSYN)
	k.give()
	var a pds.AckCC
	if _, err := a.Decode(k.reply.Packet); err != nil {
		b.Fatalf("%v: %+v", err, k.got)
	}
	k.peer = a.SPDCID
	k.in.Packet = k.request(ses.OpcodeWrite, 1, 0)
	k.give()
	return k
}

func source(i int) pdc.Addr {
	return pdc.AddrFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
}

func (k *kinds) post(tag uint64) {
	_, _ = k.e.Target().PostReceive(k.handle, 1, ses.Receive{Base: 1 << 20, Length: 64, Match: tag})
}

// request is the next one of the PDC.
func (k *kinds) request(op ses.Opcode, key uint64, f pds.Flags) []byte {
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: f | pds.FlagAR, SPDCID: 7, DPDCID: k.peer, PSN: k.psn, ClearOffset: -1}
	h := ses.Standard{
		Common:    ses.Common{Opcode: op, Flags: ses.FlagSOM | ses.FlagEOM | ses.FlagRel, JobID: 1},
		MessageID: 1, RequestLength: 16, Key: key,
	}
	if op == ses.OpcodeTaggedSend {
		h.Index = 1
	}
	k.psn++
	return append(h.AppendTo(q.AppendTo(nil)), make([]byte, 16)...)
}

// follow makes the packet in hand the next request of its PDC.
func (k *kinds) follow() {
	binary.BigEndian.PutUint32(k.in.Packet[atPSN:], uint32(k.psn))
	k.psn++
}

// give has the packet in hand arrive.
func (k *kinds) give() {
	k.now += 1000
	k.e.Receive(k.now, &k.in, &k.reply, &k.got)
	for {
		if _, ok := k.e.Poll(); !ok {
			return
		}
	}
}

func (k *kinds) control(ctl pds.CtlType) []byte {
	c := pds.Control{Ctl: ctl, Flags: pds.FlagAR, SPDCID: 7, DPDCID: k.peer, PSN: k.psn - 1}
	return c.AppendTo(nil)
}

// ordered makes the endpoint the source of an ordered PDC with a window under way, whose first
// packet has arrived, and the packet in hand the peer's word that the second has not.
func (k *kinds) ordered() {
	to := uetcc.Destination{Address: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Job: 1}
	c := uetcc.Config{Address: netip.AddrFrom4([4]byte{10, 0, 0, 2}), Seed: 1}
	c.PDS.MaxNackRetx = 31
	c.CC.NSCC.LinkRate, c.CC.NSCC.BaseRTT, c.CC.NSCC.Trimming = 100e9/8, 50_000, true
	k.e, _ = uetcc.NewEndpoint(c)
	_, _ = k.e.Write(k.now, &uetcc.Message{To: to, Mode: ses.ModeROD, Key: 1, Length: 64 << 20})
	k.in.Src, k.in.Dst = pdc.AddrFrom(to.Address), pdc.AddrFrom(c.Address)
	k.drain()
	for h := range k.e.PDS().All() {
		k.peer = h.ID()
		info, _ := k.e.PDS().PDC(h)
		k.psn = info.Base
	}
	k.in.Packet = (&pds.AckCC{Ack: pds.Ack{SPDCID: 7, DPDCID: k.peer, CACK: k.psn}}).AppendTo(nil)
	k.give()
	k.in.Packet = (&pds.Nack{Code: pds.NackRODOOO, SPDCID: 7, DPDCID: k.peer, PSN: k.psn + 2}).AppendTo(nil)
}

// drain sends all that may go.
func (k *kinds) drain() {
	out := uetcc.Datagram{Packet: k.room[:]}
	for k.e.Transmit(k.now, &out) {
		out.Packet = k.room[:]
	}
}

func BenchmarkPacketKinds(b *testing.B) {
	run := func(name, says string, posted int, begin func(k *kinds), each func(k *kinds, i int)) {
		b.Run("kind="+name, func(b *testing.B) {
			k := newKinds(b, posted)
			begin(k)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				each(k, i)
				k.give()
			}
			if got := fmt.Sprint(k.got.Code, " ", k.got.Err); got != says { // nor is an error on the way taken for speed
				b.Fatalf("%s, want %s", got, says)
			}
		})
	}
	same := func(*kinds, int) {}
	next := func(k *kinds, _ int) { k.follow() }
	request := func(op ses.Opcode, key uint64) func(*kinds) {
		return func(k *kinds) { k.in.Packet = k.request(op, key, 0); k.psn-- }
	}
	run("write", "RC_OK <nil>", 0, request(ses.OpcodeWrite, 1), next)
	run("write-refused", "RC_BAD_MKEY <nil>", 0, request(ses.OpcodeWrite, 9), next)
	run("write-again", "RC_NULL pdc: packet has arrived before", 0, func(k *kinds) { k.in.Packet = k.request(ses.OpcodeWrite, 1, pds.FlagRetx); k.give() }, same)
	run("outside-the-window", "RC_NULL pdc: PSN outside the window", 0, func(k *kinds) {
		k.in.Packet = k.request(ses.OpcodeWrite, 1, 0)
		binary.BigEndian.PutUint32(k.in.Packet[atPSN:], 9000)
		binary.BigEndian.PutUint16(k.in.Packet[2:], 0)
	}, same)
	run("no-such-pdc", "RC_NULL pdc: no such PDC", 0, func(k *kinds) { k.peer += 9; request(ses.OpcodeWrite, 1)(k) }, same)
	run("senseless", "RC_UNSUPPORTED_OP <nil>", 0, func(k *kinds) { k.in.Packet = k.request(0x3f, 1, 0)[:40]; k.psn-- }, next)
	for _, n := range []int{16, 1024, 65535} {
		run(fmt.Sprint("tagged-none/posted=", n), "RC_NO_MATCH <nil>", n, request(ses.OpcodeTaggedSend, 1<<40), next)
		run(fmt.Sprint("tagged-and-post/posted=", n), "RC_OK <nil>", n, request(ses.OpcodeTaggedSend, 1), func(k *kinds, i int) {
			k.follow()
			tag := uint64(i*7919) % uint64(n)
			binary.BigEndian.PutUint64(k.in.Packet[pds.RequestLen+24:], tag)
			k.post(tag)
		})
	}
	for _, ctl := range []pds.CtlType{pds.CtlProbe, pds.CtlACKReq, pds.CtlCreditReq, pds.CtlClearCmd} {
		run(ctl.String(), "RC_NULL <nil>", 0, func(k *kinds) { k.in.Packet = k.control(ctl) }, same)
	}
	for _, code := range []pds.NackCode{pds.NackInvDPDCID, pds.NackTrimmed, pds.NackUnexpEvent} {
		run("forged-"+code.String(), "RC_NULL pdc: speaks of something that is over", 0, func(k *kinds) {
			k.in.Packet = (&pds.Nack{Code: code, DPDCID: k.peer, PSN: k.psn}).AppendTo(nil)
		}, same)
	}
	run("ack-of-nothing", "RC_NULL pdc: acknowledges a packet that was never sent", 0, func(k *kinds) {
		k.in.Packet = (&pds.AckCC{Ack: pds.Ack{SPDCID: 7, DPDCID: k.peer, CACK: 2000}}).AppendTo(nil)
	}, same)
	// flood sends until what is spare for strangers is taken.
	flood := func(k *kinds) {
		for i := range 8192 {
			k.in.Src = source(i + 1<<20)
			k.give()
		}
	}
	run("syn-of-a-flood", "RC_NULL pdc: SYN packet with another Start_PSN than its PDC", 0, func(k *kinds) {
		k.peer = 0
		k.in.Packet = k.request(ses.OpcodeWrite, 1, pds.FlagSYN)
		flood(k)
	}, func(k *kinds, i int) {
		k.in.Src = source(i + 2)
	})
	run("syn-read-of-a-stranger", "RC_NULL pdc: SYN packet with another Start_PSN than its PDC", 0, func(k *kinds) {
		k.peer = 0
		k.in.Packet = k.request(ses.OpcodeRead, 1, pds.FlagSYN)
		binary.BigEndian.PutUint32(k.in.Packet[pds.RequestLen+40:], 4096)
		flood(k)
	}, func(k *kinds, i int) { k.in.Src = source(i + 2) })
	run("syn-that-opens", "RC_OK <nil>", 0, func(k *kinds) {
		k.peer = 0
		k.in.Packet = k.request(ses.OpcodeWrite, 1, pds.FlagSYN)
	}, func(k *kinds, i int) { // the PDC of the one before goes, so that there is one to open
		_ = k.e.PDS().Abort(k.now, k.got.PDC)
		k.e.Tick(k.now)
		k.in.Src = source(i + 2)
	})
	run("rod-ooo-that-rewinds", "RC_NULL <nil>", 0, (*kinds).ordered, func(k *kinds, _ int) { // 222 packets
		k.b.StopTimer()
		k.drain()
		k.now += 2_000_000 // NACK_Retx_Time is 1 ms
		k.b.StartTimer()
	})
	run("rudi-read-of-a-stranger", "RC_NULL <nil>", 0, func(k *kinds) {
		h := ses.Standard{Common: ses.Common{Opcode: ses.OpcodeRead, Flags: ses.FlagSOM | ses.FlagEOM | ses.FlagRel, JobID: 1}, RequestLength: 4096, Key: 1}
		k.in.Packet = h.AppendTo((&pds.RUDI{Type: pds.TypeRUDIReq, Next: pds.NextRequestStd}).AppendTo(nil))
	}, func(k *kinds, i int) { k.in.Src = source(i + 2) })
}
