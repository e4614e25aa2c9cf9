// SPDX-License-Identifier: Apache-2.0

package gopacketlayers_test

import (
	"fmt"
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/pds/gopacketlayers"
	"github.com/uetcc/uetcc/ses"
)

// Importing the package is all that gopacket needs to know UET: here a frame as a capture
// brings it, with the first packet of a write.
func Example() {
	f := frame.Frame{Src: netip.MustParseAddr("10.0.0.1").As16(), Dst: netip.MustParseAddr("10.0.0.2").As16()}
	f.Type, f.Form, f.Entropy = pds.TypeRUDReq, pds.NextRequestStd, 26063
	f.Req = pds.Request{Type: f.Type, Next: pds.NextRequestStd, PSN: 0x12000, SPDCID: 0x4001, DPDCID: 0x8001}
	f.Request.Form, f.Request.Opcode, f.Request.Flags = f.Form, ses.OpcodeWrite, ses.FlagSOM
	captured := f.AppendTo(nil, []byte("data"))

	p := gopacket.NewPacket(captured, layers.LayerTypeEthernet, gopacket.Default)
	for _, l := range p.Layers() {
		fmt.Println(l.LayerType())
	}
	u := p.Layer(gopacketlayers.LayerTypeUET).(*gopacketlayers.UET)
	fmt.Printf("%v psn=%#x %v %q\n", u.Type, uint32(u.Req.PSN), u.Request.Opcode, u.LayerPayload())
	// Output:
	// Ethernet
	// IPv4
	// UDP
	// UET
	// Payload
	// RUD_REQ psn=0x12000 UET_WRITE "data"
}
