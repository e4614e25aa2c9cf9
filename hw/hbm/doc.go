// SPDX-License-Identifier: Apache-2.0

// Package hbm models a memory controller that retires writes more slowly than
// the network can deliver them, and the receiver penalty in answer.
//
// Several requesters (compute cores, a peer GPU, the NIC's flows) share the
// channels and banks of a high-bandwidth memory. Requests beyond the
// controller's rate wait in queues: local congestion, invisible to switches. A
// [Policy] turns the bytes waiting into the rcv_cwnd_pend and restore flag of an
// ACK_CC, so the queue forms at the sources instead (destination flow control).
//
// The model is deterministic, single writer, takes the time from the caller and
// does not allocate after construction.
//
// Source: the UET congestion chapters, figures 6-3 (local congestion) and 6-14
// (destination flow control); UE Specification 1.0 section 3.6.13 for the
// penalty.
package hbm
