// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// frame is called for each packet of a run of endpoints: the packet's bytes go to the file,
// behind the headers of Ethernet, IP and UDP.
func (c *capture) frame(now link.Ps, host int, f *fabric.Frame) {
	if c.begin(); c.err == nil {
		c.err = c.own(now, host, f)
	}
}

// own writes a packet of an endpoint.
func (c *capture) own(now link.Ps, host int, seen *fabric.Frame) error {
	var f frame.Frame
	if err := (&frame.Parser{}).UDP(seen.Bytes, &f.Packet); err != nil {
		return fmt.Errorf("an endpoint has sent what is no packet: %w", err)
	}
	f.SrcMAC, f.Src = addresses(uint32(seen.Host))
	f.DstMAC, f.Dst = addresses(uint32(host))
	f.Entropy = seen.Entropy
	ecn, dscp := pds.ECNECT0, codePoints.Trimmable
	if seen.CE {
		ecn = pds.ECNCE
	}
	switch seen.DSCP {
	case switchq.DSCPControl:
		dscp = codePoints.Control
	case switchq.DSCPNoTrim:
		dscp = noTrim
	case switchq.DSCPTrimmed:
		dscp, f.Trimmed = codePoints.Trimmed, pds.NackTrimmed
	case switchq.DSCPTrimmedLastHop:
		dscp, f.Trimmed = codePoints.TrimmedLastHop, pds.NackTrimmedLastHop
	}
	f.TOS = pds.TOS(dscp, ecn)
	return c.packets.WriteData(int64(now)/1000, &f, seen.Bytes[f.Payload:])
}
