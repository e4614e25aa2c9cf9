package main

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/bench/uetpcap"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// codePoints are the DSCPs of captures: those of an ns-3 model, as the
// specification names uses and fixes no values.
var codePoints = pds.DSCPs{Trimmable: 8, Trimmed: 16, TrimmedLastHop: 18, Control: 46}

// A capture writes what reaches the hosts of a run to a file, as the real
// headers of a connection that writes to memory. The data is as long as
// simulated; the headers are as long as real ones.
type capture struct {
	lastFile
	packets *uetpcap.Writer
}

// run returns what to call for each packet of a run.
func (c *capture) run() func(*fabric.Seen) {
	fresh := true
	return func(s *fabric.Seen) {
		if fresh {
			fresh = false
			if c.restart(); c.err == nil {
				c.packets, c.err = uetpcap.NewWriter(c.buffer)
			}
		}
		if c.err == nil {
			f, payload := frameOf(s)
			c.err = c.packets.Write(int64(s.Now)/1000, &f, payload)
		}
	}
}

// frameOf returns s as a frame and the length of its data.
func frameOf(s *fabric.Seen) (f frame.Frame, payload int) {
	f.SrcMAC, f.Src = addresses(s.Src)
	f.DstMAC, f.Dst = addresses(s.Dst)
	f.Entropy = s.Entropy
	switch {
	case s.Credit:
		control(s, &f, pds.CtlCredit, pds.CreditPayload(uint32(s.Quanta)))
	case s.CreditRequest:
		control(s, &f, pds.CtlCreditReq, pds.CreditReqPayload(cccid(s), uint32(s.Quanta)))
	case s.Refused:
		refusal(s, &f)
	case s.Answer:
		acknowledgement(s, &f)
	default:
		payload = int(max(s.Size-fabric.HeaderBytes, 0))
		data(s, &f, payload)
	}
	return f, payload
}

// data makes f a request that writes payload bytes in the middle of a message:
// the simulator has connections, not messages.
func data(s *fabric.Seen, f *frame.Frame, payload int) {
	ecn := pds.ECNECT0
	if s.Marked {
		ecn = pds.ECNCE
	}
	dscp := codePoints.Trimmable
	switch s.DSCP {
	case switchq.DSCPTrimmed:
		dscp, f.Trimmed = codePoints.Trimmed, pds.NackTrimmed
	case switchq.DSCPTrimmedLastHop:
		dscp, f.Trimmed = codePoints.TrimmedLastHop, pds.NackTrimmedLastHop
	}
	f.TOS = pds.TOS(dscp, ecn)
	f.Type, f.Form = pds.TypeRUDReq, ses.FormStandard
	f.Req = pds.Request{
		Type: f.Type, Next: pds.NextRequestStd,
		Flags:       flags(s.Retx, pds.FlagRetx) | flags(s.AckRequest, pds.FlagAR),
		ClearOffset: -1, PSN: pds.PSN(s.PSN), SPDCID: pdcid(s), DPDCID: pdcid(s),
	}
	if s.Credits {
		f.Type = pds.TypeRUDCCReq
		f.Req.Type, f.Req.CCCID, f.Req.CreditTarget = f.Type, cccid(s), uint32(s.Quanta)
	}
	f.Request = ses.Request{Form: f.Form, Standard: ses.Standard{
		Common: ses.Common{Opcode: ses.OpcodeWrite}, MessageID: 1, PayloadLength: uint16(payload)}}
}

// acknowledgement makes f an ACK_CC with NSCC state.
func acknowledgement(s *fabric.Seen, f *frame.Frame) {
	f.TOS = pds.TOS(codePoints.Control, pds.ECNNotECT)
	f.Type = pds.TypeACKCC
	cack := pds.PSN(s.CACK - 1)
	offset, _ := pds.AckOffset(cack, pds.PSN(s.PSN))
	base, _ := pds.AckOffset(cack, pds.PSN(s.SACKBase))
	f.Ack = pds.AckCC{
		Ack: pds.Ack{Flags: flags(s.Marked, pds.FlagM) | flags(s.Retx, pds.FlagRetx), Offset: offset, CACK: cack,
			SPDCID: pdcid(s), DPDCID: pdcid(s)},
		SACK: pds.SACK{MPR: 8, SACKOffset: base, Bitmap: s.SACK},
	}
	f.Ack.SetNSCC(&pds.NSCCState{ServiceTime: uint16(s.ServiceTime), RcvdBytes: s.RcvdBytes, OOOCount: pds.OOOUnknown})
}

// control makes f a control packet of the credit loop.
func control(s *fabric.Seen, f *frame.Frame, ctl pds.CtlType, payload pds.Payload) {
	f.TOS = pds.TOS(codePoints.Control, pds.ECNNotECT)
	f.Type = pds.TypeCP
	f.Control = pds.Control{Ctl: ctl, SPDCID: pdcid(s), DPDCID: pdcid(s), Payload: payload}
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

// cccid numbers the congestion control context of a connection.
func cccid(s *fabric.Seen) uint8 { return uint8(s.Conn) }

// addresses returns a locally administered MAC address and 10.x.y.z of a host.
func addresses(host uint32) (mac [6]byte, ip [16]byte) {
	mac[0], ip[10], ip[11] = 2, 0xff, 0xff
	binary.BigEndian.PutUint32(mac[2:], host+1)
	binary.BigEndian.PutUint32(ip[12:], 10<<24+host+1)
	return mac, ip
}

// decode is the subcommand that prints the UET packets of capture files.
func decode(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("uetsim decode", flag.ContinueOnError)
	if err := cli.Parse(f, args, "uetsim decode FILE.pcap ...", stderr); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return errors.New("decode needs a capture file")
	}
	for _, path := range f.Args() {
		if err := decodeFile(path, stdout, stderr); err != nil {
			return err
		}
	}
	return nil
}

func decodeFile(path string, stdout, stderr io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := uetpcap.Print(stdout, f, &frame.Parser{DSCPs: codePoints})
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s: %d packets, %d UET, %d of them illegal, %d malformed, %d fragments\n",
		path, n.All, n.UET, n.Illegal, n.Malformed, n.Fragments)
	return nil
}
