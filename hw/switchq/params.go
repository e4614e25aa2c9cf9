// SPDX-License-Identifier: Apache-2.0

package switchq

import (
	"cmp"
	"errors"

	"github.com/uetcc/uetcc/internal/check"
)

// ErrConfig is wrapped by the errors of [NewParams] and [PFCConfig.Validate].
var ErrConfig = errors.New("switchq: invalid configuration")

// Config describes one egress queue. Only PlaneBDP has no default; the defaults
// are from UE Specification 1.0.3 section 3.6.17 in terms of PlaneBDP.
type Config struct {
	PlaneBDP int64 // bytes, up to 2^60: link rate times config_base_rtt of one network plane

	Trim    bool // cut payloads instead of dropping packets
	LastHop bool // the port leads to a destination host
	NoECN   bool // never mark, as recommended for last hops under receiver credit

	ECNMin int64 // bytes that may wait unmarked; 0: 0.2 PlaneBDP
	ECNMax int64 // bytes above which all are marked; 0: 0.8 PlaneBDP

	LowLimit  int64 // bytes of TC_low; 0: 1 PlaneBDP trimming, 1.5 on a last hop, 5 without trimming
	MedLimit  int64 // bytes of TC_med; 0: 1 PlaneBDP
	HighLimit int64 // bytes of TC_high; 0: 1 PlaneBDP

	HeaderBytes int32 // size of a trimmed packet; 0: 64, as in htsim
	MedPercent  int32 // share of the port that TC_med may take from waiting TC_low; 0: 50; 100: strict priority

	// Coin lets a coin choose what is trimmed or dropped when TC_low is full, the arriving or the
	// newest waiting packet, as in htsim's composite queue; otherwise the arriving packet is.
	Coin bool
}

// minTrimSize is the least length that trimming leaves of a packet after its IP
// header: UDP 8 and the PDS request header 16 (UE Specification 1.0.3 section 4.1).
const minTrimSize = 24

// Params are a validated [Config] with every default filled in: immutable, safe
// for concurrent use, shared by all queues of a kind.
type Params struct {
	c         Config
	medPerLow int64 // 1/65,536 bytes of TC_med credit per byte of TC_low; -1: strict
}

// NewParams fills in the defaults of c and checks the result. The error wraps
// [ErrConfig] and names the field.
func NewParams(c Config) (Params, error) {
	c.fill()
	if err := c.validate(); err != nil {
		return Params{}, err
	}
	p := Params{c: c, medPerLow: -1}
	if c.MedPercent < 100 {
		p.medPerLow = int64(c.MedPercent) << 16 / int64(100-c.MedPercent)
	}
	return p, nil
}

// Config is the configuration of p, defaults filled in.
func (p *Params) Config() Config { return p.c }

func (c *Config) fill() {
	def := func(field *int64, num, den int64) {
		if *field == 0 {
			*field = max(1, c.PlaneBDP/den*num+c.PlaneBDP%den*num/den)
		}
	}
	def(&c.ECNMin, 1, 5)
	def(&c.ECNMax, 4, 5)
	switch {
	case !c.Trim:
		def(&c.LowLimit, 5, 1)
	case c.LastHop:
		def(&c.LowLimit, 3, 2)
	default:
		def(&c.LowLimit, 1, 1)
	}
	def(&c.MedLimit, 1, 1)
	def(&c.HighLimit, 1, 1)
	c.HeaderBytes = cmp.Or(c.HeaderBytes, 64)
	c.MedPercent = cmp.Or(c.MedPercent, 50)
}

func (c *Config) validate() error {
	return cmp.Or(
		check.Range(ErrConfig, "PlaneBDP", c.PlaneBDP, 1, 1<<60),
		check.Range(ErrConfig, "ECNMin", c.ECNMin, 0, c.ECNMax),
		check.AtLeast(ErrConfig, "LowLimit", c.LowLimit, 0),
		check.AtLeast(ErrConfig, "MedLimit", c.MedLimit, 0),
		check.AtLeast(ErrConfig, "HighLimit", c.HighLimit, 0),
		check.AtLeast(ErrConfig, "HeaderBytes", c.HeaderBytes, minTrimSize),
		check.Range(ErrConfig, "MedPercent", c.MedPercent, 1, 100),
	)
}
