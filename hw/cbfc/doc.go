// SPDX-License-Identifier: Apache-2.0

// Package cbfc models link-level credit-based flow control: InfiniBand's
// absolute credits ([Lane], [Port]) and Ultra Ethernet CBFC ([Sender],
// [Receiver]).
//
// Both schemes keep a transmitter from overrunning the receive buffer at the
// other end of the link, and both survive the loss of any message: a counter
// repeated in full makes every earlier loss good. InfiniBand announces the total
// a transmitter may have sent since the link came up; UE CBFC announces the total
// a receiver has freed.
//
// Everything here is single writer, does no I/O and does not allocate after
// construction. Time is given by the caller.
//
// Sources: InfiniBand specification volume 1 section 7.9; UE Specification 1.0
// section 5.2 as restated by the Switch Abstraction Interface proposals for CBFC.
package cbfc
