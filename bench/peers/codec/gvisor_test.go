// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
)

// gvisorGet reads a frame through the header views of gVisor's stack, which lie over
// the bytes.
func gvisorGet(wire []byte, f *Frame) bool {
	eth, ip := header.Ethernet(wire), header.IPv4(wire[ipAt:])
	if eth.Type() != header.IPv4ProtocolNumber || !ip.IsValid(len(wire)-ipAt) {
		return false
	}
	udp := header.UDP(ip.Payload())
	src, dst := ip.SourceAddress(), ip.DestinationAddress()
	f.Src, f.Dst = uint32(src.As4()[3]), uint32(dst.As4()[3]) // of each address one byte
	f.SrcPort, f.DstPort = udp.SourcePort(), udp.DestinationPort()
	return udp.Length() == 8+Size
}

// gvisorPut writes IPv4, UDP and the payload, with the sum of IPv4's header.
func gvisorPut(b []byte, src, dst tcpip.Address, payload []byte) {
	ip := header.IPv4(b)
	ip.Encode(&header.IPv4Fields{TOS: sample.TOS, TotalLength: uint16(len(b)), TTL: 64, Protocol: 17, SrcAddr: src, DstAddr: dst})
	ip.SetChecksum(0)
	ip.SetChecksum(^ip.CalculateChecksum())
	header.UDP(b[udpAt-ipAt:]).Encode(&header.UDPFields{SrcPort: sample.SrcPort, DstPort: sample.DstPort, Length: 8 + Size})
	copy(b[ackAt-ipAt:], payload)
}

func TestGVisorAgreesWithFloor(t *testing.T) {
	wire := frameWire(t)
	var f Frame
	if !gvisorGet(wire, &f) || f.SrcPort != sample.SrcPort || f.DstPort != sample.DstPort || f.Src != sample.Src&0xff || f.Dst != sample.Dst&0xff {
		t.Errorf("%+v", f)
	}
	b := make([]byte, frame-ipAt)
	src, dst := tcpip.AddrFrom4([4]byte{10, 0, 0, 1}), tcpip.AddrFrom4([4]byte{10, 0, 0, 2})
	if gvisorPut(b, src, dst, ackWire(t)); !bytes.Equal(b, wire[ipAt:]) {
		t.Errorf("\ngot  % x\nwant % x", b, wire[ipAt:])
	}
}

func benchGVisor(b *testing.B, wire []byte) {
	b.Run("decode/gvisor-views/eth-ip4-udp", func(b *testing.B) {
		b.ReportAllocs()
		var f Frame
		for b.Loop() {
			if !gvisorGet(wire, &f) {
				b.Fatal("refused")
			}
			sink += uint64(f.Src) + uint64(f.Dst) + uint64(f.SrcPort) + uint64(f.DstPort)
		}
	})
	b.Run("encode/gvisor/ip4-udp", func(b *testing.B) {
		b.ReportAllocs()
		buf, payload := make([]byte, frame-ipAt), ackWire(b)
		src, dst := tcpip.AddrFrom4([4]byte{10, 0, 0, 1}), tcpip.AddrFrom4([4]byte{10, 0, 0, 2})
		for b.Loop() {
			gvisorPut(buf, src, dst, payload)
		}
	})
}
