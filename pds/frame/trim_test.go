// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/checksum"
	"github.com/uetcc/uetcc/pds"
)

// A frame that a switch has cut is read as trimmed, with the PSN that it had: over IPv4 and IPv6, with
// UDP and without, marked or not. IP length and checksum are right, and the UDP length is that of before.
func TestTrim(t *testing.T) {
	parser := Parser{DSCPs: pds.DSCPs{Trimmable: 8, Trimmed: 16, TrimmedLastHop: 18, Control: 46}}
	for _, native := range []bool{false, true} {
		for _, six := range []bool{false, true} {
			for _, ecn := range []pds.ECN{pds.ECNECT0, pds.ECNCE} {
				f := frameOf(writePacket())
				f.Native, f.TOS = native, pds.TOS(8, ecn)
				if six {
					f.Src, f.Dst = [16]byte{0x20, 1, 15: 1}, [16]byte{0x20, 1, 15: 2}
				}
				whole := f.AppendTo(nil, make([]byte, 4096))
				keep := pds.MinTrimmedUDP
				if native {
					keep = pds.MinTrimmedNative
				}
				b, err := Trim(slices.Clone(whole), keep, 18)
				require.NoError(t, err)
				var was, is Frame
				require.NoError(t, parser.Ethernet(whole, &was))
				require.NoError(t, parser.Ethernet(b, &is))
				require.Equal(t, pds.NackTrimmedLastHop, is.Trimmed)
				require.Equal(t, was.Req.PSN, is.Req.PSN)
				require.Equal(t, pds.TOS(18, ecn), is.TOS)
				if !native {
					require.Equal(t, was.TransportLen, is.TransportLen, "UDP length")
				}
				if ip := b[etherLen:]; six {
					require.EqualValues(t, keep, binary.BigEndian.Uint16(ip[4:]))
					require.Len(t, ip, ip6Len+keep)
				} else {
					require.EqualValues(t, ip4Len+keep, binary.BigEndian.Uint16(ip[2:]))
					require.Len(t, ip, ip4Len+keep)
					require.EqualValues(t, 0xffff, checksum.Fold(checksum.Add(0, ip[:ip4Len])))
				}
				again, err := Trim(slices.Clone(b), 1000, 18)
				require.NoError(t, err)
				require.Equal(t, b, again, "nothing is left to cut")
			}
		}
	}
}

// Tags in front of the IP header stay: a tagged frame was refused as no IP packet.
func TestTrimKeepsTags(t *testing.T) {
	f := frameOf(writePacket())
	f.TOS = pds.TOS(8, pds.ECNECT0)
	plain := f.AppendTo(nil, make([]byte, 4096))
	want, err := Trim(slices.Clone(plain), pds.MinTrimmedUDP, 16)
	require.NoError(t, err)
	for _, tags := range [][]byte{{0x81, 0, 0x20, 1}, {0x88, 0xa8, 0, 7, 0x81, 0, 0x20, 1}} {
		b, err := Trim(slices.Insert(slices.Clone(plain), 12, tags...), pds.MinTrimmedUDP, 16)
		require.NoError(t, err)
		require.Equal(t, slices.Insert(slices.Clone(want), 12, tags...), b)
	}
	_, err = Trim(slices.Insert(slices.Clone(plain), 12, 0x81, 0, 0, 1, 0x81, 0, 0, 2, 0x81, 0, 0, 3), pds.MinTrimmedUDP, 16)
	require.ErrorIs(t, err, ErrIP, "three tags, as Parser.Ethernet")
}

func TestTrimRefusesWhatIsNoIP(t *testing.T) {
	whole := frameOf(writePacket())
	b := whole.AppendTo(nil, nil)
	for name, change := range map[string]func([]byte) []byte{
		"nothing":    func([]byte) []byte { return nil },
		"no type":    func(b []byte) []byte { return b[:etherLen-1] },
		"only a tag": func(b []byte) []byte { b[12], b[13] = 0x81, 0; return b[:etherLen+3] },
		"short":      func(b []byte) []byte { return b[:etherLen+ip4Len-1] },
		"ARP":        func(b []byte) []byte { b[13] = 6; return b },
		"version":    func(b []byte) []byte { b[etherLen] = 0x55; return b },
		"header":     func(b []byte) []byte { b[etherLen] = 0x44; return b },
		"options":    func(b []byte) []byte { b[etherLen] = 0x4f; return b[:etherLen+30] },
		"short IPv6": func(b []byte) []byte { b[12], b[13], b[etherLen] = 0x86, 0xdd, 0x60; return b[:etherLen+39] },
	} {
		in := change(slices.Clone(b))
		out, err := Trim(slices.Clone(in), 24, 18)
		require.ErrorIs(t, err, ErrIP, name)
		require.Equal(t, in, out, name)
	}
}

// Whatever a switch gets, what it leaves is the front of it, and the same when cut again.
func FuzzTrim(f *testing.F) {
	whole := frameOf(writePacket())
	f.Add(whole.AppendTo(nil, make([]byte, 64)), 24)
	f.Add([]byte{12: 0x86, 13: 0xdd, 14: 0x60, 53: 0}, 0)
	f.Add([]byte{12: 0x08, 14: 0x45, 33: 0}, -1)                              // panicked
	f.Add([]byte{12: 0x08, 14: 0x45, 33: 0}, math.MaxInt)                     // panicked
	f.Add([]byte{12: 0x81, 16: 0x86, 17: 0xdd, 18: 0x60, 60: 0}, math.MinInt) // behind a tag
	f.Fuzz(func(t *testing.T, in []byte, keep int) {
		out, err := Trim(slices.Clone(in), keep, 18)
		if err != nil {
			require.Equal(t, in, out)
			return
		}
		require.LessOrEqual(t, len(out), len(in))
		again, err := Trim(slices.Clone(out), keep, 18)
		require.NoError(t, err)
		require.Equal(t, out, again)
	})
}
