// SPDX-License-Identifier: Apache-2.0

// Package rccc is receiver-credit congestion control for Ultra Ethernet: the
// destination hands out exactly one link's worth of credit, so converging senders
// cannot overrun the last hop.
//
// Two halves meet in two cumulative numbers. The destination's [Receiver] names the
// bytes a sender may have sent since the context began (the credit); the sender's
// [Source] names the total it would like to reach (the credit target). Both are
// absolute: a lost message costs time only, a duplicate or overtaken message nothing.
//
// Inside the package every total is an int64 count of bytes. On the wire a total is a
// 24-bit count of 256-byte quanta ([Quanta]); [Quanta.Extend] is the only way in and
// [QuantaOf] the only way out. Sizes charged are nominal packet sizes, the same at both
// ends.
//
// No clock is read, nothing allocates after construction, and no call blocks. Times are
// nanoseconds of the caller's monotonic clock, 0 or more and below 2^62; no timer goes
// off for ever at any other.
//
// Sources: UE Specification 1.0.x section 3.6.12.3 for the procedures and their
// order; the bodies follow the htsim UEC simulator, whose recorded runs are
// replayed by fuzz.TestTraces/rccc. The text of section 3.6.14 is not public.
package rccc
