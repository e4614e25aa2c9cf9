// SPDX-License-Identifier: Apache-2.0

package gopacketlayers

import (
	"math/rand/v2"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// Any packet, in any carriage, is to gopacket what it is to a Parser, and is written again
// as it was.
func TestAgainstParser(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 16))
	read, refused := 0, 0
	for range 20_000 {
		body := make([]byte, r.IntN(120))
		for i := range body {
			body[i] = uint8(r.Uint32())
		}
		if len(body) > 2 { // so that most types and headers have their turn
			body[0] = uint8(r.IntN(16))<<3 | uint8(r.IntN(4)&1)
			body[1] &= 0x80
		}
		f := writeFrame(r.IntN(2) == 0)
		if r.IntN(2) == 0 {
			f.Src[0], f.Dst[0] = 0xfd, 0xfd
		}
		full := f.AppendTo(nil, body)
		headers := len(f.Packet.AppendTo(nil))
		at := len(full) - len(body) - headers
		wire := relength(append(full[:at:at], body...), len(body))

		var want frame.Frame
		err := new(frame.Parser).Ethernet(wire, &want)
		p := gopacket.NewPacket(wire, layers.LayerTypeEthernet, gopacket.Default)
		u, ok := p.Layer((&UET{Native: f.Native}).LayerType()).(*UET)
		require.Equal(t, err == nil, ok && p.ErrorLayer() == nil, "%v: %v", err, p)
		if err != nil {
			refused++
			continue
		}
		read++
		require.Equal(t, string(wire[want.Payload:want.End]), string(u.LayerPayload()))
		require.Equal(t, want.Packet.String(), u.Packet.String())
		if u.Type == pds.TypeTSS {
			continue
		}
		b := gopacket.NewSerializeBuffer()
		require.NoError(t, gopacket.SerializeLayers(b, gopacket.SerializeOptions{}, u, gopacket.Payload(u.LayerPayload())))
		var again frame.Packet
		parse := new(frame.Parser).UDP
		if f.Native {
			parse = new(frame.Parser).Native
		}
		require.NoError(t, parse(b.Bytes(), &again))
		require.Equal(t, u.Packet.String(), again.String())
		require.Equal(t, len(u.Contents)+len(u.LayerPayload()), len(b.Bytes()))
	}
	require.Greater(t, read, 3000)
	require.Greater(t, refused, 1000)
}

// relength writes lengths for n bytes of UET into the frame b.
func relength(b []byte, n int) []byte {
	ip := b[14:]
	put := func(at, v int) { ip[at], ip[at+1] = uint8(v>>8), uint8(v) }
	head, total := 20, 2
	if ip[0]>>4 == 6 {
		head, total = 40, 4
		put(total, len(ip)-40)
	} else {
		put(total, len(ip))
	}
	if len(ip)-head == n+8 {
		put(head+4, n+8)
	}
	return b
}
