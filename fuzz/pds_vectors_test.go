// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/hex"
	"fmt"

	"github.com/uetcc/uetcc/pds"
)

// pdsKinds are the names of pds.jsonl. Several are forms of one header.
var pdsKinds = map[string]headerKind{
	"entropy": kindOf(func(h *pds.Entropy) fields { return fields{"entropy": h.Value} }),
	"prologue": kindOf(func(h *pds.Prologue) fields {
		return fields{"type": h.Type, "next_hdr": h.Next, "flags": h.Flags}
	}),

	"rud_req": requestKind, "rud_req_syn": requestKind, "rod_req": requestKind, "rod_req_syn": requestKind,
	"rud_cc_req": requestKind, "rud_cc_req_syn": requestKind, "rod_cc_req": requestKind, "rod_cc_req_syn": requestKind,
	"rudi_req": rudiKind, "rudi_resp": rudiKind,
	"uud_req": kindOf(func(h *pds.UUD) fields { return fields{"type": pds.TypeUUDReq, "next_hdr": h.Next} }),

	"ack": kindOf(ackFields), "ack_probe": kindOf(ackFields),
	"ack_cc_nscc": ackCCKind, "ack_cc_credit": ackCCKind,
	"ack_ccx": kindOf(func(h *pds.AckCCX) fields {
		return ackFields(&h.Ack).with(sackFields(&h.SACK)).with(fields{
			"type": pds.TypeACKCCX, "ccx_type": h.CCType, "ack_ccx_state": "0x" + hex.EncodeToString(h.State[:]),
		})
	}),
	"nack": kindOf(nackFields), "nack_rudi": kindOf(nackFields),
	"nack_ccx": kindOf(func(h *pds.NackCCX) fields {
		return nackFields(&h.Nack).with(fields{
			"type": pds.TypeNACKCCX, "nccx_type": pds.CCType(h.State[0] >> 4), "nack_ccx_state": "0x" + hex.EncodeToString(h.State[:])[1:],
		})
	}),

	"cp_noop": controlKind, "cp_noop_syn": controlKind, "cp_ack_req": controlKind,
	"cp_clear_cmd": controlKind, "cp_clear_req": controlKind, "cp_close_cmd": controlKind, "cp_close_req": controlKind,
	"cp_probe": controlKind, "cp_credit": controlKind, "cp_credit_req": controlKind,
	"cp_negotiation": controlKind, "cp_negotiation_syn": controlKind,

	"tss": tssKind, "tss_ssi": tssKind,
}

var requestKind = kindOf(func(h *pds.Request) fields {
	f := fields{
		"type": h.Type, "next_hdr": h.Next, "retx": h.Flags&pds.FlagRetx != 0, "ar": h.Flags&pds.FlagAR != 0,
		"clear_psn_offset": h.ClearOffset, "psn": h.PSN, "spdcid": h.SPDCID,
	}.with(peerFields(h.Flags, h.DPDCID, h.Info))
	if h.HasCC() {
		f["ccc_id"], f["credit_target"] = h.CCCID, h.CreditTarget
	}
	return f
})

// peerFields are those that the SYN flag switches.
func peerFields(f pds.Flags, id pds.PDCID, info pds.PDCInfo) fields {
	if f&pds.FlagSYN != 0 {
		return fields{"syn": 1, "use_rsv_pdc": info.UseRsvPDC(), "psn_offset": info.PSNOffset()}
	}
	return fields{"syn": 0, "dpdcid": id}
}

var rudiKind = kindOf(func(h *pds.RUDI) fields {
	return fields{"type": h.Type, "next_hdr": h.Next, "m": h.Flags&pds.FlagM != 0, "retx": h.Flags&pds.FlagRetx != 0, "pkt_id": h.PktID}
})

