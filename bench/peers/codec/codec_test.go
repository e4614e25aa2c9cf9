// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"encoding/binary"
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

var sample = Frame{
	Src: 0x0a000001, Dst: 0x0a000002, SrcPort: 0x1234, DstPort: uetPort, TOS: 2,
	Ack: Ack{0x4d12, 0xfff0, 0x00112233, 0x4001, 0x4011, 0x10, 8, 0x0010, 0x00ff00ff00ff00ff, 0x0102030405060708},
}

// ackWire is the sample's acknowledgement as encoding/binary writes it.
func ackWire(t testing.TB) []byte {
	b, err := binary.Append(nil, binary.BigEndian, &sample.Ack)
	if err != nil || len(b) != Size {
		t.Fatal(len(b), err)
	}
	return b
}

// The layers of the sample, for gopacket.
func sampleLayers() (layers.Ethernet, layers.IPv4, layers.UDP) {
	eth := layers.Ethernet{SrcMAC: make(net.HardwareAddr, 6), DstMAC: make(net.HardwareAddr, 6), EthernetType: layers.EthernetTypeIPv4}
	ip := layers.IPv4{Version: 4, TOS: sample.TOS, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IP{10, 0, 0, 1}, DstIP: net.IP{10, 0, 0, 2}}
	udp := layers.UDP{SrcPort: layers.UDPPort(sample.SrcPort), DstPort: layers.UDPPort(sample.DstPort)}
	return eth, ip, udp
}

var sampleRequest = RequestFrame{
	Src: sample.Src, Dst: sample.Dst, SrcPort: sample.SrcPort, DstPort: sample.DstPort, TOS: sample.TOS,
	Request: Request{0x6988, 0xfff0, 0x00112233, 0x4001, 0x4011, 9, 1, 3, 7, 0x01000065, 2, 10, 0x1000, 1, 0xacce5, 0x0102030405060708, 4096},
}

// requestWire is the sample of a request, in the frame that gopacket writes.
func requestWire(t testing.TB) []byte {
	b, err := binary.Append(nil, binary.BigEndian, &sampleRequest.Request)
	if err != nil {
		t.Fatal(err)
	}
	return inFrame(t, b)
}

// frameWire is the sample as gopacket writes it; only the sum of IPv4 is set.
func frameWire(t testing.TB) []byte { return inFrame(t, ackWire(t)) }

func inFrame(t testing.TB, b []byte) []byte {
	eth, ip, udp := sampleLayers()
	buf := gopacket.NewSerializeBuffer()
	udpOpts := gopacket.SerializeOptions{FixLengths: true}
	if err := gopacket.SerializeLayers(buf, udpOpts, &udp, gopacket.Payload(b)); err != nil {
		t.Fatal(err)
	}
	inner := bytes.Clone(buf.Bytes())
	ipOpts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(buf, ipOpts, &eth, &ip, gopacket.Payload(inner)); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(buf.Bytes())
}

func TestFloorsAgreeWithLibraries(t *testing.T) {
	want, got := ackWire(t), make([]byte, Size)
	var a Ack
	if !a.Get(want) || a != sample.Ack || !a.Put(got) || !bytes.Equal(got, want) {
		t.Errorf("ack: %+v, % x", a, got)
	}
	want, got = frameWire(t), make([]byte, frame)
	var f Frame
	if !f.Get(want) || f != sample || !f.Put(got) || !bytes.Equal(got, want) {
		t.Errorf("frame: %+v\ngot  % x\nwant % x", f, got, want)
	}
	long := requestWire(t)
	var r RequestFrame
	if len(long) != ackAt+requestLen || !r.Get(long) || r != sampleRequest || r.Get(long[:len(long)-1]) {
		t.Errorf("request: %+v", r)
	}
	if f.Get(want[:frame-1]) || f.Put(got[:frame-1]) || a.Get(want[:Size-1]) || a.Put(got[:Size-1]) {
		t.Error("a short buffer was taken")
	}
}

var sink uint64

// BenchmarkAck32 reads and writes the acknowledgement, 64 of them in turn.
func BenchmarkAck32(b *testing.B) {
	const n = 64
	buf := bytes.Repeat(ackWire(b), n)
	at := func(i int) []byte { return buf[i*Size : i*Size+Size] }
	run := func(name string, f func(p []byte, a *Ack)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			a := sample.Ack
			for i := 0; b.Loop(); i = (i + 1) & (n - 1) {
				f(at(i), &a)
				sink += a.State
			}
		})
	}
	b.Run("get/floor-fields", func(b *testing.B) {
		b.ReportAllocs()
		a := sample.Ack
		for i := 0; b.Loop(); i = (i + 1) & (n - 1) {
			a.Get(at(i))
			sink += a.State ^ a.Bitmap + uint64(a.CACK)
		}
	})
	b.Run("put/floor-fields", func(b *testing.B) {
		b.ReportAllocs()
		a := sample.Ack
		for i := 0; b.Loop(); i = (i + 1) & (n - 1) {
			a.Put(at(i))
			a.CACK++
		}
	})
	run("get/binary.Read", func(p []byte, a *Ack) { _ = binary.Read(bytes.NewReader(p), binary.BigEndian, a) })
	run("get/binary.Decode", func(p []byte, a *Ack) { _, _ = binary.Decode(p, binary.BigEndian, a) })
	benchFlatbuffers(b)
	run("put/binary.Encode", func(p []byte, a *Ack) { _, _ = binary.Encode(p, binary.BigEndian, a) })
}

// BenchmarkFrame reads and writes the frame around it.
func BenchmarkFrame(b *testing.B) {
	wire := frameWire(b)
	b.Run("decode/floor/eth-ip4-udp-ack", func(b *testing.B) {
		b.ReportAllocs()
		var f Frame
		for b.Loop() {
			if !f.Get(wire) {
				b.Fatal("refused")
			}
			sink += f.Ack.State + uint64(f.Src) + uint64(f.DstPort)
		}
	})
	b.Run("decode/floor/eth-ip4-udp-ses", func(b *testing.B) {
		b.ReportAllocs()
		long := requestWire(b)
		var f RequestFrame
		for b.Loop() {
			if !f.Get(long) {
				b.Fatal("refused")
			}
			sink += f.Request.Key + uint64(f.Src) + uint64(f.DstPort)
		}
	})
	b.Run("decode/google-gopacket-dlp/eth-ip4-udp", func(b *testing.B) {
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
	b.Run("decode/google-gopacket-lazy/eth-ip4-udp", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p := gopacket.NewPacket(wire, layers.LayerTypeEthernet, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
			if p.Layer(layers.LayerTypeUDP) == nil {
				b.Fatal("no UDP")
			}
		}
	})
	benchFork(b, wire)
	benchGVisor(b, wire)
	b.Run("encode/floor/eth-ip4-udp-ack", func(b *testing.B) {
		b.ReportAllocs()
		f, buf := sample, make([]byte, frame)
		for b.Loop() {
			f.Put(buf)
			f.Ack.CACK++
		}
	})
	b.Run("encode/google-gopacket/eth-ip4-udp", func(b *testing.B) {
		b.ReportAllocs()
		eth, ip, udp := sampleLayers()
		buf, payload := gopacket.NewSerializeBuffer(), gopacket.Payload(ackWire(b))
		opts := gopacket.SerializeOptions{FixLengths: true}
		for b.Loop() {
			if err := gopacket.SerializeLayers(buf, opts, &eth, &ip, &udp, payload); err != nil {
				b.Fatal(err)
			}
		}
	})
}
