// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// BenchmarkPacket walks whole packets. layers=eth-ip4-udp-* against
// Frame/decode/floor and google-gopacket-dlp of the codec peers, op=encode
// against Frame/encode.
func BenchmarkPacket(b *testing.B) {
	f := frame.Frame{TOS: pds.TOS(8, pds.ECNECT0)}
	f.Src, f.Dst = [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}, [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 2}
	f.Req = pds.Request{Type: pds.TypeRUDCCReq, Next: pds.NextRequestStd, PSN: 5, SPDCID: 1, DPDCID: 2, CreditTarget: 9}
	f.Ack = pds.AckCC{Ack: pds.Ack{CACK: 7, SPDCID: 1, DPDCID: 2}, SACK: pds.SACK{Bitmap: 5}}
	f.Request = ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeWrite, Flags: ses.FlagSOM | ses.FlagEOM}}}
	request, ack := f, f
	request.Type, request.Form = pds.TypeRUDCCReq, pds.NextRequestStd
	ack.Type, ack.Form = pds.TypeACKCC, pds.NextNone
	for _, c := range []struct {
		name  string
		frame frame.Frame
	}{{"pds-ses", request}, {"ack", ack}} {
		wire := c.frame.AppendTo(nil, nil)
		ps := new(frame.Parser)
		b.Run("op=decode/layers="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			payload := wire[42:]
			for b.Loop() {
				if err := ps.UDP(payload, &f.Packet); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("op=decode/layers=eth-ip4-udp-"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := ps.Ethernet(wire, &f); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("op=validate/layers="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Validate(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("op=encode/layers=eth-ip4-udp-"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 256)
			for b.Loop() {
				buf = c.frame.AppendTo(buf[:0], nil)
			}
		})
	}
}
