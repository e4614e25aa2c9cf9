// SPDX-License-Identifier: Apache-2.0

package uetpcap

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// exchange is a capture of three requests on a PDC, the last one again, and their acknowledgements.
func exchange(t testing.TB) []byte {
	var file bytes.Buffer
	w, err := NewWriter(&file)
	require.NoError(t, err)
	for i := range 4 {
		f := udpFrame(false)
		f.Req.PSN = pds.PSN(5 + min(i, 2))
		if i == 3 {
			f.Req.Flags = pds.FlagRetx
			f.TOS = pds.TOS(8, pds.ECNCE)
		}
		require.NoError(t, w.Write(int64(2000*i), f, 4096))
		back := &frame.Frame{Src: f.Dst, Dst: f.Src}
		back.Type, back.Ack.Ack = pds.TypeACK, pds.Ack{CACK: f.Req.PSN, SPDCID: 2, DPDCID: 1}
		require.NoError(t, w.Write(int64(2000*i+1000), back, 0))
	}
	return file.Bytes()
}

func TestFilter(t *testing.T) {
	file := exchange(t)
	for s, want := range map[string]int{
		"type=rud_req": 4, "type!=RUD_REQ": 4, "psn=6..7": 3, "psn=7": 2, "host=10.0.0.1": 8, "src=10.0.0.1": 4, "src=10.0.0.3": 0,
		"pdcid=2,cack_psn=7": 2, "resent": 1, "!resent": 7, "ecn=CE": 1, "bytes=1..9000": 4, "time_s=0..0.0000035": 4,
		"illegal": 0, "type=ACK , packet=1..2": 1, "trimmed=false": 8, "psn!=7": 6,
	} {
		f, err := ParseFilter(s)
		require.NoError(t, err, s)
		var out bytes.Buffer
		n, err := Print(&out, bytes.NewReader(file), &frame.Parser{}, f)
		require.NoError(t, err)
		require.Equal(t, want, n.UET-n.Hidden, s)
		require.Equal(t, want, strings.Count(out.String(), "\n"), s)
		require.Equal(t, 8, n.UET)
	}
	for s, want := range map[string]string{
		"colour=red": `no field "colour", there are packet, time_s, src`, "": `no field ""`, "psn=9..5": "the lower one first", "psn=a..b": "numbers",
		"type=ACK,,": "no field", "=": "no field", "psn=": "no value", "psn!=": "no value",
	} {
		_, err := ParseFilter(s)
		require.ErrorIs(t, err, ErrFilter)
		require.ErrorContains(t, err, want, s)
	}
}

// The two sides of a PDC are lines with the same number.
func TestSum(t *testing.T) {
	file := exchange(t)
	var out bytes.Buffer
	n, err := Sum(&out, bytes.NewReader(file), &frame.Parser{}, false)
	require.NoError(t, err)
	require.Zero(t, n.Hidden)
	lines := strings.Split(out.String(), "\n")
	require.Equal(t, strings.Fields("1 10.0.0.1 10.0.0.2 1 4 4 16384 1 0 1 0 0 0 0.000000 0.000006"), strings.Fields(lines[1]))
	require.Equal(t, strings.Fields("1 10.0.0.2 10.0.0.1 2 4 0 0 0 0 0 4 0 0 0.000001 0.000007"), strings.Fields(lines[2]))
	resent, err := ParseFilter("resent")
	require.NoError(t, err)
	out.Reset()
	_, err = Sum(&out, bytes.NewReader(file), &frame.Parser{}, true, resent)
	require.NoError(t, err)
	require.JSONEq(t, `{"pdc":1,"src":"10.0.0.1","dst":"10.0.0.2","spdcid":1,"packets":1,"requests":1,"bytes":4096,"resent":1,"trimmed":0,"marked":1,
		"acks":0,"nacks":0,"controls":0,"first_s":0.000006,"last_s":0.000006}`, out.String())
}

func FuzzParseFilter(f *testing.F) {
	for _, s := range []string{"type=ACK,psn=1..2", "!illegal", "host!=::1", "=,=", "psn=NaN..NaN", "psn=..", "!="} {
		f.Add(s)
	}
	file := exchange(f)
	f.Fuzz(func(t *testing.T, s string) {
		keep, err := ParseFilter(s)
		if err != nil {
			require.ErrorIs(t, err, ErrFilter)
			return
		}
		n, err := Print(io.Discard, bytes.NewReader(file), &frame.Parser{}, keep)
		require.NoError(t, err)
		require.LessOrEqual(t, n.Hidden, 8)
	})
}
