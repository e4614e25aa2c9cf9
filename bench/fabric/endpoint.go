package fabric

import (
	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// endpointHeader is the nominal size of a full packet of an endpoint beyond its payload; a
// request with a credit target has four bytes more.
const endpointHeader = overhead + pds.RequestLen + ses.StandardLen

// header is what a packet of data has beyond its payload.
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

// endpointMTU is the largest one whose packets are no larger than PacketBytes.
func (c *Config) endpointMTU() uint32 {
	mtu := uint32(8192)
	for mtu > 1024 && int64(mtu) > c.payload() {
		mtu /= 2
	}
	return mtu
}

// endpointConfig is that of a host's endpoint.
func (c *Config) endpointConfig(host int) uetcc.Config {
	u := uetcc.Config{
		Address: AddressOf(host), ControlTC: controlTC, Seed: (c.Seed+1)*0x9e3779b97f4a7c15 + uint64(host),
		MTU:    c.endpointMTU(),
		Target: ses.TargetConfig{AtomicOps: 1 << ses.AtomicSum, AtomicTypes: 1 << ses.TypeUint64},
		CC: ccc.Config{
			NSCC: nscc.Config{
				LinkRate: c.hostRate() / 8, BaseRTT: c.BaseRTT.Nanoseconds(), Trimming: !c.NoTrim, InitialCwnd: c.InitialCwnd,
			},
			Entropy: c.Entropy, Control: c.Control, Mode: c.Mode,
		},
	}
	u.CC.RCCC.InitialCredit = c.FirstCredit
	u.PDS.InferLoss = c.NoTrim
	if c.Algorithm != nil {
		u.Algorithm = func(k ccc.Key) ccc.Algorithm { return nil }
	}
	if c.Endpoint != nil {
		c.Endpoint(host, &u)
	}
	return u
}
