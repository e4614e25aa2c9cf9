// Package ccc is the congestion control context (CCC) of Ultra Ethernet: one for
// each source FEP, destination FEP and traffic class, shared by the packet
// delivery contexts (PDC) between them, whose joint bytes in flight it bounds.
//
// A [Context] keeps the counters and the run state and drives the algorithms: NSCC
// (package nscc), RCCC (package rccc), or both, of which every one must consent.
// It is a plain value with a single writer, and everything it does, it does in an
// event:
//
//	OnNewData, OnSend, OnACK, OnNACK, OnInferredLoss, OnCreditUpdate
//
// After any of them [Context.State] says where the context stands and
// [Context.Decide] how many bytes may go and what holds back the rest.
//
// [Entropy] chooses the path of each packet.
//
// A [Manager] has the contexts of a NIC port in slabs, with what each needs around it:
// the PDCs bound to it, deadlines ([Manager.Tick]), and perhaps an [Algorithm] of the user's
// own. [Manager.Exchange] takes a run of acknowledgements in and lets a run of packets go in
// one step: try that first. For several cores each context has a [Gate], where any goroutine reserves
// bytes, and the manager an inbox ([Manager.Post]) and snapshots ([Manager.Refresh]).
// Nobody waits for anybody.
//
// Sizes are nominal packet sizes in bytes: the UDP length and 40, as NominalSize of
// package pds has it. Times are nanoseconds of the caller's monotonic clock, 0 or more
// and below 2^62.
//
// Source: UE Specification 1.0.x, section 3.6.12 (contexts), 3.6.16 (entropy).
package ccc
