// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"net"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// benchFork is what BenchmarkFrame does with google/gopacket, with the fork that
// is maintained. Encoding comes as most programs ask for it too, with the
// checksums of IPv4 and UDP.
func benchFork(b *testing.B, wire []byte) {
	b.Run("decode/gopacket-dlp/eth-ip4-udp", func(b *testing.B) {
		b.ReportAllocs()
		var eth layers.Ethernet
		var ip4 layers.IPv4
		var ip6 layers.IPv6
		var udp layers.UDP
		var rest gopacket.Payload
		p := gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &eth, &ip4, &ip6, &udp, &rest)
		p.IgnoreUnsupported = true
		got := make([]gopacket.LayerType, 0, 8)
		for b.Loop() {
			if err := p.DecodeLayers(wire, &got); err != nil || len(got) < 3 {
				b.Fatal(err, got)
			}
		}
	})
	eth := layers.Ethernet{SrcMAC: make(net.HardwareAddr, 6), DstMAC: make(net.HardwareAddr, 6), EthernetType: layers.EthernetTypeIPv4}
	ip := layers.IPv4{Version: 4, TOS: sample.TOS, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IP{10, 0, 0, 1}, DstIP: net.IP{10, 0, 0, 2}}
	udp := layers.UDP{SrcPort: layers.UDPPort(sample.SrcPort), DstPort: layers.UDPPort(sample.DstPort)}
	if err := udp.SetNetworkLayerForChecksum(&ip); err != nil {
		b.Fatal(err)
	}
	buf, payload := gopacket.NewSerializeBuffer(), gopacket.Payload(ackWire(b))
	for _, c := range []struct {
		name string
		opts gopacket.SerializeOptions
	}{
		{"encode/gopacket/eth-ip4-udp", gopacket.SerializeOptions{FixLengths: true}},
		{"encode/gopacket-checksums/eth-ip4-udp", gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := gopacket.SerializeLayers(buf, c.opts, &eth, &ip, &udp, payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
