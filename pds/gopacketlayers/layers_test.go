// SPDX-License-Identifier: Apache-2.0

package gopacketlayers

import (
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

func writeFrame(native bool) *frame.Frame {
	f := &frame.Frame{Native: native}
	f.Src, f.Dst = [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}, [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 2}
	f.Entropy, f.Type, f.Form = 7, pds.TypeRUDReq, pds.NextRequestStd
	f.Req = pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, PSN: 336, SPDCID: 1, DPDCID: 2}
	f.Request = ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeWrite, Flags: ses.FlagSOM}}}
	return f
}

func TestPacketsOfBothCarriages(t *testing.T) {
	for _, native := range []bool{false, true} {
		wire := writeFrame(native).AppendTo(nil, []byte("data"))
		p := gopacket.NewPacket(wire, layers.LayerTypeEthernet, gopacket.Default)
		require.Nil(t, p.ErrorLayer())
		u, ok := p.Layer((&UET{Native: native}).LayerType()).(*UET)
		require.True(t, ok)
		require.Equal(t, pds.PSN(336), u.Req.PSN)
		require.Equal(t, ses.OpcodeWrite, u.Request.Opcode)
		require.Equal(t, "data", string(p.ApplicationLayer().Payload()))

		b := gopacket.NewSerializeBuffer()
		require.NoError(t, gopacket.SerializeLayers(b, gopacket.SerializeOptions{}, u, gopacket.Payload("data")))
		require.Equal(t, append(u.Contents, "data"...), b.Bytes())
	}
}

func TestDecodingLayerParser(t *testing.T) {
	wire := writeFrame(false).AppendTo(nil, nil)
	var (
		eth     layers.Ethernet
		ip      layers.IPv4
		udp     layers.UDP
		u       UET
		decoded []gopacket.LayerType
	)
	p := gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &eth, &ip, &udp, &u)
	require.NoError(t, p.DecodeLayers(wire, &decoded))
	require.Equal(t, []gopacket.LayerType{layers.LayerTypeEthernet, layers.LayerTypeIPv4, layers.LayerTypeUDP, LayerTypeUET}, decoded)
	require.Equal(t, pds.PSN(336), u.Req.PSN)
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = p.DecodeLayers(wire, &decoded) }))

	before := u
	require.ErrorIs(t, u.DecodeFromBytes(wire[42:50], gopacket.NilDecodeFeedback), pds.ErrTruncated)
	require.Equal(t, before, u)
	require.ErrorIs(t, (&UET{Packet: frame.Packet{Type: pds.TypeTSS}}).SerializeTo(nil, gopacket.SerializeOptions{}), ErrTSS)
}
