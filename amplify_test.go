// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// victim is an address in whose name somebody else sends, and which answers nothing.
var victim = pdc.AddrFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}))

// receives gives the target buffers for sends.
func (s *siege) receives() {
	for i := range 4 {
		s.post(s.target, uint64(i)<<16, 1<<16)
	}
}

// amplify lets 20 s pass after the packets and returns how many bytes go out for each that came,
// with the headers of IP and UDP.
func (s *siege) amplify(packets ...[]byte) float64 {
	out := newDatagram()
	send := func() {
		for s.target.e.Transmit(s.now, &out) {
			s.out += int64(len(out.Packet)) + int64(out.Payload.Length) + 28
		}
		s.poll(s.target)
	}
	for _, p := range packets {
		s.spoof(victim, p)
		send()
	}
	for end := s.now + 20e9; s.now < end; {
		at, ok := s.target.e.NextDeadline()
		if !ok {
			break
		}
		s.now = max(s.now+1000, at)
		s.target.e.Tick(s.now)
		send()
	}
	return float64(s.out) / float64(s.in)
}

// strange is a request of a stranger, the k-th on the PDC with his PDCID 7.
func strange(typ pds.Type, k int, h *ses.Standard, data int) []byte {
	psn := pds.PSN(1000 + k)
	q := pds.Request{Type: typ, Next: pds.NextRequestStd, Flags: pds.FlagAR | pds.FlagSYN, SPDCID: 7, PSN: psn, Info: pds.MakePDCInfo(false, uint16(k)), ClearOffset: -1 - int16(k)}
	if q.HasCC() {
		q.CreditTarget = 1 << 20
	}
	h.JobID, h.Key = 1, 1
	h.MessageID, h.Flags = ses.MessageID(k+1), ses.FlagSOM|ses.FlagEOM|ses.FlagRel
	return append(h.AppendTo(q.AppendTo(nil)), make([]byte, data)...)
}

// Whoever sends in another's name has at most three bytes sent to that address for each of his
// own, whatever he asks for, in one packet or in many, resends included. Before: one read in a SYN
// packet 615 times as many with these retries, 64 of them 40, RUDI reads 43 without end, a credit
// target 16.
func TestAmplification(t *testing.T) {
	read := func(length uint32) *ses.Standard {
		return &ses.Standard{Common: ses.Common{Opcode: ses.OpcodeRead}, RequestLength: length}
	}
	write := &ses.Standard{Common: ses.Common{Opcode: ses.OpcodeWrite}, RequestLength: 16}
	rudi := func(length uint32, n int) (ps [][]byte) {
		for i := range n {
			h := read(length)
			h.JobID, h.Key, h.Flags = 1, 1, ses.FlagSOM|ses.FlagEOM|ses.FlagRel
			ps = append(ps, h.AppendTo((&pds.RUDI{Type: pds.TypeRUDIReq, Next: pds.NextRequestStd, PktID: uint32(i)}).AppendTo(nil)))
		}
		return ps
	}
	var reads, mixed [][]byte
	for k := range 64 {
		reads = append(reads, strange(pds.TypeRUDReq, k, read(4096), 0))
		mixed = append(mixed, strange(pds.TypeRUDReq, k, []*ses.Standard{write, read(4096)}[k%2], []int{16, 0}[k%2]))
	}
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestMedium, Flags: pds.FlagAR | pds.FlagSYN, SPDCID: 7, PSN: 1000, ClearOffset: -1}
	h := ses.Request{Form: pds.NextRequestMedium, Standard: *read(16)}
	h.JobID, h.Key, h.Flags = 1, 1, ses.FlagSOM|ses.FlagEOM|ses.FlagRel
	medium := h.AppendTo(q.AppendTo(nil))
	noop := pds.Control{Ctl: pds.CtlNOOP, Flags: pds.FlagSYN | pds.FlagAR, SPDCID: 7, PSN: 1000}
	for name, x := range map[string]struct {
		packets [][]byte
		control ccc.Control
	}{
		"a SYN read":               {packets: reads[:1]},
		"a SYN read, ROD":          {packets: [][]byte{strange(pds.TypeRODReq, 0, read(4096), 0)}},
		"a short SYN read":         {packets: [][]byte{strange(pds.TypeRUDReq, 0, read(16), 0)}},
		"a SYN read, medium form":  {packets: [][]byte{medium}},
		"64 SYN reads":             {packets: reads},
		"64 writes and reads":      {packets: mixed},
		"a RUDI read":              {packets: rudi(4096, 1)},
		"1,000 RUDI reads":         {packets: rudi(4096, 1000)},
		"RUDI reads of 200 B":      {packets: rudi(200, 100)},
		"a NOOP":                   {packets: [][]byte{noop.AppendTo(nil)}},
		"a write":                  {packets: [][]byte{strange(pds.TypeRUDReq, 0, write, 16)}},
		"a credit target":          {packets: [][]byte{strange(pds.TypeRUDCCReq, 0, write, 16)}, control: ccc.ControlRCCC},
		"a credit target and NSCC": {packets: [][]byte{strange(pds.TypeRUDCCReq, 0, write, 16)}, control: ccc.ControlBoth},
		"a rendezvous send":        {packets: [][]byte{rendezvous(1 << 20)}},
		"the same SYN read again":  {packets: [][]byte{reads[0], reads[0], reads[0], reads[0]}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSiege(t, func(c *uetcc.Config) {
				c.CC.Control, c.PDS.MaxRTORetx = x.control, 14
			})
			s.receives()
			factor := s.amplify(x.packets...)
			t.Logf("%.2f bytes out for each in", factor)
			require.LessOrEqual(t, factor, 3.)
		})
	}
}

// rendezvous is a send of which all is to be read by the target.
func rendezvous(length uint32) []byte {
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagAR | pds.FlagSYN, SPDCID: 7, PSN: 1000, ClearOffset: -1}
	h := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{
		Common:    ses.Common{Opcode: ses.OpcodeRendezvousSend, Flags: ses.FlagSOM | ses.FlagEOM | ses.FlagRel, JobID: 1, Index: netQueue},
		MessageID: 1, RequestLength: length,
	}}
	return h.AppendTo(q.AppendTo(nil))
}

// An honest peer gets all that it reads of a target that does not know it, also under loss: the
// first read costs a round trip more, and a RUDI read a PDC beside it, once.
func TestFirstReadsOfHonestPeers(t *testing.T) {
	for name, faults := range netSettings {
		for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI} {
			t.Run(name+" "+mode.String(), func(t *testing.T) {
				for seed := range uint64(20) {
					n := newNetwork(t, seed, faults, 2, nil)
					want := fill(3*netMTU, 7)
					copy(n.ends[1].mem, want)
					got := make([]byte, len(want))
					n.begin(n.ends[0].e.Read, mode, got)
					n.endWell(n.ends[0], 1)
					require.Equal(t, want, got)
				}
			})
		}
	}
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
		n := newNetwork(t, 1, netFaults{}, 2, nil)
		n.read(mode, netMTU)
		n.endWell(n.ends[0], 1)
		require.Equal(t, int64(4*5000), n.now, "two round trips")
		n.ends[0].events = nil
		n.read(mode, netMTU)
		before := n.now
		n.endWell(n.ends[0], 1)
		require.Equal(t, int64(2*5000), n.now-before, "one, from then on")
	}
}
