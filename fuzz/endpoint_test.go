// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

const (
	hostilePDCs     = 4
	hostileReplyMax = 1024 // or less
)

// hostileEndpoint is an endpoint with open memory and a queue, with a write, a read and
// a RUDI write on the way to the peer that the bytes come from.
func hostileEndpoint(t testing.TB, control ccc.Control) *uetcc.Endpoint {
	e, err := uetcc.NewEndpoint(uetcc.Config{
		Address: netip.MustParseAddr("10.0.0.1"), MTU: 1024, Seed: 5, Contexts: 4, Messages: 8, Answers: 4, RUDI: 4,
		PDCs:   pdc.TableConfig{General: hostilePDCs, FirstID: 1},
		Memory: pdc.MemoryConfig{Chunks: 8, Responses: 4, LongResponses: 1},
		PDS:    pdc.Config{MaxAckData: 512},
		CC:     ccc.Config{Control: control},
		Target: ses.TargetConfig{Messages: 4, Receives: 4, AtomicOps: 0xff, AtomicTypes: 0xff},
	})
	require.NoError(t, err)
	s := e.Target()
	process, err := s.AddProcess(ses.Process{Job: 1})
	require.NoError(t, err)
	_, err = s.OpenIndex(0, process, 0, ses.Index{})
	require.NoError(t, err)
	_, err = s.OpenIndex(0, process, 1, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
	require.NoError(t, err)
	_, err = s.Register(process, 0, ses.Region{Length: 1 << 20, Key: 1, Job: ses.AnyJob, Rights: 7, Idempotent: true})
	require.NoError(t, err)
	_, err = s.PostReceive(process, 1, ses.Receive{Length: 4096, Ignore: ^uint64(0)})
	require.NoError(t, err)
	m := uetcc.Message{To: uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2"), Job: 1}, Key: 1, Length: 5000}
	_, err = e.Write(0, &m)
	require.NoError(t, err)
	_, err = e.Read(0, &m)
	require.NoError(t, err)
	m.Mode = ses.ModeRUDI
	_, err = e.Write(0, &m)
	require.NoError(t, err)
	return e
}

// hostileBytes gives e the packets that b holds: one byte of length, one of signals,
// the bytes. Everything that the endpoint asks for is answered.
func hostileBytes(e *uetcc.Endpoint, b, room []byte) {
	x := hostileWire{e: e}
	for i, d := range []*uetcc.Datagram{&x.out, &x.reply, &x.outs[0], &x.outs[1]} {
		d.Packet = room[i*e.ReplyMax():][:0:e.ReplyMax()]
	}
	for len(b) > 2 {
		n, signals := min(int(b[0]), len(b)-2), b[1]
		x.take(b[2:2+n], signals)
		b = b[2+n:]
	}
}

// hostileWire is what comes to an endpoint, and the host that does what it says.
type hostileWire struct {
	e          *uetcc.Endpoint
	now        int64
	out, reply uetcc.Datagram
	outs       [2]uetcc.Datagram
	data       [512]byte
}

// take gives the endpoint one packet, in one of three ways, once or twice, some time after
// the last one.
func (x *hostileWire) take(packet []byte, signals byte) {
	e := x.e
	for e.Transmit(x.now, &x.out) {
	}
	in := uetcc.Datagram{Packet: packet, Src: pdc.AddrFrom(netip.AddrFrom4([4]byte{10, 0, 0, 2})), Dst: pdc.AddrFrom(netip.AddrFrom4([4]byte{10, 0, 0, 1})), CE: signals&1 != 0}
	if signals&2 != 0 {
		in.Trimmed = pds.NackTrimmed
	}
	x.now += int64(signals>>2) << (signals >> 4)
	var r uetcc.Received
	switch {
	case signals&12 == 12:
		batch, replies, got := [2]uetcc.Datagram{in, in}, [2]uetcc.Datagram{x.outs[1], x.reply}, [2]uetcc.Received{}
		e.ExchangeBatch(x.now, batch[:], replies[:], got[:], x.outs[:1])
		if r, x.reply = got[1], replies[1]; got[0].Answer != 0 {
			r = got[0]
		}
	case signals&8 != 0:
		e.Exchange(x.now, &in, &x.reply, &r, x.outs[:1+signals>>7])
	default:
		e.Receive(x.now, &in, &x.reply, &r)
	}
	x.obey(&in, &r, signals&12 == 4)
	e.Tick(x.now)
	for {
		if _, ok := e.Poll(); !ok {
			return
		}
	}
}

// obey does what r says, or says that it cannot if the memory is bad.
func (x *hostileWire) obey(in *uetcc.Datagram, r *uetcc.Received, bad bool) {
	n := len(in.Packet)
	if r.Action != ses.ActionNone && (r.Payload > n || r.Action == ses.ActionPlace && r.Payload+int(r.Length) > n) {
		panic("told to place more than the packet holds")
	}
	if r.Message == 0 && r.Action != ses.ActionNone && (r.Address > 1<<20 || r.Address+uint64(r.Length) > 1<<20) {
		panic("told to touch what is not open")
	}
	if bad && r.Form.IsRequest() && r.Answer == 0 && r.Action != ses.ActionNone && r.Action != ses.ActionAbort {
		r.Code = ses.RCHostPoisoned
		if err := x.e.Fail(x.now, in, &x.reply, r); err != nil && err != pdc.ErrUnknown {
			panic(err)
		}
	}
	if r.Answer != 0 && x.e.Answer(x.now, r.Answer, x.data[:r.Length], &x.reply) != nil {
		panic("the answer that was asked for is refused")
	}
}

// hostilePackets are packets of all kinds, which say what a peer of the endpoint
// could say.
func hostilePackets() (seeds [][]byte) {
	add := func(ps ...[]byte) {
		n := byte(len(seeds) / 2)
		for _, signals := range []byte{0, n<<2 | n>>1&2} { // every way to take them, see hostileWire.take
			var s []byte
			for _, p := range ps {
				s = append(append(s, byte(len(p)), signals), p...)
			}
			seeds = append(seeds, s)
		}
	}
	request := func(op ses.Opcode, psn pds.PSN, index ses.ResourceIndex) []byte {
		h := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, PSN: psn, ClearOffset: -1, SPDCID: 9, Info: pds.MakePDCInfo(false, uint16(psn))}
		s := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: op, Flags: ses.FlagSOM | ses.FlagEOM | ses.FlagRel, JobID: 1, Index: index},
			MessageID: 1, RequestLength: 16, Key: 1}}
		s.Swap.Type = ses.TypeUint64
		if op.IsAtomic() {
			s.RequestLength = 8
		}
		b := s.AppendTo(h.AppendTo(nil))
		if op != ses.OpcodeRead {
			b = append(b, make([]byte, s.RequestLength)...)
		}
		return b
	}
	for _, op := range []ses.Opcode{ses.OpcodeWrite, ses.OpcodeRead, ses.OpcodeSend, ses.OpcodeAtomic, ses.OpcodeFetchingAtomic, ses.OpcodeMsgError, ses.OpcodeDeferrableSend} {
		add(request(op, 0, 0), request(op, 1, 1), request(op, 0, 0))
	}
	for id := range pds.PDCID(hostilePDCs + 1) {
		for psn := range pds.PSN(3) {
			a := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: 7, DPDCID: id, CACK: psn}}
			y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, MessageID: 1, JobID: 1}
			add(y.AppendTo(a.AppendTo(nil)))
			n := pds.Nack{Code: pds.NackTrimmed, PSN: psn, SPDCID: 7, DPDCID: id}
			add(n.AppendTo(nil))
		}
	}
	d := pds.UUD{Next: pds.NextRequestStd}
	add(d.AppendTo(nil))
	for _, flags := range []pds.Flags{0, pds.FlagSYN} { // which asks for credit, on no PDC or a new one, cut anywhere
		h := pds.Request{Type: pds.TypeRUDCCReq, Next: pds.NextRequestStd, Flags: flags, ClearOffset: -1, SPDCID: 9, DPDCID: 999, CreditTarget: 9}
		b := h.AppendTo(nil)
		for n := range len(b) + 1 {
			add(b[:n])
		}
	}
	return seeds
}

