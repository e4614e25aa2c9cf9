// SPDX-License-Identifier: Apache-2.0

// Package ses is the semantic sublayer (SES) of Ultra Ethernet Transport: the meaning of
// a packet, the memory allowed to the packet, and the answer to the sender.
//
// [Request] reads and writes any request, [Reply] any
// response; the next_hdr of the PDS header (NextHdr of package pds) gives the form. Both are plain structs with Decode,
// AppendTo, Validate and String, and the bit layout in the comments of their parts. The parts
// [Standard] and [Response] can be read and written alone where the form is known. Decode reads into an
// existing value, fails only when the bytes do not fit, and then leaves the value
// unchanged. Reserved bits are ignored when read and zero when written. Validate is
// separate: Validate reports values and combinations undefined in the specification; a
// dissector shows such values, an endpoint refuses the packet. Nothing allocates but
// String, and AppendTo when growing the slice. AppendTo panics when a field is wider
// than the place on the wire: a bug of the caller, never a peer's doing.
//
// What messages mean to memory is the work of the root package's Endpoint, in the terms of package
// ses: a [Process] is addressed, an [Index] of a process has a [Region] or a queue of [Receive]
// buffers, a message ends with an [Outcome].
//
// Layouts and names: UE Specification 1.0.x, chapter 3.4, figures 3-9 to 3-20,
// tables 3-8 to 3-23 and 3-43.
package ses
