// Package llr models link level retry of Ultra Ethernet: a [Transmitter] numbers the frames of a
// link, keeps them until the [Receiver] at the other end has acknowledged them, and sends again
// everything behind the last good one when a frame is damaged. To the layers above a link with
// frame errors is one that is a little slower.
//
// The package does no I/O and reads no clock: frames are the caller's, under a handle, and the
// number of each travels in its preamble, whose bits are not public. What the two ends tell each
// other are control ordered sets ([Set]), which the caller carries. Nothing is allocated after
// construction; times are nanoseconds.
//
// # Sources
//
// UE Specification 1.0.x section 5.1 and tables 5-7, 5-8, 5-20, 5-28 to 5-30, as a taxonomy of
// 1.0.1, a public test plan and the switch abstraction interface restate them. The state machines
// are confirmed by several of these; the type codes and the layout of ordered sets by one.
// Release 1.0.3 protects ordered sets against corruption in a way that is not public.
package llr
