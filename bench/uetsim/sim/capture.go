// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/uetpcap"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// codePoints are the DSCPs of captures: from an ns-3 model, as the specification names
// uses and fixes no values.
var codePoints = pds.DSCPs{Trimmable: 8, Trimmed: 16, TrimmedLastHop: 18, Control: 46}

// noTrim is the DSCP of data where switches drop instead of trimming: best effort.
const noTrim pds.DSCP = 0

// A capture writes the packets that reach the hosts of a run to a file, with real headers
// of connections writing to memory, a message for each transfer. The data is as long as
// simulated; the headers have real lengths, but the counts inside (rcvd_bytes, credit) are
// of packets of the simulator's size, 40 bytes and more below [pds.NominalSize].
type capture struct {
	*output
	packets *uetpcap.Writer
	control ccc.Control
}

// seen is called for each packet of a run.
func (c *capture) seen(s *fabric.Seen) {
	if c.begin(); c.err == nil {
		c.err = c.write(s)
	}
}

// begin starts the file unless begun.
func (c *capture) begin() {
	if c.packets != nil {
		return
	}
	if c.open(); c.err == nil {
		c.packets, c.err = uetpcap.NewWriter(c.buffer)
	}
}

// errCapture is wrapped by the errors about runs impossible to show with real headers.
var errCapture = errors.New("no UET packet can say")

func (c *capture) write(s *fabric.Seen) error {
	if s.Bytes > math.MaxUint32 {
		return fmt.Errorf("%w that a message has %d bytes", errCapture, s.Bytes)
	}
	f, ok := c.frameOf(s)
	if !ok {
		return fmt.Errorf("%w that PSN %d is so far from %d", errCapture, s.PSN, s.CACK)
	}
	return c.packets.Write(int64(s.Now)/1000, &f, payloadOf(s))
}

// payloadOf is the number of data bytes behind the headers, before a switch trims them.
func payloadOf(s *fabric.Seen) int {
	if s.Answer {
		return 0
	}
	return int(s.Payload)
}

// frameOf returns the headers of s; ok is false if the PSNs are too far apart for the
// headers.
func (c *capture) frameOf(s *fabric.Seen) (f frame.Frame, ok bool) {
	f.SrcMAC, f.Src = addresses(s.Src)
	f.DstMAC, f.Dst = addresses(s.Dst)
	f.Entropy = s.Entropy
	switch {
	case s.Credit:
		control(s, &f, pds.CtlCredit, pds.CreditPayload(uint32(s.Quanta)))
	case s.CreditRequest:
		control(s, &f, pds.CtlCreditReq, pds.CreditReqPayload(cccid(s), uint32(s.Quanta)))
	case s.Probe:
		control(s, &f, pds.CtlProbe, 0)
	case s.Refused:
		refusal(s, &f)
	case s.Answer:
		return f, c.acknowledgement(s, &f)
	default:
		return f, c.data(s, &f)
	}
	return f, true
}

// data makes f a request that writes a part of a message.
func (c *capture) data(s *fabric.Seen, f *frame.Frame) (ok bool) {
	ecn := pds.ECNECT0
	if s.Marked {
		ecn = pds.ECNCE
	}
	dscp := codePoints.Trimmable
	switch s.DSCP {
	case switchq.DSCPNoTrim:
		dscp = noTrim
	case switchq.DSCPTrimmed:
		dscp, f.Trimmed = codePoints.Trimmed, pds.NackTrimmed
	case switchq.DSCPTrimmedLastHop:
		dscp, f.Trimmed = codePoints.TrimmedLastHop, pds.NackTrimmedLastHop
	}
	f.TOS = pds.TOS(dscp, ecn)
	f.Type, f.Form = pds.TypeRUDReq, pds.NextRequestStd
	f.Req = pds.Request{
		Type: f.Type, Next: pds.NextRequestStd,
		Flags: flags(s.Retx, pds.FlagRetx) | flags(s.AckRequest, pds.FlagAR),
		PSN:   pds.PSN(s.PSN), SPDCID: pdcid(s), DPDCID: pdcid(s),
	}
	if c.control != ccc.ControlNSCC {
		f.Type = pds.TypeRUDCCReq
		f.Req.Type, f.Req.CCCID, f.Req.CreditTarget = f.Type, cccid(s), uint32(s.Quanta)
	}
	if start, first := pds.StartOffset(f.Req.PSN, 0); s.SYN && first {
		f.Req.Flags |= pds.FlagSYN
		f.Req.Info, f.Req.DPDCID = pds.MakePDCInfo(false, start), 0
	}
	f.Request = ses.Request{Form: f.Form, Standard: part(s)}
	f.Req.ClearOffset, ok = pds.ClearOffset(f.Req.PSN, pds.PSN(s.CACK-1))
	return ok
}