// FuzzEndpointReceive: no bytes make an endpoint panic, tell its owner to touch
// memory that is not open, or hold more than it was made for.
func FuzzEndpointReceive(f *testing.F) {
	for _, s := range hostilePackets() {
		for control := range uint8(3) {
			f.Add(s, control)
		}
	}
	room := make([]byte, 4*hostileReplyMax)
	f.Fuzz(func(t *testing.T, b []byte, control uint8) {
		e := hostileEndpoint(t, ccc.Control(control%3))
		hostileBytes(e, b, room)
		s := e.PDS().Stats()
		require.LessOrEqual(t, s.Opened-s.Closed, uint64(2*hostilePDCs), "second ones to a peer included")
		require.LessOrEqual(t, e.Usage().Arriving, 4)
		require.LessOrEqual(t, (*pdc.Manager)(e.PDS()).FreeChunks(), 8)
	})
}

// Hostile packets cost no memory.
func TestEndpointReceiveAllocatesNothing(t *testing.T) {
	e := hostileEndpoint(t, ccc.ControlNSCC)
	room := make([]byte, 4*hostileReplyMax)
	seeds := hostilePackets()
	alloctest.Zero(t, "receive", func() {
		for _, s := range seeds {
			hostileBytes(e, s, room)
		}
	})
}
