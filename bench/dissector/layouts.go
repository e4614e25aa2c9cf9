// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// decoder is the codec of a header.
type decoder[T any] interface {
	*T
	Decode(b []byte) (int, error)
}

// by reads a T.
func by[T any, P decoder[T]](b []byte) any {
	var h T
	if _, err := P(&h).Decode(b); err != nil {
		panic(err)
	}
	return &h
}

// prologue is the first word of a header: the type, or type and next_hdr.
func prologue(t pds.Type, next uint8, flags pds.Flags) []byte {
	p := pds.Prologue{Type: t, Next: pds.NextHdr(next), Flags: flags}
	return p.AppendTo(nil)
}

// behind reads the part behind the prologue: type, next_hdr and flags have separate layouts.
func behind(name string, n int, first []byte, read func([]byte) any) layout {
	return layout{name, n, first, func(b []byte) any {
		type0, type1 := b[0], b[1]
		defer func() { b[0], b[1] = type0, type1 }()
		copy(b, first[:pds.PrologueLen])
		return read(b)
	}}
}

// The flags of a prologue, by packet.
type (
	requestFlags struct{ Retx, AR, SYN bool }
	replyFlags   struct{ M, Retx bool }
	ackFlags     struct {
		M, Retx, P bool
		Req        pds.AckReq
	}
	nackFlags    struct{ M, Retx, NT bool }
	controlFlags struct{ ISROD, Retx, AR, SYN bool }
	sesFlags     struct{ DC, IE, Rel, HD, EOM, SOM bool }
)

// flags reads the flags of a prologue.
func flags(of func(has func(pds.Flags) bool, f pds.Flags) any) func([]byte) any {
	return func(b []byte) any {
		f := by[pds.Prologue](b).(*pds.Prologue).Flags
		return of(func(x pds.Flags) bool { return f&x != 0 }, f)
	}
}

// Opening is the PDCInfo of a packet with the SYN flag, whose bits are not contiguous.
type Opening struct {
	UseRsvPDC bool
	PSNOffset uint16
}

func infoOf(i pds.PDCInfo) Opening { return Opening{i.UseRsvPDC(), i.PSNOffset()} }

// requestSYN reads a request that opens a PDC.
func requestSYN(b []byte) any {
	r := *by[pds.Request](b).(*pds.Request)
	i := infoOf(r.Info)
	r.Info = 0
	return &struct {
		pds.Request
		Opening
	}{r, i}
}

// control reads a part of the payload of a control packet.
func control(of func(pds.Payload) any) func([]byte) any {
	return func(b []byte) any { return of(by[pds.Control](b).(*pds.Control).Payload) }
}

// pdsLayouts are the layouts of package pds.
var pdsLayouts = []layout{
	{"prologue", pds.PrologueLen, nil, func(b []byte) any {
		p := by[pds.Prologue](b).(*pds.Prologue)
		return struct {
			Type pds.Type
			Next pds.NextHdr
		}{p.Type, p.Next}
	}},
	{"control_prologue", pds.PrologueLen, nil, func(b []byte) any {
		p := by[pds.Prologue](b).(*pds.Prologue)
		return struct {
			Type pds.Type
			Ctl  pds.CtlType
		}{p.Type, pds.CtlType(p.Next)}
	}},
	{"request_flags", pds.PrologueLen, nil, flags(func(has func(pds.Flags) bool, _ pds.Flags) any {
		return requestFlags{has(pds.FlagRetx), has(pds.FlagAR), has(pds.FlagSYN)}
	})},
	{"rudi_flags", pds.PrologueLen, nil, flags(func(has func(pds.Flags) bool, _ pds.Flags) any {
		return replyFlags{has(pds.FlagM), has(pds.FlagRetx)}
	})},
	{"ack_flags", pds.PrologueLen, nil, flags(func(has func(pds.Flags) bool, f pds.Flags) any {
		return ackFlags{has(pds.FlagM), has(pds.FlagRetx), has(pds.FlagP), f.Req()}
	})},
	{"nack_flags", pds.PrologueLen, nil, flags(func(has func(pds.Flags) bool, _ pds.Flags) any {
		return nackFlags{has(pds.FlagM), has(pds.FlagRetx), has(pds.FlagNT)}
	})},
	{"control_flags", pds.PrologueLen, nil, flags(func(has func(pds.Flags) bool, _ pds.Flags) any {
		return controlFlags{has(pds.FlagISROD), has(pds.FlagRetx), has(pds.FlagAR), has(pds.FlagSYN)}
	})},
	behind("request", pds.RequestLen, prologue(pds.TypeRUDReq, 0, 0), by[pds.Request]),
	behind("request_syn", pds.RequestLen, prologue(pds.TypeRUDReq, 0, pds.FlagSYN), requestSYN),
	behind("request_cc", pds.RequestCCLen, prologue(pds.TypeRUDCCReq, 0, 0), by[pds.Request]),
	behind("request_cc_syn", pds.RequestCCLen, prologue(pds.TypeRUDCCReq, 0, pds.FlagSYN), requestSYN),
	behind("rudi", pds.RUDILen, prologue(pds.TypeRUDIReq, 0, 0), by[pds.RUDI]),
	behind("ack", pds.TypeACK.HeaderLen(), prologue(pds.TypeACK, 0, 0), by[pds.Ack]),
	behind("ack_expected", pds.TypeACK.HeaderLen()+4, prologue(pds.TypeACK, 0, 0x40), by[pds.AckExpected]),
	behind("ack_cc", pds.AckCCLen, prologue(pds.TypeACKCC, 0, 0), by[pds.AckCC]),
	behind("ack_ccx", pds.TypeACKCCX.HeaderLen(), prologue(pds.TypeACKCCX, 0, 0), by[pds.AckCCX]),
	{"nscc", 8, nil, func(b []byte) any {
		var s pds.NSCCState
		state(pds.CCNSCC, b).NSCC(&s)
		return &s
	}},
	{"credit", 8, nil, func(b []byte) any {
		var s pds.CreditState
		state(pds.CCCredit, b).Credit(&s)
		return &s
	}},
	behind("nack", pds.TypeNACK.HeaderLen(), prologue(pds.TypeNACK, 0, 0), by[pds.Nack]),
	behind("control", pds.ControlLen, prologue(pds.TypeCP, 0, 0), by[pds.Control]),
	behind("control_syn", pds.ControlLen, prologue(pds.TypeCP, 0, pds.FlagSYN), func(b []byte) any {
		c := *by[pds.Control](b).(*pds.Control)
		i := infoOf(c.Info)
		c.Info = 0
		return &struct {
			pds.Control
			Opening
		}{c, i}
	}),
	behind("control_credit", pds.ControlLen, prologue(pds.TypeCP, uint8(pds.CtlCredit), 0), control(func(p pds.Payload) any {
		return struct{ Credit uint32 }{p.Credit()}
	})),
	behind("control_credit_req", pds.ControlLen, prologue(pds.TypeCP, uint8(pds.CtlCreditReq), 0), control(func(p pds.Payload) any {
		return struct {
			CCCID        uint8
			CreditTarget uint32
		}{p.CCCID(), p.CreditTarget()}
	})),
	tss("tss", pds.TSSLen, byte(pds.TypeTSS)<<3), tss("tss_ssi", pds.TSSSSILen, byte(pds.TypeTSS)<<3|4),
	{"entropy", pds.EntropyLen, nil, by[pds.Entropy]},
}

