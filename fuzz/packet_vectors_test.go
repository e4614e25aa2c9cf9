// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds/frame"
)

// A packetVector is one line of packets.jsonl.
type packetVector struct {
	Name   string
	Source string
	Encap  string
	Layers []struct {
		Kind        string
		Offset, Len int
		Fields      fields
	}
	Payload int `json:"payload_len"`
	Hex     string
}

// replay checks that the packet decodes to the layers of its line, at their places, and
// that every layer has exactly its fields.
func (v *packetVector) replay(t *testing.T) {
	var parser frame.Parser
	p := usedPacket(t)
	wire := unhex(t, v.Hex)
	require.NoError(t, parsePacket(&parser, v.Encap, wire, &p), v.Hex)
	if v.announced(t) > int64(v.Payload) { // the lengths are random
		require.Equal(t, frame.ErrPayloadLength, p.Validate(), v.Hex)
	} else {
		require.NoError(t, p.Validate(), v.Hex)
	}
	require.Equal(t, v.places(len(wire)), []int{p.PDS, p.SES, p.Payload, p.End}, v.Hex)
	require.Equal(t, wire[p.PDS:p.Payload], p.AppendTo(nil), v.Hex)
	require.NotContains(t, p.String(), "\n")
	if v.Encap == "ip" {
		require.Equal(t, v.Layers[0].Fields.plain()["entropy"], int64(p.Entropy), v.Hex)
	}
	for _, l := range v.Layers {
		layer := vector{Name: l.Kind, Fields: l.Fields, Hex: v.Hex[2*l.Offset : 2*(l.Offset+l.Len)]}
		if header := sesKinds[l.Kind]; header != nil {
			layer.replaySES(t, header)
		} else {
			require.Contains(t, pdsKinds, l.Kind)
			checkVector(t, &layer, pdsKinds[l.Kind])
		}
	}
}

// usedPacket returns a packet that has held others.
func usedPacket(t *testing.T) (p frame.Packet) {
	var parser frame.Parser
	other := []byte{0x58, 0x08, 0, 0, 0, 0, 0, 7, 0, 1, 0, 2, 0, 0, 0, 0}
	require.NoError(t, parser.UDP(other, &p))
	return p
}

// announced returns the payload_length of the packet's headers, 0 if they have none.
func (v *packetVector) announced(t *testing.T) int64 {
	if f, ok := v.Layers[len(v.Layers)-1].Fields["payload_length"]; ok {
		n, err := f.(json.Number).Int64()
		require.NoError(t, err)
		return n
	}
	return 0
}

// places returns the offsets of PDS header, SES header, data, and end.
func (v *packetVector) places(end int) []int {
	layers := v.Layers
	if layers[0].Kind == "entropy" {
		layers = layers[1:]
	}
	data := end - v.Payload
	at := []int{layers[0].Offset, data, data, end}
	if len(layers) > 1 {
		at[1] = layers[1].Offset
	}
	return at
}

// replayPacket holds the parser to v, whose name is packet/udp or packet/ip.
func (v *malformedVector) replayPacket(t *testing.T) {
	var parser frame.Parser
	p, before := usedPacket(t), usedPacket(t)
	encap := strings.TrimPrefix(v.Name, "packet/")
	err := parsePacket(&parser, encap, unhex(t, v.Hex), &p)
	switch v.Expect {
	case "error":
		v.requireWrong(t, err)
		require.Equal(t, before, p, "changed by %s", v.Hex)
	case "invalid":
		require.NoError(t, err, "%s: %s", v.Hex, v.Why)
		v.requireWrong(t, p.Validate())
	case "ignore":
		require.NoError(t, err, "%s: %s", v.Hex, v.Why)
		require.NoError(t, parsePacket(&parser, encap, v.same(t), &before), v.Hex)
		require.Equal(t, before, p, v.Hex)
	default:
		t.Fatalf("unknown expectation %q", v.Expect)
	}
}

// parsePacket parses b as the encapsulation says.
func parsePacket(parser *frame.Parser, encap string, b []byte, p *frame.Packet) error {
	switch encap {
	case "ip":
		return parser.Native(b, p)
	case "udp":
		return parser.UDP(b, p)
	}
	return fmt.Errorf("no encapsulation %q", encap)
}
