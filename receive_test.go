// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// A twin is one of two endpoints that see the same packets: one may take the short
// way, the other has only the general one.
type twin struct {
	e     *Endpoint
	reply Datagram
	r     Received
}

func newTwin(t *testing.T, edit func(*Config)) *twin {
	c := Config{Address: netip.AddrFrom4([4]byte{10, 0, 0, 1}), MTU: nextMTU, Seed: 1, Contexts: 8, Messages: 8, Answers: 4, PDCs: pdc.TableConfig{General: 8, FirstID: 1}, Memory: pdc.MemoryConfig{Responses: 2048},
		CC: ccc.Config{NSCC: nscc.Config{LinkRate: 1e9, BaseRTT: 12_000}}, Target: ses.TargetConfig{Messages: 4096, Regions: 4, AtomicOps: 1 << ses.AtomicSum, AtomicTypes: 1 << ses.TypeUint64}}
	edit(&c)
	e, err := NewEndpoint(c)
	require.NoError(t, err)
	process, err := e.Target().AddProcess(ses.Process{Job: 1})
	require.NoError(t, err)
	_, err = e.Target().OpenIndex(0, process, 0, ses.Index{})
	require.NoError(t, err)
	_, err = e.Target().Register(process, 0, ses.Region{Length: 1 << 30, Key: 1, Job: 1, Rights: ses.RightWrite | ses.RightRead})
	require.NoError(t, err)
	return &twin{e: e, reply: Datagram{Packet: make([]byte, 0, HeaderMax)}}
}

const (
	nextMTU     = 1024
	nextPackets = 40 // of a message
)

// nextPacket is packet psn of a long write after another on a PDC.
func nextPacket(rng *rand.Rand, id uint16, psn uint32, cc bool) Datagram {
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, SPDCID: pds.PDCID(id), DPDCID: pds.PDCID(id), PSN: pds.PSN(psn)}
	if id == 4 {
		q.Type = pds.TypeRODReq
	}
	if cc {
		q.Type += pds.TypeRUDCCReq - pds.TypeRUDReq
		q.CCCID, q.CreditTarget = uint8(id), psn*5
	}
	if psn == 0 {
		q.Flags, q.DPDCID = pds.FlagSYN, 0
	}
	q.ClearOffset = int16(-min(psn+1, uint32(rng.IntN(64)+1)))
	q.Flags |= []pds.Flags{0, 0, pds.FlagAR, pds.FlagRetx}[rng.IntN(4)]
	i := psn % nextPackets
	s := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeWrite, Flags: ses.FlagRel, JobID: 1}, Key: 1,
		MessageID: ses.MessageID(psn/nextPackets + 1), PayloadLength: nextMTU, MessageOffset: i * nextMTU, RequestLength: nextPackets * nextMTU}}
	switch i {
	case 0:
		s.Flags |= ses.FlagSOM
	case nextPackets - 1:
		s.Flags |= ses.FlagEOM
	}
	in := Datagram{Src: pdc.AddrFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(id)})), CE: rng.IntN(8) == 0}
	in.State = pdc.AckState{Type: pds.CCType(rng.IntN(8) / 7), Credit: rng.Uint32N(1 << 24), Pend: uint8(rng.IntN(128)), Service: uint16(rng.IntN(1 << 16)), Restore: rng.IntN(2) == 0}
	if rng.IntN(2) == 0 {
		in.Size = 1100
	}
	switch rng.IntN(300) {
	case 0:
		q.SPDCID++
	case 1:
		in.Src.Lo++
	case 2:
		in.Trimmed = pds.NackTrimmed
	case 3:
		q.ClearOffset = 0
	case 4:
		q.Type ^= 1
	case 5:
		s.Key = 2
	case 6:
		s.Opcode = ses.OpcodeRead
	}
	payload := nextMTU
	if psn/nextPackets%4 == 3 {
		payload = whole(rng, &s)
	} else if rng.IntN(30) == 0 {
		payload = aside(rng, &q, &s)
	}
	in.Packet = append(s.AppendTo(q.AppendTo(nil)), make([]byte, payload)...)
	if rng.IntN(100) == 0 {
		in.Packet = in.Packet[:rng.IntN(len(in.Packet))]
	}
	return in
}

// whole makes a write of one packet of s, wrong in one place now and then, and returns
// how much of it follows the header.
func whole(rng *rand.Rand, s *ses.Request) (payload int) {
	s.Flags |= ses.FlagSOM | ses.FlagEOM
	s.BufferOffset, s.RequestLength = rng.Uint64N(1<<30-nextMTU), rng.Uint32N(nextMTU+1)
	if rng.IntN(4) == 0 {
		s.Flags |= []ses.Flags{ses.FlagHD, ses.FlagDC}[rng.IntN(2)]
		s.HeaderData = rng.Uint64()
	}
	switch rng.IntN(60) {
	case 0:
		s.BufferOffset = 1<<30 - rng.Uint64N(2*nextMTU) // about the end of the region
	case 1:
		s.RequestLength += nextMTU
	case 2:
		s.BufferOffset = rng.Uint64()
	case 3:
		return int(s.RequestLength / 2)
	case 4:
		s.Flags |= ses.FlagIE
	case 5:
		s.Flags &^= ses.FlagRel
	}
	return int(s.RequestLength) + rng.IntN(2)
}

