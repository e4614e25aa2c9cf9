// SPDX-License-Identifier: Apache-2.0

package stacks

import (
	"fmt"
	"testing"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/channel"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/udp"
)

const (
	nic  = 1
	port = 4793
)

var sender, receiver = tcpip.AddrFrom4([4]byte{10, 0, 0, 1}), tcpip.AddrFrom4([4]byte{10, 0, 0, 2})

// newStack is a stack of one interface.
func newStack(b *testing.B, link stack.LinkEndpoint, address tcpip.Address) *stack.Stack {
	s := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{udp.NewProtocol},
	})
	b.Cleanup(s.Destroy)
	if err := s.CreateNIC(nic, link); err != nil {
		b.Fatal(err)
	}
	own := tcpip.ProtocolAddress{Protocol: ipv4.ProtocolNumber, AddressWithPrefix: address.WithPrefix()}
	if err := s.AddProtocolAddress(nic, own, stack.AddressProperties{}); err != nil {
		b.Fatal(err)
	}
	s.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: nic}})
	return s
}

// datagram is an IPv4 packet with so many bytes of UDP payload.
func datagram(size int) []byte {
	p := make([]byte, header.IPv4MinimumSize+header.UDPMinimumSize+size)
	ip, u := header.IPv4(p), header.UDP(p[header.IPv4MinimumSize:])
	ip.Encode(&header.IPv4Fields{TotalLength: uint16(len(p)), TTL: 64, Protocol: uint8(udp.ProtocolNumber), SrcAddr: sender, DstAddr: receiver})
	ip.SetChecksum(^ip.CalculateChecksum())
	u.Encode(&header.UDPFields{SrcPort: port, DstPort: port, Length: uint16(len(u))})
	pseudo := header.PseudoHeaderChecksum(udp.ProtocolNumber, sender, receiver, uint16(len(u)))
	u.SetChecksum(^u.CalculateChecksum(checksum.Checksum(u.Payload(), pseudo)))
	return p
}

// BenchmarkGVisorUDPReceive puts a packet into the stack and reads it from its
// socket.
func BenchmarkGVisorUDPReceive(b *testing.B) {
	for _, size := range []int{32, 4096} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			link := channel.New(1, 9216, "")
			s := newStack(b, link, receiver)
			socket, err := gonet.DialUDP(s, &tcpip.FullAddress{NIC: nic, Addr: receiver, Port: port}, nil, ipv4.ProtocolNumber)
			if err != nil {
				b.Fatal(err)
			}
			defer socket.Close()
			packet, read := datagram(size), make([]byte, 2*size)
			b.ReportAllocs()
			for b.Loop() {
				buf := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithData(packet)})
				link.InjectInbound(ipv4.ProtocolNumber, buf)
				buf.DecRef()
				if n, err := socket.Read(read); n != size || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}