// part is the semantic header of the data s.
func part(s *fabric.Seen) ses.Standard {
	h := ses.Standard{
		Common: ses.Common{Opcode: ses.OpcodeWrite}, MessageID: messageID(s), RequestLength: uint32(s.Bytes),
	}
	if s.Offset == 0 {
		h.Flags |= ses.FlagSOM
	} else {
		h.MessageOffset, h.PayloadLength = uint32(s.Offset), uint16(s.Payload)
	}
	if s.Offset+s.Payload == s.Bytes {
		h.Flags |= ses.FlagEOM
	}
	return h
}

// acknowledgement makes f an ACK_CC with the state of the congestion control, NSCC's if
// used, and with the default response of a PDS.
func (c *capture) acknowledgement(s *fabric.Seen, f *frame.Frame) bool {
	f.TOS = pds.TOS(codePoints.Control, pds.ECNNotECT)
	f.Type, f.Form = pds.TypeACKCC, pds.NextResponse
	cack := pds.PSN(s.CACK - 1)
	offset, ok := pds.AckOffset(cack, pds.PSN(s.PSN))
	base, inRange := pds.AckOffset(cack, pds.PSN(s.SACKBase))
	f.Ack = pds.AckCC{
		Ack: pds.Ack{Next: pds.NextResponse, Flags: flags(s.Marked, pds.FlagM) | flags(s.Retx, pds.FlagRetx),
			Offset: offset, CACK: cack, SPDCID: pdcid(s), DPDCID: pdcid(s)},
		SACK: pds.SACK{MPR: mpr(s), SACKOffset: base, Bitmap: s.SACK},
	}
	if c.control == ccc.ControlRCCC {
		f.Ack.SetCredit(&pds.CreditState{Credit: uint32(s.Quanta), OOOCount: pds.OOOUnknown})
	} else {
		f.Ack.SetNSCC(&pds.NSCCState{ServiceTime: uint16(s.ServiceTime), Restore: s.Restore, CwndPend: s.Pend,
			RcvdBytes: s.RcvdBytes, OOOCount: pds.OOOUnknown})
	}
	f.Reply = ses.Reply{Form: f.Form, Response: ses.Response{
		Verdict: ses.Verdict{Opcode: ses.ResponseDefault, ReturnCode: ses.RCOK}, MessageID: messageID(s)}}
	return ok && inRange
}

// mpr is how many PSNs the ends keep track of, in units of 128.
func mpr(s *fabric.Seen) uint8 { return uint8(min((s.PSNRange+127)/128, math.MaxUint8)) }

// control makes f a control packet of the credit loop.
func control(s *fabric.Seen, f *frame.Frame, ctl pds.CtlType, payload pds.Payload) {
	f.TOS = pds.TOS(codePoints.Control, pds.ECNNotECT)
	f.Type = pds.TypeCP
	f.Control = pds.Control{Ctl: ctl, SPDCID: pdcid(s), DPDCID: pdcid(s), Payload: payload}
	if s.SYN {
		f.Control.Flags, f.Control.DPDCID = pds.FlagSYN, 0
	}
}

// refusal makes f a NACK for trimmed data.
func refusal(s *fabric.Seen, f *frame.Frame) {
	f.TOS = pds.TOS(codePoints.Control, pds.ECNNotECT)
	f.Type = pds.TypeNACK
	code := pds.NackTrimmed
	if s.LastHop {
		code = pds.NackTrimmedLastHop
	}
	f.Nack.Nack = pds.Nack{Flags: flags(s.Marked, pds.FlagM) | flags(s.Retx, pds.FlagRetx), Code: code, PSN: pds.PSN(s.PSN),
		SPDCID: pdcid(s), DPDCID: pdcid(s)}
}

func flags(set bool, f pds.Flags) pds.Flags {
	if set {
		return f
	}
	return 0
}

// pdcid numbers a connection at both ends.
func pdcid(s *fabric.Seen) pds.PDCID { return pds.PDCID(s.Conn%0xffff + 1) }

// messageID numbers a transfer of a connection.
func messageID(s *fabric.Seen) ses.MessageID { return ses.MessageID(s.Transfer%0xffff + 1) }

// cccid numbers the congestion control context of a connection.
func cccid(s *fabric.Seen) uint8 { return uint8(s.Conn) }

// addresses returns a locally administered MAC address and 10.x.y.z of a host.
func addresses(host uint32) (mac [6]byte, ip [16]byte) {
	mac[0], ip[10], ip[11] = 2, 0xff, 0xff
	binary.BigEndian.PutUint32(mac[2:], host+1)
	binary.BigEndian.PutUint32(ip[12:], 10<<24+host+1)
	return mac, ip
}
