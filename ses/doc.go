// Package ses is the semantic sublayer (SES) of Ultra Ethernet Transport: what a
// packet means, to which memory it may go, and what its sender is told.
//
// The lower half are the headers. [Request] reads and writes any request, [Reply] any
// response; the next_hdr of the PDS header says which [Form] they have. Their
// parts [Standard] and [Response], and the extensions [Atomic], [CompareSwap] and
// [Rendezvous], can be used alone where the form is known. Each is a plain struct with Decode,
// AppendTo, Validate and String, its bit layout in the type's comment. Decode reads into
// an existing value, fails only when the bytes do not fit, and then leaves the
// value as it was. Reserved bits are ignored when read and zero when written.
// Validate is separate: it reports values and combinations that the
// specification does not define, which a dissector shows and an endpoint
// refuses. Nothing allocates but String, and AppendTo when it has to grow the
// slice. AppendTo panics when a field is wider than its place on the wire: that
// is a bug of the caller, never a peer's doing.
//
// The upper half needs no packet format at all: [Target] decides for each
// request what to place where and what to answer, [Initiator] cuts messages into
// packets and turns responses into one completion for each message. Neither
// touches payload memory, reads a clock, or allocates after construction.
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
// # Short ways, which a newcomer can skip
//
// Everything can be done with the calls above. Those below do the same faster for the
// common packets, and decline the others, which then go the general way.
// The Endpoint of the root package uses both.
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