// state is an acknowledgement with b as the congestion state.
func state(t pds.CCType, b []byte) *pds.AckCC {
	return &pds.AckCC{SACK: pds.SACK{CCType: t}, State: [8]byte(b)}
}

// tss reads a security header of either length.
func tss(name string, n int, first byte) layout {
	return layout{name, n, []byte{first}, func(b []byte) any {
		was := b[0]
		defer func() { b[0] = was }()
		b[0] = first | b[0]&1
		return by[pds.TSS](b)
	}}
}

// request reads a request of a form, with the opcode and the flags in first.
func request(name string, f pds.NextHdr, n int, o ses.Opcode, flags ses.Flags) layout {
	return layout{name, n, []byte{byte(o), byte(flags)}, func(b []byte) any {
		var r ses.Request
		if _, err := r.Decode(f, b); err != nil {
			panic(err)
		}
		r.Flags = 0 // ses_flags has them
		return &struct {
			ses.Standard
			Token ses.RestartToken
		}{r.Standard, r.Token}
	}}
}

// extended is a standard request of the opcode with b behind the header.
func extended(o ses.Opcode, b []byte) *ses.Request {
	r := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: o}}}
	wire := append(r.AppendTo(nil)[:ses.StandardLen], b...)
	if _, err := r.Decode(pds.NextRequestStd, append(wire, make([]byte, ses.CompareSwapLen)...)); err != nil {
		panic(err)
	}
	return &r
}

// reply reads an answer of a form.
func reply(name string, f pds.NextHdr, n int) layout {
	return layout{name, n, nil, func(b []byte) any {
		var r ses.Reply
		if _, err := r.Decode(f, b); err != nil {
			panic(err)
		}
		return &r
	}}
}

// sesLayouts are the layouts of package ses.
var sesLayouts = []layout{
	{"ses_flags", 2, nil, func(b []byte) any {
		f := ses.Flags(b[1])
		return sesFlags{f.Has(ses.FlagDC), f.Has(ses.FlagIE), f.Has(ses.FlagRel), f.Has(ses.FlagHD), f.Has(ses.FlagEOM), f.Has(ses.FlagSOM)}
	}},
	request("small", pds.NextRequestSmall, smallLen, 0, 0),
	request("medium", pds.NextRequestMedium, mediumLen, 0, 0),
	request("medium_hd", pds.NextRequestMedium, mediumLen, 0, ses.FlagHD),
	request("standard", pds.NextRequestStd, ses.StandardLen, 0, 0),
	request("standard_som", pds.NextRequestStd, ses.StandardLen, 0, ses.FlagSOM),
	request("deferrable", pds.NextRequestStd, ses.StandardLen, ses.OpcodeDeferrableSend, 0),
	request("deferrable_som", pds.NextRequestStd, ses.StandardLen, ses.OpcodeDeferrableSend, ses.FlagSOM),
	request("rtr", pds.NextRequestStd, ses.StandardLen, ses.OpcodeDeferrableRTR, 0),
	request("rtr_som", pds.NextRequestStd, ses.StandardLen, ses.OpcodeDeferrableRTR, ses.FlagSOM),
	{"atomic", ses.AtomicLen, nil, func(b []byte) any { return &extended(ses.OpcodeAtomic, b).Swap.Atomic }},
	{"swap", ses.CompareSwapLen, nil, func(b []byte) any {
		first := extended(ses.OpcodeAtomic, b).Swap.Atomic
		swap := extended(ses.OpcodeAtomic, append([]byte{byte(ses.AtomicSwapEqual)}, b[1:]...)).Swap
		swap.Atomic = first
		return &swap
	}},
	{"rendezvous", ses.RendezvousLen, nil, func(b []byte) any { return &extended(ses.OpcodeRendezvousSend, b).Rendezvous }},
	reply("response", pds.NextResponse, ses.ResponseLen),
	reply("response_data", pds.NextResponseData, 20),
	reply("response_data_small", pds.NextResponseDataSmall, 12),
}

const smallLen, mediumLen = 20, 32
