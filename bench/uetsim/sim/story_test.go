// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// TestPcapTellsOneStory: whoever reads a capture packet by packet sees PDCs open, messages
// arrive in parts that add up to their length, and nothing acknowledged or released that
// has not arrived.
func TestPcapTellsOneStory(t *testing.T) {
	matrix := filepath.Join(t.TempDir(), "two.cm") // two messages of a connection, beside an incast of twelve
	require.NoError(t, os.WriteFile(matrix, []byte(`Nodes 16
Connections 14
1->0 id 1 msg start 0 size 100000
1->0 id 1 msg start 5 size 4086
`+twelve()), 0o600))
	for name, args := range map[string][]string{
		"NSCC": {"-cc", "nscc"}, "RCCC": {"-cc", "rccc"}, "both": {"-cc", "both"}, "no CC": {"-cc", "none"},
		"drops": {"-cc", "nscc", "-trim=false"}, "light, htsim": {"-rules", "htsim"},
		"light": {"-node", "light"}, "light, both": {"-node", "light", "-cc", "both"}, "light, drops": {"-node", "light", "-trim=false"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "run.pcap")
			status, _, errs := uetsim(append(args, "-matrix", matrix, "-pcap", file)...)
			require.Zero(t, status, errs)
			extra := int(pds.NominalSize(0))
			if strings.Contains(name, "light") {
				extra = 0 // it counts the simulated sizes
			}
			read(t, file, extra).complete(t, 14)
		})
	}
}

func twelve() (lines string) {
	for src := range 12 {
		lines += fmt.Sprintf("%d->0 start 0 size 50000\n", src+2)
	}
	return lines
}

// A story is what a capture has told so far.
type story struct {
	pdcs  map[teller]*told
	extra int // bytes of a packet that rcvd_bytes counts beyond those of UDP
}

// A teller is the end of a PDC that has opened it.
type teller struct {
	addr [16]byte
	id   pds.PDCID
}

// A told is a PDC: what has arrived at its ends.
type told struct {
	source           [16]byte
	arrived, trimmed map[pds.PSN]int // UDP length
	bytes            int             // that have arrived, as rcvd_bytes counts them
	heard            bool            // an answer has reached the source
	cack             pds.PSN         // that has
	messages         map[ses.MessageID]*message
}

type message struct{ arrived, length uint32 }

func read(t *testing.T, path string, extra int) story {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r, err := pcapgo.NewReader(f)
	require.NoError(t, err)
	s, last := story{map[teller]*told{}, extra}, int64(0)
	for {
		b, info, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return s
		}
		require.NoError(t, err)
		require.GreaterOrEqual(t, info.Timestamp.UnixNano(), last)
		last = info.Timestamp.UnixNano()
		var x frame.Frame
		parser := frame.Parser{DSCPs: codePoints}
		require.NoError(t, parser.Ethernet(append(b, make([]byte, info.Length-len(b))...), &x))
		s.packet(t, &x)
	}
}

func (s story) packet(t *testing.T, f *frame.Frame) {
	switch {
	case f.Type.IsRequest():
		p := s.pdcs[teller{f.Src, f.Req.SPDCID}]
		if p == nil {
			require.NotZero(t, f.Req.Flags&pds.FlagSYN, "a PDC opens with SYN")
			p = &told{source: f.Src, cack: f.Req.StartPSN() - 1, arrived: map[pds.PSN]int{}, trimmed: map[pds.PSN]int{},
				messages: map[ses.MessageID]*message{}}
			s.pdcs[teller{f.Src, f.Req.SPDCID}] = p
		}
		p.request(t, f, s.extra)
	case f.Type == pds.TypeACKCC:
		s.pdcs[teller{f.Dst, f.Ack.DPDCID}].acknowledgement(t, f)
	case f.Type == pds.TypeNACK:
		require.Contains(t, s.pdcs[teller{f.Dst, f.Nack.DPDCID}].trimmed, f.Nack.PSN)
		s.pdcs[teller{f.Dst, f.Nack.DPDCID}].heard = true
	case f.Control.Ctl == pds.CtlCredit:
		s.pdcs[teller{f.Dst, f.Control.DPDCID}].heard = true
	}
}

func (p *told) request(t *testing.T, f *frame.Frame, extra int) {
	psn := f.Req.PSN
	require.True(t, f.Req.Flags&pds.FlagSYN != 0 || p.heard, "PSN %d: without SYN, and nothing was heard", psn)
	require.LessOrEqual(t, f.Req.ClearPSN().Diff(p.cack), int32(0), "PSN %d: releases what is not acknowledged", psn)
	if f.Trimmed != 0 {
		p.trimmed[psn] = f.TransportLen
		return
	}
	require.Contains(t, []int{0, f.TransportLen}, p.trimmed[psn], "trimming leaves the UDP length")
	if p.arrived[psn] != 0 {
		require.Equal(t, f.TransportLen, p.arrived[psn])
		return
	}
	p.arrived[psn] = f.TransportLen
	p.bytes += f.TransportLen + extra
	p.part(t, &f.Request, uint32(f.End-f.Payload))
}

// part takes in a new part of a message.
func (p *told) part(t *testing.T, r *ses.Request, bytes uint32) {
	m := p.messages[r.MessageID]
	if m == nil {
		m = &message{length: r.RequestLength}
		p.messages[r.MessageID] = m
	}
	m.arrived += bytes
	require.Equal(t, m.length, r.RequestLength)
	require.Equal(t, r.MessageOffset == 0, r.Flags.Has(ses.FlagSOM))
	require.Equal(t, r.MessageOffset+bytes == r.RequestLength, r.Flags.Has(ses.FlagEOM))
}

func (p *told) acknowledgement(t *testing.T, f *frame.Frame) {
	a := &f.Ack
	p.heard = true
	require.Equal(t, p.source, f.Dst)
	require.Contains(t, p.arrived, a.AckPSN())
	for ; a.CACK.After(p.cack); p.cack++ {
		require.Contains(t, p.arrived, p.cack+1, "CACK")
	}
	for i := range pds.PSN(64) {
		require.True(t, a.Bitmap>>i&1 == 0 || p.arrived[a.SACKBase()+i] != 0, "SACK")
	}
	var n pds.NSCCState
	if a.NSCC(&n) {
		require.LessOrEqual(t, int(n.RcvdBytes), (p.bytes+255)/256, "rcvd_bytes")
	}
	require.Contains(t, p.messages, f.Reply.MessageID)
}

// complete checks that all of so many messages has arrived.
func (s story) complete(t *testing.T, messages int) {
	t.Helper()
	for _, p := range s.pdcs {
		for _, m := range p.messages {
			require.Equal(t, m.length, m.arrived)
			messages--
		}
	}
	require.Zero(t, messages)
}
