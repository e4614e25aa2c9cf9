// SPDX-License-Identifier: Apache-2.0

// Package ses is the semantic sublayer (SES) of Ultra Ethernet Transport: the meaning of
// a packet, the memory allowed to the packet, and the answer to the sender.
//
// The lower half are the headers. [Request] reads and writes any request, [Reply] any
// response; the next_hdr of the PDS header gives the [Form]. The parts [Standard] and
// [Response], and the extensions [Atomic], [CompareSwap] and [Rendezvous], can be used
// alone where the form is known. Each type is a plain struct with Decode, AppendTo,
// Validate and String, and the bit layout in the type's comment. Decode reads into an
// existing value, fails only when the bytes do not fit, and then leaves the value
// unchanged. Reserved bits are ignored when read and zero when written. Validate is
// separate: Validate reports values and combinations undefined in the specification; a
// dissector shows such values, an endpoint refuses the packet. Nothing allocates but
// String, and AppendTo when growing the slice. AppendTo panics when a field is wider
// than the place on the wire: a bug of the caller, never a peer's doing.
//
// The upper half needs no packet format at all: [Target] decides the placement and the
// answer of each request, [Initiator] cuts messages into packets and turns responses
// into a single completion for each message. Neither touches payload memory, reads a
// clock, or allocates after construction.
//
//	h, err := in.Start(&operation)                // a message begins
//	n, at := in.Next(now, h, &q); in.Handed(h, n) // the PDS takes its next n packets
//	in.PutHeader(b, q.Packet)                     // what one is: a header, and which bytes follow
//	in.RxRsp(now, p, form, b, &ev)                // a response to one has come; or RxAck, Error, RxData
//	                                              // ev: the message goes on, waits, or is over
//
//	t.AddProcess(p); t.OpenIndex(now, p, i, x)    // who may be addressed, and
//	t.Register(p, i, region)                      // which memory is open; or PostReceive
//	t.Receive(&request, arrival, &d)              // d: what to place where, and what to answer
//	t.Fail(&request, arrival, code, &d)           // it could not be placed: another answer
//	t.Errand(&x)                                  // a message that a send has this side start
//
// # Short ways (a newcomer can skip the section)
//
// The calls above suffice. The calls below do the same faster for common packets, and
// decline the rest, left to the general way. The Endpoint of the root package uses both.
//
//	short way                            for                                  instead of
//	Target.Follow, Record.Place          a request in the middle of a message Receive
//	Target.Expect, Take, and PutDefault  a request that passes                Receive
//	Initiator.Middle                     headers in the middle of a message   PutHeader
//	Initiator.Passing, Confirm           responses that say all is well       RxRsp, RxAck
//	Target.Line, Initiator.Line          an address to prefetch for a later call
//
// Layouts and names: UE Specification 1.0.x, chapter 3.4, figures 3-9 to 3-20,
// tables 3-8 to 3-23 and 3-43.
package ses
