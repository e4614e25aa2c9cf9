// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ccc/baseline"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/ses"
)

// endpointHeader is the nominal size of a full packet of an endpoint beyond the payload; a
// request with a credit target has four bytes more.
const endpointHeader = overhead + pds.RequestLen + ses.StandardLen

// header is the size of a packet of data beyond the payload.
func (c *Config) header() int64 {
	switch {
	case c.Node == NodeLight:
		return HeaderBytes
	case c.credits():
		return endpointHeader + pds.RequestCCLen - pds.RequestLen
	}
	return endpointHeader
}

func (c *Config) defaultPacket() int64 {
	if c.Node == NodeLight {
		return 4150
	}
	return 4096 + c.header()
}

// endpointConfig is the configuration of a host's endpoint.
func (c *Config) endpointConfig(host int) uetcc.Config {
	u := uetcc.Config{
		Address: AddressOf(host), ControlTC: controlTC, Seed: (c.Seed+1)*0x9e3779b97f4a7c15 + uint64(host),
		MTU:    uint32(c.payload()),
		Target: ses.TargetConfig{AtomicOps: 1 << ses.AtomicSum, AtomicTypes: 1 << ses.TypeUint64},
		CC: ccc.Config{
			NSCC: nscc.Config{
				LinkRate: c.hostRate() / 8, BaseRTT: c.BaseRTT.Nanoseconds(), Trimming: !c.NoTrim, InitialCwnd: c.InitialCwnd,
				Tuning: c.Tuning,
			},
			Entropy: c.Entropy, Control: c.Control, Mode: c.Mode,
		},
	}
	u.CC.RCCC.InitialCredit = c.FirstCredit
	u.PDS.AckTrigger = c.AckBytes
	u.PDS.Range = min(c.MaxPSNRange, pdc.MaxRange)
	if c.Mode != ccc.ModeEnforce { // nobody slows down, so a packet may be trimmed any number of times
		u.PDS.MaxNackRetx, u.PDS.MaxRTORetx, u.PDS.IdleTime = 31, 15, 8_000_000_000
	}
	if c.EQDS {
		u.CC, _ = baseline.EQDS(u.CC, c.PacketBytes)
		if p, err := rccc.NewPullPolicy(c.eqds()); err == nil { // Config.check has made the same
			u.Receiver.Policy = p
		}
	}
	c.poolsOf(host, &u)
	if c.Algorithm != nil {
		u.Algorithm = c.algorithm
	}
	if c.Endpoint != nil {
		c.Endpoint(host, &u)
	}
	return u
}

// A degree is the numbers of transfers sent and received by a host, and of units of 16 packets
// under way.
type degree struct{ out, in, chunks int }

// degrees counts the transfers of the matrix by host.
func (c *Config) degrees() []degree {
	d := make([]degree, c.Topology.Nodes)
	most, mtu := c.chunks(), c.payload()
	for _, f := range c.Matrix.Flows {
		d[f.Src].chunks += int(min(int64(most), f.packets(mtu)/16+2))
		d[f.Src].out++
		d[f.Dst].in++
	}
	return d
}

// poolsOf gives an endpoint no more memory than the transfers of the host can use; without a
// matrix the default.
func (c *Config) poolsOf(host int, u *uetcc.Config) {
	if len(c.Matrix.Flows) == 0 {
		return
	}
	d := c.degree[host]
	n := d.out + d.in
	u.Contexts, u.Messages, u.Answers, u.RUDI, u.Waiting = min(n+1, 65535), d.out+1, 1, 1, min(n+1, 65535)
	u.PDCs = pdc.TableConfig{General: 5*n + 4}
	u.Memory = pdc.MemoryConfig{Chunks: max(d.chunks, c.chunks()), Responses: 8 * (n + 1), Events: 256, LongResponses: 1}
	t := &u.Target
	t.Indices, t.Regions, t.Receives, t.Messages, t.Pending = taggedAt+1, 1, 1, 4*d.in+4, 1
}

// chunks is the most units of 16 packets of a connection under way: two windows, or the whole
// range of PSNs without a window.
func (c *Config) chunks() int {
	if c.Mode != ccc.ModeEnforce || c.Algorithm != nil {
		return pdc.MaxRange / 16
	}
	packets := 2 * max(link.MaxWindow(c.bdp()), c.InitialCwnd) / c.PacketBytes
	return int(min(packets, pdc.MaxRange))/16 + 2
}
