// SPDX-License-Identifier: Apache-2.0

// Package llr models link level retry of Ultra Ethernet: a [Transmitter] numbers the frames of a
// link, keeps each until the [Receiver] at the other end has acknowledged the frame, and after
// damage sends all frames behind the last good frame again. To the layers above a link with frame
// errors is only a little slower.
//
// The package does no I/O and reads no clock: frames are the caller's, under a handle, and the
// number of each travels in the preamble, whose bits are not public. The two ends talk by control
// ordered sets ([Set]), carried by the caller. Nothing is allocated after construction; times are
// nanoseconds.
//
// # Sources
//
// UE Specification 1.0.x section 5.1 and tables 5-7, 5-8, 5-20, 5-28 to 5-30, as a taxonomy of
// 1.0.1, a public test plan and the switch abstraction interface restate them. The state machines
// have several of these sources; the type codes and the layout of ordered sets have one.
// Release 1.0.3 protects ordered sets against corruption in a way that is not public.
package llr
