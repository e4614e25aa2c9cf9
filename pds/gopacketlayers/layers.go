// SPDX-License-Identifier: Apache-2.0

// Package gopacketlayers lets github.com/gopacket/gopacket decode UET packets: an import makes
// UDP port 4793 and IP protocol 253 decode to a [UET] layer, or a UET can be a
// layer of a gopacket.DecodingLayerParser.
//
// The packages of the engine do without gopacket: only programs that import this
// package link gopacket.
package gopacketlayers

import (
	"errors"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// LayerTypeUET is the type of a [UET] layer over UDP, LayerTypeUETNative the
// type of a layer over IP, beginning with the entropy header.
var (
	LayerTypeUET       = register(4793, "UET", decodeUDP)
	LayerTypeUETNative = register(4794, "UETNative", decodeNative)
)

func register(number int, name string, decode gopacket.DecodeFunc) gopacket.LayerType {
	return gopacket.RegisterLayerType(number, gopacket.LayerTypeMetadata{Name: name, Decoder: decode})
}

func init() {
	layers.RegisterUDPPortLayerType(pds.UDPPort, LayerTypeUET)
	layers.IPProtocolMetadata[pds.IPProtocol] = layers.EnumMetadata{
		DecodeWith: gopacket.DecodeFunc(decodeNative), Name: "UET", LayerType: LayerTypeUETNative,
	}
}

// A UET layer is the headers of one UET packet, PDS and SES, with the data as
// payload. The zero value decodes packets over UDP, without trailer.
type UET struct {
	layers.BaseLayer
	frame.Packet
	Parser frame.Parser // how packets come
	Native bool         // they begin with the entropy header
}

// ErrTSS: the packet has a security header. Nothing behind the security header
// is encoded.
var ErrTSS = errors.New("gopacketlayers: cannot write a packet with a security header")

// LayerType implements gopacket.Layer.
func (u *UET) LayerType() gopacket.LayerType {
	if u.Native {
		return LayerTypeUETNative
	}
	return LayerTypeUET
}

// CanDecode implements gopacket.DecodingLayer.
func (u *UET) CanDecode() gopacket.LayerClass { return u.LayerType() }

// NextLayerType implements gopacket.DecodingLayer.
func (u *UET) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// DecodeFromBytes implements gopacket.DecodingLayer. DecodeFromBytes does not
// allocate; an unreadable packet leaves u unchanged.
func (u *UET) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	parse := u.Parser.UDP
	if u.Native {
		parse = u.Parser.Native
	}
	if err := parse(data, &u.Packet); err != nil {
		if errors.Is(err, pds.ErrTruncated) {
			df.SetTruncated()
		}
		return err
	}
	u.Contents, u.BaseLayer.Payload = data[:u.Packet.Payload], data[u.Packet.Payload:u.End]
	return nil
}

// SerializeTo implements gopacket.SerializableLayer: the headers, and the
// entropy header of a native packet, go in front of the contents of b. Lengths
// in the headers are written unchanged.
func (u *UET) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	if u.Type == pds.TypeTSS {
		return ErrTSS
	}
	var wire []byte
	if u.Native {
		e := pds.Entropy{Value: u.Entropy}
		wire = e.AppendTo(wire)
	}
	wire = u.Packet.AppendTo(wire)
	room, err := b.PrependBytes(len(wire))
	copy(room, wire)
	return err
}

func decodeUDP(data []byte, p gopacket.PacketBuilder) error { return decode(&UET{}, data, p) }

func decodeNative(data []byte, p gopacket.PacketBuilder) error {
	return decode(&UET{Native: true}, data, p)
}

func decode(u *UET, data []byte, p gopacket.PacketBuilder) error {
	if err := u.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(u)
	if len(u.BaseLayer.Payload) == 0 {
		return nil
	}
	return p.NextDecoder(u.NextLayerType())
}
