// SPDX-License-Identifier: Apache-2.0

// Package ccc is the congestion control context (CCC) of Ultra Ethernet: one for each source FEP,
// destination FEP and traffic class, shared by the packet delivery contexts (PDC) between the two, as
// a bound on the joint bytes in flight.
//
// A [Context] keeps the counters and the run state and drives the algorithms: NSCC
// (package nscc), RCCC (package rccc), or both, with the consent of each. A Context is a plain value
// with a single writer, and acts only in events:
//
//	OnNewData, OnSend, OnACK, OnNACK, OnInferredLoss, OnCreditUpdate
//
// After any event [Context.State] tells the state of the context and [Context.Decide] the bytes that
// may go and the cause holding back the rest.
//
// [Entropy] chooses the path of each packet.
//
// A [Manager] has the contexts of a NIC port in slabs, with the surroundings of each: the PDCs bound,
// deadlines ([Manager.Tick]), and perhaps a user's [Algorithm]. [Manager.Exchange] takes a run of
// acknowledgements in and lets a run of packets go in one step: try Exchange first. For several cores
// each context has a [Gate], where any goroutine reserves bytes, and the manager an inbox
// ([Manager.Post]) and snapshots ([Manager.Refresh]). No goroutine waits for another.
//
// Sizes are nominal packet sizes in bytes: the UDP length and 40, see NominalSize of package pds.
// Times are nanoseconds of the caller's monotonic clock, 0 or more and below 2^62.
//
// A life goes IDLE, READY, ACTIVE as in the released text; an older one, which the UET congestion
// chapters quote as superseded, goes IDLE, ACTIVE, READY.
//
// Source: UE Specification 1.0.x, section 3.6.12 (contexts), 3.6.16 (entropy).
package ccc
