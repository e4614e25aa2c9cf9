package fuzz

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/frame"
)

// A packetVector is one line of packets.jsonl.
type packetVector struct {
	Encap  string
	Layers []struct {
		Kind        string
		Offset, Len int
		Fields      fields
	}
	Payload int `json:"payload_len"`
	Hex     string
}

// testPacketVectors checks that each packet decodes to the layers of its line,
// at their places, and that every layer has exactly its fields.
func testPacketVectors(t *testing.T) {
	var parser frame.Parser
	var p frame.Packet // used for all of them
	for _, v := range readVectors[packetVector](t, "packets.jsonl") {
		wire := unhex(t, v.Hex)
		require.NoError(t, parsePacket(&parser, v.Encap, wire, &p), v.Hex)
		if err := p.Validate(); err != frame.ErrPayloadLength { // the lengths are random
			require.NoError(t, err, v.Hex)
		}
		require.Equal(t, v.places(len(wire)), []int{p.PDS, p.SES, p.Payload, p.End}, v.Hex)
		require.Equal(t, wire[p.PDS:p.Payload], p.AppendTo(nil), v.Hex)
		require.NotContains(t, p.String(), "\n")
		if v.Encap == "ip" {
			require.Equal(t, v.Layers[0].Fields.plain()["entropy"], int64(p.Entropy), v.Hex)
		}
		for _, l := range v.Layers {
			layer := vector{Name: l.Kind, Fields: l.Fields, Hex: v.Hex[2*l.Offset : 2*(l.Offset+l.Len)]}
			for _, ways := range sesKinds[l.Kind] {
				layer.replaySES(t, ways)
			}
			if sesKinds[l.Kind] == nil {
				checkVector(t, layer, pdsKinds[l.Kind])
			}
		}
	}
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
	var p, before frame.Packet
	other := []byte{0x58, 0x08, 0, 0, 0, 0, 0, 7, 0, 1, 0, 2, 0, 0, 0, 0}
	require.NoError(t, parser.UDP(other, &p))
	before = p
	err := parsePacket(&parser, strings.TrimPrefix(v.Name, "packet/"), unhex(t, v.Hex), &p)
	switch v.Expect {
	case "error":
		require.Error(t, err, "%s: %s", v.Hex, v.Why)
		require.Equal(t, before, p, "changed by %s", v.Hex)
	case "invalid":
		require.NoError(t, err, "%s: %s", v.Hex, v.Why)
		require.Error(t, p.Validate(), "%s: %s", v.Hex, v.Why)
	case "ignore":
		require.NoError(t, err, "%s: %s", v.Hex, v.Why)
		require.True(t, bytes.HasPrefix(v.same(t)[p.PDS:], p.AppendTo(nil)), v.Hex)
	default:
		t.Fatalf("unknown expectation %q", v.Expect)
	}
}

// parsePacket parses b as the encapsulation says.
func parsePacket(parser *frame.Parser, encap string, b []byte, p *frame.Packet) error {
	if encap == "ip" {
		return parser.Native(b, p)
	}
	return parser.UDP(b, p)
}