// aside makes a message of one packet of s, in any form, and returns how much of it
// follows the header.
func aside(rng *rand.Rand, q *pds.Request, s *ses.Request) (payload int) {
	payload = rng.IntN(64)
	s.Flags |= ses.FlagSOM | ses.FlagEOM
	s.RequestLength = uint32(payload)
	s.Form = pds.NextHdr(rng.IntN(3)) + pds.NextRequestSmall
	q.Next = s.Form
	kind := rng.IntN(8)
	if (kind == 1 || kind == 2) && q.SPDCID != 2 {
		return payload // nobody gives the data, and the PDC would wait for it for ever
	}
	switch kind {
	case 0:
		s.Opcode = ses.OpcodeNoOp
	case 1:
		s.Opcode, payload = ses.OpcodeRead, 0
	case 2:
		s.Opcode, s.RequestLength, payload = ses.OpcodeFetchingAtomic, 8, 8
		s.Swap.Atomic = ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}
	case 3:
		s.Opcode, s.RequestLength, payload = ses.OpcodeAtomic, 8, 8
		s.Swap.Atomic = ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}
	case 4:
		s.Opcode = ses.OpcodeSend
	case 5:
		s.Flags |= ses.FlagHD
		s.HeaderData = rng.Uint64()
	case 6:
		q.Next = pds.NextHdr(rng.IntN(16))
	}
	return payload
}

// The short way for the packets of a long message says, sends, counts and keeps
// what the general way does.
func TestReceiveNextIsReceive(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"defaults": func(*Config) {},
		"plain":    func(c *Config) { c.PDS.NoAckCC = true },
		"credit":   func(c *Config) { c.CC.Control = ccc.ControlRCCC },
		"scarce":   func(c *Config) { c.Target.Messages = 8 },
		"small":    func(c *Config) { c.PDS.AckMinPktAdd, c.PDS.AckTrigger = 1, 40 },
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			a, b := newTwin(t, edit), newTwin(t, edit)
			var pdcs [5]pdc.Handle
			short, wholes := 0, 0
			for now := int64(0); now < 16_000*100; now += 100 {
				id := uint16(rng.IntN(4) + 1)
				for pdcs[id] == 0 && id > 1 && pdcs[id-1] == 0 {
					id-- // the first packets in order of the PDCIDs they get
				}
				psn := uint32(0)
				if info, ok := a.e.PDS().PDC(pdcs[id]); ok {
					psn = uint32(info.Contiguous) + 1
					switch rng.IntN(8) {
					case 0:
						psn -= min(psn, uint32(rng.IntN(24))) // again
					case 1, 2:
						psn += uint32(rng.IntN(24)) // ahead
					case 3:
						psn += uint32(rng.IntN(150)) // further than a SACK reaches
					}
				}
				in := nextPacket(rng, id, psn, name == "credit")
				a.r, b.r = dirtyReceived(), dirtyReceived()
				a.reply.Payload.Length, b.reply.Payload.Length = 1, 1
				before := a.e.recv.res
				a.e.recv.res.Verdict = pdc.VerdictDropped
				a.e.Receive(now, &in, &a.reply, &a.r)
				b.e.recv.receiveGeneral(now, &in, &b.reply, &b.r)
				if a.r.Action == ses.ActionPlace && a.e.recv.res.Verdict == pdc.VerdictDropped {
					short++
					if a.r.Complete {
						wholes++
					}
					a.e.recv.res = before
				}
				requireTwins(t, a, b)
				if psn == 0 && a.r.PDC != 0 {
					pdcs[id] = a.r.PDC
				}
			}
			if name != "credit" && name != "scarce" { // one keeps the result for the creditor, one soon has room for no message
				require.Greater(t, short, 2_000, "the test must reach what it is about")
				require.Greater(t, wholes, 500, "and messages of one packet")
			}
		})
	}
}

// dirtyReceived is one of which nothing may be left.
func dirtyReceived() Received {
	return Received{Err: pdc.ErrEvents, Action: ses.ActionAbort, Check: step.Host, Code: ses.RCBadIndex, Form: pds.NextRequestMedium,
		Message: 1, Cookie: 2, Address: 3, Offset: 4, Length: 5, Header: 6, Payload: 7, Answer: 8, Complete: true, HasData: true, HeaderData: 9, PDC: 10}
}

func requireTwins(t *testing.T, a, b *twin) {
	t.Helper()
	require.Equal(t, b.r, a.r)
	require.Equal(t, b.reply, a.reply)
	require.Equal(t, b.e.PDS().Stats(), a.e.PDS().Stats())
	require.Equal(t, b.e.Stats(), a.e.Stats())
	require.Equal(t, b.e.Usage().Arriving, a.e.Usage().Arriving)
	if id := a.r.PDC; id != 0 {
		ia, _ := a.e.PDS().PDC(id)
		ib, _ := b.e.PDS().PDC(id)
		require.Equal(t, ib, ia)
		if ka, kb := a.e.credit, b.e.credit; ka != nil {
			fa, fb := &a.e.flows[id.ID()], &b.e.flows[id.ID()]
			require.Equal(t, kb.recv.Target(fb.sender), ka.recv.Target(fa.sender))
		}
	}
}
