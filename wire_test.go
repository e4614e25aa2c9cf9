// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

const (
	walkJob   = 101
	walkPID   = 2
	walkIndex = 0x00a
	walkKey   = 0xacce5
	walkBase  = 0xba5eadd1
	walkLen   = 16384

	tcLow, tcHigh = 1, 2
)

var walkAddr = [2]netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}

// walkConfig is an end of the packet walk: which PDCID it hands out first, and
// acknowledgements without congestion state.
func walkConfig(i int, first pds.PDCID) uetcc.Config {
	return uetcc.Config{
		Address: walkAddr[i], MTU: 4096, ControlTC: tcHigh,
		PDS:      pdc.Config{NoAckCC: true},
		PDCs:     pdc.TableConfig{General: int(first) + 1, FirstID: first},
		Memory:   pdc.MemoryConfig{Chunks: 16, Responses: 16},
		CC:       ccc.Config{NSCC: nscc.Config{InitialCwnd: 1 << 17, Trimming: true}},
		Contexts: 4, Messages: 8, Answers: 8, Seed: 7,
	}
}

// startAt has the PDC of Endpoint.Connect begin at a PSN of the recording.
func startAt(e *uetcc.Endpoint, h pdc.Handle, start pds.PSN) {
	if !(*pdc.Manager)(e.PDS()).SetStartPSN(h, start) {
		panic("the PDC has begun")
	}
}

// openWalk opens the region of the walk at e and returns its generation.
func openWalk(e *uetcc.Endpoint, length uint64, rights ses.Rights) ses.Generation {
	t := e.Target()
	process, err := t.AddProcess(ses.Process{Job: walkJob, PID: walkPID})
	must(err)
	_, err = t.OpenIndex(0, process, walkIndex, ses.Index{Kind: ses.IndexMemory})
	must(err)
	generation, err := t.Renew(0, process, walkIndex)
	must(err)
	_, err = t.Register(process, walkIndex, ses.Region{Base: walkBase, Length: length, Key: walkKey, Job: walkJob, Rights: rights})
	must(err)
	return generation
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func walkMessage() uetcc.Message {
	return uetcc.Message{
		To:  uetcc.Destination{Address: walkAddr[1], TC: tcLow, Job: walkJob, PID: walkPID, Index: walkIndex, Generation: 1},
		Key: walkKey, Length: walkLen, Cookie: 99,
	}
}

// A datagram as the wire has it: headers, then as many bytes as the payload says.
type wirePacket struct {
	data     []byte
	src, dst pdc.Addr
	tc       uint8
	entropy  uint16
}

func onWire(d *uetcc.Datagram) wirePacket {
	data := append([]byte(nil), d.Packet...)
	return wirePacket{append(data, make([]byte, d.Payload.Length)...), d.Src, d.Dst, d.TC, d.Entropy}
}

func newReply(e *uetcc.Endpoint) uetcc.Datagram {
	return uetcc.Datagram{Packet: make([]byte, 0, e.ReplyMax())}
}

func newDatagram() uetcc.Datagram { return uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)} }

// sendAll takes all that e may send now.
func sendAll(now int64, e *uetcc.Endpoint) (all []wirePacket) {
	out := newDatagram()
	for e.Transmit(now, &out) {
		all = append(all, onWire(&out))
	}
	return all
}

// take gives a packet to e.
func take(now int64, e *uetcc.Endpoint, p wirePacket) (in, reply uetcc.Datagram, r uetcc.Received) {
	in, reply = uetcc.Datagram{Packet: p.data, Src: p.src, Dst: p.dst}, newDatagram()
	e.Receive(now, &in, &reply, &r)
	return in, reply, r
}

// receive gives a packet to e and returns what to do and what goes back.
func receive(now int64, e *uetcc.Endpoint, p wirePacket) (r uetcc.Received, back []wirePacket) {
	_, reply, r := take(now, e, p)
	if len(reply.Packet) > 0 {
		back = append(back, onWire(&reply))
	}
	return r, back
}

// walkLine is what the walk's tables say about a packet.
func walkLine(p wirePacket) string {
	var parser frame.Parser
	var h frame.Packet
	must(parser.UDP(p.data, &h))
	class := map[uint8]string{tcLow: "low", tcHigh: "high"}[p.tc]
	if h.Type == pds.TypeACK {
		a := &h.Ack
		return fmt.Sprintf("TC %s %v %#x>%#x cack %#x psn %#x | %v", class, h.Type, uint16(a.SPDCID), uint16(a.DPDCID), uint32(a.CACK), uint32(a.AckPSN()), &h.Reply)
	}
	q := &h.Req
	offset := uint16(0)
	if q.Flags&pds.FlagSYN != 0 {
		offset = q.Info.PSNOffset()
	}
	return fmt.Sprintf("TC %s %v %#x>%#x psn %#x clear %#x syn %v offset %d ar %v | %v id %d at %d of %d", class, h.Type,
		uint16(q.SPDCID), uint16(q.DPDCID), uint32(q.PSN), uint32(q.ClearPSN()), q.Flags&pds.FlagSYN != 0, offset,
		q.Flags&pds.FlagAR != 0, h.Request.Flags, h.Request.MessageID, h.Request.MessageOffset, h.Request.RequestLength)
}

// newEnd is an endpoint with the specification's parameters: most tests
// count on full windows, and on losses that time-outs alone find.
func newEnd(t testing.TB, c uetcc.Config) *uetcc.Endpoint {
	t.Helper()
	c.CC.NSCC.Trimming = true
	e, err := uetcc.NewEndpoint(c)
	require.NoError(t, err)
	return e
}

// What goes out says its class, its nominal size, and whether it was sent before.
func TestTransmitSaysClassSizeAndRetx(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI, ses.ModeUUD} {
		n := newNetwork(t, 1, netFaults{}, 2, nil)
		e, out := n.ends[0].e, newDatagram()
		m := uetcc.Message{To: uetcc.Destination{Address: n.ends[1].addr, TC: tcLow, Job: 1}, Mode: mode, Key: 1, Length: 100}
		start := e.Write
		if mode == ses.ModeUUD {
			start = e.Send
		}
		_, err := start(0, &m)
		require.NoError(t, err)
		for _, again := range []bool{false, true} {
			if e.Transmit(n.now, &out); again && mode == ses.ModeUUD {
				break
			}
			require.EqualValues(t, tcLow, out.TC, mode)
			require.Equal(t, again, out.Retx, mode)
			require.Equal(t, pds.NominalSize(8+len(out.Packet)+100), out.Size, mode)
			if mode == ses.ModeRUD || mode == ses.ModeROD {
				_, reply, _ := take(n.now, n.ends[1].e, onWire(&out))
				require.NotEmpty(t, reply.Packet)
				require.EqualValues(t, tcHigh, reply.TC, mode)
				require.Equal(t, pds.NominalSize(8+len(reply.Packet)), reply.Size, mode)
			}
			for at, ok := e.NextDeadline(); ok && n.now < 1_000_000; at, ok = e.NextDeadline() {
				n.now = at
				e.Tick(at)
			}
		}
	}
}
