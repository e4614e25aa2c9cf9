// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/pds/tss"
)

func member(t *testing.T) *tss.Domain {
	d, err := tss.New(tss.Config{SDI: 9, Mode: tss.ModeCluster})
	require.NoError(t, err)
	require.NoError(t, d.Load(0, tss.Key{Secret: [32]byte{1}}))
	require.NoError(t, d.Use(0))
	return d
}

// What is sealed is read like the packet inside, over both versions of IP, and nothing else is.
func TestSecuredFrames(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		var f frame.Frame
		f.Native, f.CRC, f.Entropy = true, true, 77
		f.Src[10], f.Src[11], f.Src[12], f.Src[15] = 0xff, 0xff, 10, 1
		f.Dst[10], f.Dst[11], f.Dst[12], f.Dst[15] = 0xff, 0xff, 10, 2
		if v6 {
			f.Src[0], f.Dst[0] = 0xfd, 0xfd
		}
		packet := (&pds.Request{Type: pds.TypeRUDReq, PSN: 5, SPDCID: 3, DPDCID: 4}).AppendTo(nil)
		b, err := f.Seal([]byte("before"), packet, []byte("payload"), member(t), 0)
		require.NoError(t, err)
		require.Equal(t, "before", string(b[:6]))
		b = b[6:]

		sealed := slices.Clone(b)
		var p frame.Parser
		var got frame.Frame
		require.NoError(t, p.Ethernet(slices.Clone(sealed), &got))
		require.Equal(t, pds.TypeTSS, got.Type, "without keys it is a secured packet")
		require.False(t, got.Secured)

		p.Opener = member(t)
		require.NoError(t, p.Ethernet(b, &got))
		require.True(t, got.Secured)
		require.EqualValues(t, 9, got.TSS.SDI)
		require.Equal(t, pds.TypeRUDReq, got.Type)
		require.EqualValues(t, 5, got.Req.PSN)
		require.EqualValues(t, 77, got.Entropy)
		require.Equal(t, "payload", string(b[got.Payload:got.End]))

		was := got
		for i := 14; i < len(sealed); i++ {
			forged := slices.Clone(sealed)
			forged[i] ^= 1
			if err := p.Ethernet(forged, &got); err != nil {
				require.Equal(t, was, got)
				continue
			}
			was = got
		}
		sealer := member(t)
		_, err = f.Seal(nil, packet, nil, sealer, 0)
		require.NoError(t, err)
		reserved, err := f.Seal(nil, []byte{0xf8, 31: 0}, nil, sealer, 0) // with the second counter
		require.NoError(t, err)
		require.ErrorIs(t, p.Ethernet(reserved, &got), pds.ErrType, "authentic, but not to be read")
		require.Equal(t, was.TSS, got.TSS)
		require.Equal(t, was.Packet, got.Packet)
		f.CRC = false
		clear := f.Wrap(nil, packet, nil)
		require.ErrorIs(t, p.Ethernet(clear, &got), tss.ErrForm, "too short for a tag")
		require.ErrorIs(t, p.Ethernet(f.Wrap(nil, packet, make([]byte, 40)), &got), tss.ErrClear)
		f.Native = false
		require.ErrorIs(t, p.Ethernet(f.Wrap(nil, packet, make([]byte, 40)), &got), tss.ErrForm, "UDP")

		got.Secured = true // of a frame before
		require.NoError(t, new(frame.Parser).Ethernet(f.Wrap(nil, (&pds.AckCC{}).AppendTo(nil), nil), &got))
		require.False(t, got.Secured)
		out, err := f.Seal([]byte("x"), packet, nil, member(t), 0)
		require.ErrorIs(t, err, tss.ErrForm)
		require.Equal(t, "x", string(out))
	}
}

func TestSecuredFramesAllocs(t *testing.T) {
	var f, got frame.Frame
	f.Native = true
	f.Src[10], f.Src[11], f.Dst[10], f.Dst[11] = 0xff, 0xff, 0xff, 0xff
	packet := (&pds.Request{Type: pds.TypeRUDReq, PSN: 5, SPDCID: 3, DPDCID: 4}).AppendTo(nil)
	payload, room := make([]byte, 4096), make([]byte, 0, 8192)
	a, p := member(t), frame.Parser{Opener: member(t)}
	alloctest.Zero(t, "Seal and Ethernet", func() {
		b, err := f.Seal(room, packet, payload, a, 0)
		if err != nil || p.Ethernet(b, &got) != nil {
			panic("refused")
		}
	})
}
