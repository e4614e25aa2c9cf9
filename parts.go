// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"iter"

	engine "github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// PDS returns the manager of the PDCs, to look at or close a PDC. The effect of closing on
// messages comes with the next Tick, then due at once.
func (e *Endpoint) PDS() *PDS { return (*PDS)(e.pds) }

// PDS is the PDS manager of an Endpoint, for a look at PDCs, and for closing PDCs. Single
// writer: the calls belong to the goroutine of the Endpoint.
//
// Source: UE Specification 1.0.x section 3.5, PDS manager.
type PDS engine.Manager

func (m *PDS) manager() *engine.Manager { return (*engine.Manager)(m) }

// PDC returns the state of h, or false if h has gone. Of a PDC in quarantine the Info still holds
// the ids and addresses.
func (m *PDS) PDC(h pdc.Handle) (pdc.Info, bool) { return m.manager().PDC(h) }

// All iterates over the live PDCs in the order of PDCIDs. PDCs may be closed meanwhile.
func (m *PDS) All() iter.Seq[pdc.Handle] { return m.manager().All() }

// Stats returns the counters.
func (m *PDS) Stats() pdc.Stats { return m.manager().Stats() }

// Close asks for h to be closed: no new message begins; when the open messages have ended, the PDC
// goes. A target asks the initiator. The errors are [pdc.ErrUnknown] and [pdc.ErrEvents].
func (m *PDS) Close(now int64, h pdc.Handle) error { return m.manager().Close(now, h) }

// Abort gives h up: every message on h fails with [pdc.CauseAborted]. Errors as from Close.
func (m *PDS) Abort(now int64, h pdc.Handle) error { return m.manager().Abort(now, h) }

// SetStartPSN makes an initiator PDC with nothing to send yet start at a given PSN, and
// reports success: for tests and recorded walks.
func (m *PDS) SetStartPSN(h pdc.Handle, start pds.PSN) bool { return m.manager().SetStartPSN(h, start) }
