// Package ses is the semantic sublayer (SES) of Ultra Ethernet Transport: what a
// packet means, to which memory it may go, and what its sender is told.
//
// The lower half are the headers. [Request] reads and writes any request, [Reply] any
// response; which form follows a PDS header is said by its next_hdr, see [Form]. Their
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
// touches payload memory, reads a clock, or allocates after construction. Some sends
// make a target start messages of its own, see [Errand].
//
// Layouts and names: UE Specification 1.0.x, chapter 3.4, figures 3-9 to 3-20,
// tables 3-8 to 3-23 and 3-43.
package ses
