// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"iter"

	"github.com/uetcc/uetcc/internal/msg"
	engine "github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
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

// Target returns the receiving side of peers' requests: to open memory and queues. Only the
// endpoint reports packets and errands to the Target.
func (e *Endpoint) Target() *Target { return (*Target)(e.target) }

// A Target is the receiving side of an [Endpoint]: the processes to address, the open memory, and
// the queues of receive buffers. Single writer: the calls belong to the goroutine of the endpoint.
type Target msg.Target

func (t *Target) part() *msg.Target { return (*msg.Target)(t) }

// AddProcess makes a process addressable.
//
// Errors: [ses.ErrRange], [ses.ErrExists], [ses.ErrFull].
func (t *Target) AddProcess(p ses.Process) (ses.Handle, error) { return t.part().AddProcess(p) }

// RemoveProcess closes all resource indices of a process and forgets the
// process. Each index costs a look at every region.
//
// Errors: [ses.ErrNotFound].
func (t *Target) RemoveProcess(now int64, process ses.Handle) error {
	return t.part().RemoveProcess(now, process)
}

// OpenIndex opens a resource index, enabled, and returns the generation required of
// requests: the former life's plus 1. now is in nanoseconds.
//
// Errors: [ses.ErrNotFound] for the process, [ses.ErrRange], [ses.ErrExists], [ses.ErrHeldBack]
// (closed and opened too often in too short a time).
func (t *Target) OpenIndex(now int64, process ses.Handle, ri ses.ResourceIndex, x ses.Index) (ses.Generation, error) {
	return t.part().OpenIndex(now, process, ri, x)
}

// CloseIndex withdraws a resource index with regions and receive buffers. A late packet is
// refused even after the index has been opened again, data still being read for a
// rendezvous send is not placed, and a deferred send is asked for and then refused. The
// cost grows with the number of regions.
//
// Errors: [ses.ErrNotFound], [ses.ErrRange].
func (t *Target) CloseIndex(now int64, process ses.Handle, ri ses.ResourceIndex) error {
	return t.part().CloseIndex(now, process, ri)
}

// SetIndexState enables or disables an open resource index. A queue a ROD
// send found empty is generation-disabled until SetIndexState enables the queue again.
//
// Errors: [ses.ErrNotFound], [ses.ErrRange].
func (t *Target) SetIndexState(process ses.Handle, ri ses.ResourceIndex, s ses.IndexState) error {
	return t.part().SetIndexState(process, ri, s)
}

// Renew moves an open resource index to its next generation, so packets of the old
// generation are refused from here on, and returns the new generation. now is in
// nanoseconds.
//
// Errors: [ses.ErrNotFound], [ses.ErrRange], [ses.ErrHeldBack] (renewed more than 120 times
// in a Hold, after a burst of 128).
func (t *Target) Renew(now int64, process ses.Handle, ri ses.ResourceIndex) (ses.Generation, error) {
	return t.part().Renew(now, process, ri)
}

// Register opens memory under a key of a resource index.
//
// Errors: [ses.ErrNotFound], [ses.ErrRange] (an end beyond 2^64, an invalid job),
// [ses.ErrExists] (the key), [ses.ErrFull].
func (t *Target) Register(process ses.Handle, ri ses.ResourceIndex, r ses.Region) (ses.Handle, error) {
	return t.part().Register(process, ri, r)
}

// Withdraw closes a region. Packets for it are refused from now on, also for
// messages half way.
//
// Errors: [ses.ErrNotFound].
func (t *Target) Withdraw(h ses.Handle) error { return t.part().Withdraw(h) }

// PostReceive appends a buffer to a receive queue. If a deferred send waits for such a
// buffer, the buffer is kept for the send, and the next Tick asks for the send. A queue a ROD send
// has found empty takes sends again only after [Target.SetIndexState].
//
// Errors: [ses.ErrNotFound], [ses.ErrRange] (not a queue, an end beyond 2^64), [ses.ErrFull].
func (t *Target) PostReceive(process ses.Handle, ri ses.ResourceIndex, r ses.Receive) (ses.Handle, error) {
	return t.part().PostReceive(process, ri, r)
}

// CancelReceive takes back a buffer without a matched message.
//
// Errors: [ses.ErrNotFound].
func (t *Target) CancelReceive(h ses.Handle) error { return t.part().CancelReceive(h) }

// HasErrand reports whether Tick is due, to ask a peer for a send that has found a buffer, or for the
// rest of one.
func (t *Target) HasErrand() bool { return t.part().HasErrand() }
