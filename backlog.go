// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/hw/hbm"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/rccc"
)

// A backlog is what waits on the way into the memory of this host, and what peers hear of it: a
// penalty in acknowledgements (destination flow control), less receiver credit, and cells of
// transport flow control that are not free yet.
type backlog struct {
	policy  hbm.Policy
	limits  rccc.HostLimits
	on      bool // there is a policy
	pend    uint8
	restore bool
}

// SetBacklog says how many bytes, in datagrams with their headers, have come and wait on the way
// into the memory of this host, those of the last packets included. Until the next call
// acknowledgements say what Config.Penalty makes of that, receiver credit is handed out at the rate
// that Config.HostLimits has for it, and as many bytes of the newest packets keep their cells
// of Config.CC.TFC.
func (e *Endpoint) SetBacklog(now, bytes int64) {
	now = e.clock.read(now)
	b := &e.recv.backlog
	if b.on {
		b.pend, b.restore = b.policy.Mark(bytes)
	}
	if k := e.credit; k != nil {
		k.recv.SetFactor(b.limits.Factor(bytes))
		if k.cells != nil {
			k.cells.backlog = bytes
			k.cells.clear(now, k)
		}
	}
}

// host is what the host has an acknowledgement say, where it names no penalty by itself.
func (b *backlog) host(s pdc.AckState) pdc.AckState {
	if s.Type == pds.CCNSCC && s.Pend == 0 && !s.Restore {
		s.Pend, s.Restore = b.pend, b.restore
	}
	return s
}
