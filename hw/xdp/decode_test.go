// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/pds/frame"
)

var (
	source4, local4 = netip.MustParseAddrPort("10.78.0.1:5000"), netip.MustParseAddrPort("10.78.0.2:4793")
	source6, local6 = netip.MustParseAddrPort("[fd78::1]:5000"), netip.MustParseAddrPort("[fd78::2]:4793")
)

// wrapped is a frame of a port.
func wrapped(from, to netip.AddrPort, tos uint8, payload []byte) []byte {
	f := frame.Frame{Src: from.Addr().As16(), Dst: to.Addr().As16(), TOS: tos, Port: to.Port(), UDPSum: true}
	f.Entropy = from.Port()
	return f.Wrap(nil, payload, nil)
}

// Whatever byte of a header is changed, the frame is refused, or says the same but for what nobody checks.
func TestDecode(t *testing.T) {
	for _, a := range [][2]netip.AddrPort{{source4, local4}, {source6, local6}} {
		b := wrapped(a[0], a[1], 46<<2|2, []byte("payload"))
		want := port.Packet{Peer: a[0], Data: []byte("payload"), TOS: 46<<2 | 2}
		var q port.Packet
		require.True(t, decode(b, a[1], &q))
		require.Equal(t, want, q)
		require.True(t, decode(append(b, make([]byte, 20)...), a[1], &q), "padding")
		require.Equal(t, want, q)
		for n := range b {
			require.False(t, decode(b[:n], a[1], &q), "of %d bytes", n)
		}
		free := map[int]bool{} // IPv6 leaves these to others: TOS and label, hop limit
		for i := range etherLen - 2 {
			free[i] = true
		}
		if a[0].Addr().Is6() {
			for _, i := range []int{14, 15, 16, 17, 21} {
				free[i] = true
			}
		}
		for i := range b {
			if bad := bytes.Clone(b); !free[i] && !(a[0].Addr().Is4() && i >= etherLen+ip4Len && i != 36 && i != 37) {
				bad[i] ^= 0x10
				require.False(t, decode(bad, a[1], &q), "byte %d", i)
			}
		}
	}
}

// A checksum that a sender on this machine has left to a device is no damage.
func TestDecodePartialChecksum(t *testing.T) {
	b := wrapped(source6, local6, 0, []byte("payload"))
	var pseudo uint32
	for _, part := range [][]byte{b[etherLen+8 : etherLen+ip6Len], {0, protoUDP, 0, udpLen + 7}} {
		for ; len(part) > 0; part = part[2:] {
			pseudo += uint32(binary.BigEndian.Uint16(part))
		}
	}
	binary.BigEndian.PutUint16(b[etherLen+ip6Len+6:], uint16(pseudo+pseudo>>16))
	var q port.Packet
	require.True(t, decode(b, local6, &q))
	b[len(b)-1]++
	require.True(t, decode(b, local6, &q), "nobody has summed up the payload")
	b[etherLen+ip6Len+7]++
	require.False(t, decode(b, local6, &q))
}

// What was refused or taken apart is inside of the frame, and says what it says again when it is written.
func FuzzDecode(f *testing.F) {
	f.Add(wrapped(source4, local4, 3, []byte("payload")))
	f.Add(wrapped(source6, local6, 3, []byte("payload")))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, local := range []netip.AddrPort{local4, local6} {
			var q port.Packet
			if !decode(b, local, &q) {
				continue
			}
			require.Contains(t, string(b), string(q.Data))
			var again port.Packet
			require.True(t, decode(wrapped(q.Peer, local, q.TOS, q.Data), local, &again))
			require.Equal(t, q, again)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for name, a := range map[string][2]netip.AddrPort{"IPv4": {source4, local4}, "IPv6": {source6, local6}} {
		b.Run(name+"/size=4096", func(b *testing.B) {
			packet, q := wrapped(a[0], a[1], 2, make([]byte, 4096)), port.Packet{}
			b.ReportAllocs()
			for b.Loop() {
				if !decode(packet, a[1], &q) {
					b.Fatal("refused")
				}
			}
		})
	}
}
