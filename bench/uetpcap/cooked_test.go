// SPDX-License-Identifier: Apache-2.0

package uetpcap

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds/frame"
)

// What "tcpdump -i any" writes was refused: "capture of an unknown link type". Another program
// says that the heads made here are of that kind.
func TestPrintCooked(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		wire := udpFrame(v6).AppendTo(nil, make([]byte, 100))
		for link, head := range map[layers.LinkType][]byte{
			layers.LinkTypeLinuxSLL:  {0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, wire[12], wire[13]},
			layers.LinkTypeLinuxSLL2: {wire[12], wire[13], 0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0},
		} {
			b := append(head, wire[14:]...)
			p := gopacket.NewPacket(b, link, gopacket.Default)
			require.Nil(t, p.ErrorLayer())
			require.NotNil(t, p.Layer(layers.LayerTypeUDP))
			for kept := 0; kept <= len(b); kept++ {
				var file, out bytes.Buffer
				w := pcapgo.NewWriter(&file)
				require.NoError(t, w.WriteFileHeader(65536, link))
				require.NoError(t, w.WritePacket(gopacket.CaptureInfo{CaptureLength: kept, Length: len(b)}, b[:kept]))
				n, err := Print(&out, &file, &frame.Parser{})
				require.NoError(t, err)
				require.Equal(t, 1, n.All)
				if whole := kept >= len(b)-100; whole {
					require.Equal(t, 1, n.UET, out.String())
					require.Contains(t, out.String(), " | 100 bytes\n")
				} else {
					require.Zero(t, n.UET)
				}
			}
		}
	}
}

// A line of JSON has what the line for people has.
func TestPrintJSON(t *testing.T) {
	var file, out bytes.Buffer
	w, err := NewWriter(&file)
	require.NoError(t, err)
	require.NoError(t, w.Write(1_000_000_000, udpFrame(false), 4096))
	f := udpFrame(true)
	f.Native, f.Req.SPDCID = true, 0
	require.NoError(t, w.Write(1_500_000_000, f, 0))
	n, err := PrintJSON(&out, &file, &frame.Parser{})
	require.NoError(t, err)
	require.Equal(t, Counts{All: 2, UET: 2, Illegal: 1}, n)
	var first, second Packet
	d := json.NewDecoder(&out)
	require.NoError(t, d.Decode(&first))
	require.NoError(t, d.Decode(&second))
	require.Equal(t, []any{1, "10.0.0.1", "10.0.0.2", "RUD_REQ", uint32(5), 4096},
		[]any{first.Number, first.Src, first.Dst, first.Type, *first.PSN, first.Bytes})
	require.Contains(t, first.Headers, udpFrame(false).Request.String())
	require.Equal(t, 0.5, second.Time)
	require.NotEmpty(t, second.Illegal)
}

// Every cut of a capture says so, in words: it was "EOF" or "unexpected EOF", and nothing where
// only the data of a packet was missing.
func TestPrintCutFiles(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file)
	require.NoError(t, err)
	require.NoError(t, w.Write(0, udpFrame(false), 0))
	for size := range file.Len() {
		_, err := Print(io.Discard, bytes.NewReader(file.Bytes()[:size]), &frame.Parser{})
		switch {
		case size == 0:
			require.ErrorContains(t, err, "it is empty")
		case size < 24:
			require.ErrorContains(t, err, "within its head", size)
		case size == 24:
			require.NoError(t, err, "no packets")
		default:
			require.ErrorContains(t, err, "it ends within packet 1", size)
		}
		if err != nil {
			require.ErrorIs(t, err, ErrCapture)
		}
	}
}

// What has come is printed before more comes.
func TestPrintFollows(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file)
	require.NoError(t, err)
	require.NoError(t, w.Write(0, udpFrame(false), 0))
	in, feed := io.Pipe()
	lines, out := io.Pipe()
	go func() {
		_, err := Print(out, in, &frame.Parser{})
		out.CloseWithError(err)
	}()
	_, err = feed.Write(file.Bytes())
	require.NoError(t, err)
	b := make([]byte, 1000)
	n, err := lines.Read(b)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(b[:n]), "\n"))
	require.NoError(t, feed.Close())
}
