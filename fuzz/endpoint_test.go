package fuzz

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

const hostilePDCs = 4

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
	process, err := s.AddEndpoint(ses.Endpoint{Job: 1})
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
	out, reply := uetcc.Datagram{Packet: room[:0:uetcc.HeaderMax]}, uetcc.Datagram{Packet: room[uetcc.HeaderMax:][:0]}
	peer, local := pdc.AddrFrom4([4]byte{10, 0, 0, 2}), pdc.AddrFrom4([4]byte{10, 0, 0, 1})
	outs := [2]uetcc.Datagram{{Packet: room[2*uetcc.HeaderMax:][:0]}, {Packet: room[3*uetcc.HeaderMax:][:0]}}
	now := int64(0)
	var r uetcc.Received
	var data [512]byte
	for len(b) > 2 {
		for e.Transmit(now, &out) {
		}
		n, signals := min(int(b[0]), len(b)-2), b[1]
		in := uetcc.Datagram{Packet: b[2 : 2+n], Src: peer, Dst: local, CE: signals&1 != 0}
		if signals&2 != 0 {
			in.Trimmed = pds.NackTrimmed
		}
		now += int64(signals>>2) << (signals >> 4)
		if signals&12 == 12 { // twice the same
			batch, replies, got := [2]uetcc.Datagram{in, in}, [2]uetcc.Datagram{outs[1], reply}, [2]uetcc.Received{}
			e.ExchangeBatch(now, batch[:], replies[:], got[:], outs[:1])
			if r, reply = got[1], replies[1]; got[0].Answer != 0 {
				r = got[0]
			}
		} else if signals&8 != 0 {
			e.Exchange(now, &in, &reply, &r, outs[:1+signals>>7])
		} else {
			e.Receive(now, &in, &reply, &r)
		}
		if r.Action != ses.ActionNone && (r.Payload > n || r.Action == ses.ActionPlace && r.Payload+int(r.Length) > n) {
			panic("told to place more than the packet holds")
		}
		if r.Message == 0 && r.Action != ses.ActionNone && r.Address+uint64(r.Length) > 1<<20 {
			panic("told to touch what is not open")
		}
		if signals&12 == 4 && r.Form.IsRequest() && r.Answer == 0 && r.Action != ses.ActionNone && r.Action != ses.ActionAbort {
			r.Code = ses.RCHostPoisoned
			if err := e.Fail(now, &in, &reply, &r); err != nil && err != pdc.ErrUnknown {
				panic(err)
			}
		}
		if r.Answer != 0 && e.Answer(now, r.Answer, data[:r.Length], &reply) != nil {
			panic("the answer that was asked for is refused")
		}
		e.Tick(now)
		for {
			if _, ok := e.Poll(); !ok {
				break
			}
		}
		b = b[2+n:]
	}
}

// hostilePackets are packets of all kinds, which say what a peer of the endpoint
// could say.
func hostilePackets() (seeds [][]byte) {
	add := func(ps ...[]byte) {
		var s []byte
		for _, p := range ps {
			s = append(append(s, byte(len(p)), 0), p...)
		}
		seeds = append(seeds, s)
	}
	request := func(op ses.Opcode, psn pds.PSN, index ses.ResourceIndex) []byte {
		h := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, PSN: psn, ClearOffset: -1, SPDCID: 9, Info: pds.MakePDCInfo(false, uint16(psn))}
		s := ses.Request{Form: ses.FormStandard, Standard: ses.Standard{Common: ses.Common{Opcode: op, Flags: ses.FlagSOM | ses.FlagEOM | ses.FlagRel, JobID: 1, Index: index},
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
	return seeds
}

// FuzzEndpointReceive: no bytes make an endpoint panic, tell its owner to touch
// memory that is not open, or hold more than it was made for.
func FuzzEndpointReceive(f *testing.F) {
	for i, s := range hostilePackets() {
		f.Add(s, uint8(i))
	}
	room := make([]byte, 8*uetcc.HeaderMax)
	f.Fuzz(func(t *testing.T, b []byte, control uint8) {
		e := hostileEndpoint(t, ccc.Control(control%3))
		hostileBytes(e, b, room)
		s := e.PDS().Stats()
		require.LessOrEqual(t, s.Opened-s.Closed, uint64(hostilePDCs))
		require.LessOrEqual(t, e.Target().Messages(), 4)
		require.LessOrEqual(t, e.PDS().FreeChunks(), 8)
	})
}

// Hostile packets cost no memory.
func TestEndpointReceiveAllocatesNothing(t *testing.T) {
	e := hostileEndpoint(t, ccc.ControlNSCC)
	room := make([]byte, 8*uetcc.HeaderMax)
	seeds := hostilePackets()
	alloctest.Zero(t, "receive", func() {
		for _, s := range seeds {
			hostileBytes(e, s, room)
		}
	})
}
