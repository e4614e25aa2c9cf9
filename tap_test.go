// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// What the tap of an end is shown is what has been sent to another end, and what comes there, each
// packet once: those of answers, of failures, and those that had to wait for their turn among them.
func TestTapSeesWhatPasses(t *testing.T) {
	type packet struct {
		head     string
		src, dst string
	}
	for name, edit := range map[string]func(n *network){
		"plain":    func(*network) {},
		"buffered": func(n *network) { n.f.reorder = 20_000 },
		"failing": func(n *network) {
			n.ends[1].fails = func(r *uetcc.Received) ses.ReturnCode {
				if r.Offset == 5*netMTU {
					return ses.RCHostPoisoned
				}
				return ses.RCOK
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			sent, came := map[packet]int{}, map[packet]int{}
			last := int64(0)
			n := newNetwork(t, 5, netFaults{}, 2, func(c *uetcc.Config) {
				c.PDS.BufferROD = true
				c.Tap = func(now int64, out bool, d uetcc.Datagram) {
					require.GreaterOrEqual(t, now, last)
					last = now
					p := packet{string(d.Packet[:pds.TypeNACK.HeaderLen()]), d.Src.String(), d.Dst.String()}
					if out {
						sent[p]++
					} else {
						came[p]++
					}
				}
			})
			edit(n)
			for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI} {
				n.write(mode, 9*netMTU)
				n.read(mode, 9*netMTU)
			}
			n.begin(n.ends[0].e.Atomic, ses.ModeRUD, make([]byte, 8))
			n.run(func() bool {
				return len(n.ends[0].events) == 7 && n.ends[0].e.Usage().PDCs == 0 && n.ends[1].e.Usage().PDCs == 0
			})
			require.Greater(t, len(sent), 60)
			if name == "failing" { // which is told to the tap twice: as it would have been, and as it is
				for p := range came {
					require.GreaterOrEqual(t, sent[p], came[p])
				}
				return
			}
			require.Equal(t, sent, came)
		})
	}
}

// A tap shows what an endpoint sends and receives, in batches too: here as a line for each packet.
func ExampleConfig_tap() {
	config := walkConfig(0, 0x4001)
	config.Tap = func(now int64, sent bool, d uetcc.Datagram) {
		way := "from " + d.Src.String()
		if sent {
			way = "to " + d.Dst.String()
		}
		var p frame.Packet
		_ = new(frame.Parser).UDP(d.Packet, &p)
		fmt.Println(now, way, p.Type, "and", d.Payload.Length, "bytes")
	}
	initiator, _ := uetcc.NewEndpoint(config)
	target, _ := uetcc.NewEndpoint(walkConfig(1, 0x8001))
	openWalk(target, walkLen, ses.RightWrite)
	m := walkMessage()
	m.Length = 5000
	_, _ = initiator.Write(0, &m)
	for _, p := range sendAll(0, initiator) {
		_, acks := receive(5_000, target, p)
		for _, ack := range acks {
			receive(10_000, initiator, ack)
		}
	}
	// Output:
	// 0 to 10.0.0.2 RUD_REQ and 4096 bytes
	// 0 to 10.0.0.2 RUD_REQ and 904 bytes
	// 10000 from 10.0.0.2 ACK and 0 bytes
	// 10000 from 10.0.0.2 ACK and 0 bytes
}