func ackFields(h *pds.Ack) fields {
	f := fields{
		"type": pds.TypeACK, "next_hdr": h.Next, "m": h.Flags&pds.FlagM != 0, "retx": h.Flags&pds.FlagRetx != 0,
		"p": h.Flags&pds.FlagP != 0, "req": h.Flags.Req(), "cack_psn": h.CACK, "spdcid": h.SPDCID, "dpdcid": h.DPDCID,
	}
	if h.Flags&pds.FlagP != 0 {
		return f.with(fields{"probe_opaque": h.ProbeOpaque()})
	}
	return f.with(fields{"ack_psn_offset": h.Offset})
}

// sackFields leaves out the type of the congestion state, which has a name of
// its own in each header.
func sackFields(s *pds.SACK) fields {
	return fields{"cc_flags": s.CCFlags, "mpr": s.MPR, "sack_psn_offset": s.SACKOffset, "sack_bitmap": fmt.Sprintf("0x%016x", s.Bitmap)}
}

var ackCCKind = kindOf(func(h *pds.AckCC) fields {
	f := ackFields(&h.Ack).with(sackFields(&h.SACK)).with(fields{"type": pds.TypeACKCC, "cc_type": h.CCType})
	var (
		n pds.NSCCState
		c pds.CreditState
	)
	switch {
	case h.NSCC(&n):
		return f.with(fields{"service_time": n.ServiceTime, "rc": n.Restore, "rcv_cwnd_pend": n.CwndPend, "rcvd_bytes": n.RcvdBytes, "ooo_count": n.OOOCount})
	case h.Credit(&c):
		return f.with(fields{"credit": c.Credit, "ooo_count": c.OOOCount})
	}
	return f.with(fields{"ack_cc_state": "0x" + hex.EncodeToString(h.State[:])})
})

func nackFields(h *pds.Nack) fields {
	f := fields{
		"type": pds.TypeNACK, "next_hdr": h.Next, "m": h.Flags&pds.FlagM != 0, "retx": h.Flags&pds.FlagRetx != 0,
		"nack_code": h.Code, "vendor_code": h.Vendor, "spdcid": h.SPDCID, "dpdcid": h.DPDCID, "payload": h.Payload,
	}
	if h.Flags&pds.FlagNT != 0 {
		return f.with(fields{"nt": 1, "nack_pkt_id": h.PktID()})
	}
	return f.with(fields{"nt": 0, "nack_psn": h.PSN})
}

var controlKind = kindOf(func(h *pds.Control) fields {
	f := fields{
		"type": pds.TypeCP, "ctl_type": h.Ctl, "isrod": h.Flags&pds.FlagISROD != 0, "retx": h.Flags&pds.FlagRetx != 0,
		"ar": h.Flags&pds.FlagAR != 0, "probe_opaque": h.ProbeOpaque, "psn": h.PSN, "spdcid": h.SPDCID,
	}
	return f.with(peerFields(h.Flags, h.DPDCID, h.Info)).with(payloadFields(h.Ctl, h.Payload))
})

func payloadFields(c pds.CtlType, p pds.Payload) fields {
	switch c {
	case pds.CtlACKReq:
		return fields{"message_id": uint16(p)}
	case pds.CtlClearCmd, pds.CtlClearReq:
		return fields{"clear_psn": pds.PSN(p)}
	case pds.CtlProbe:
		return fields{"sack_base_psn": pds.PSN(p)}
	case pds.CtlCredit:
		return fields{"credit": p.Credit()}
	case pds.CtlCreditReq:
		return fields{"ccc_id": p.CCCID(), "credit_target": p.CreditTarget()}
	default:
		return fields{"payload": p}
	}
}

var tssKind = kindOf(func(h *pds.TSS) fields {
	f := fields{"type": pds.TypeTSS, "sp": h.SP, "an": h.AN, "sdi": h.SDI, "epoch": h.Epoch, "tsc": h.TSC}
	if h.SP {
		f["ssi"] = h.SSI
	}
	return f
})
