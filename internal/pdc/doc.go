// SPDX-License-Identifier: Apache-2.0

// Package pdc holds packet delivery contexts (PDC): with windows, life cycle and recovery,
// and the PDS manager that owns the PDCs. Package pdc does no I/O and reads no clock: bytes
// and times come in, headers and events go out.
//
// # The embedder's part
//
// One [Manager] serves one fabric endpoint and has a single writer. All calls
// bring now, nanoseconds of a monotonic clock, below 2^62.
//
//	h, err := m.Open(now, key, ticket)     // the PDC for a message: an existing one, or a new one
//	m.Begin(h); m.Announce(now, h, bytes)  // a message begins on it, this much is to come
//	m.Submit(now, h, packet)               // one packet of it, named by a handle of the caller's
//	m.Transmit(now, buf, &out)             // the next packet to send: the PDS header is in buf
//	m.Receive(now, &in, buf, &res)         // a packet has arrived; an answer may be in buf
//	m.Respond(now, rx, &resp, buf)         // what the layer above says to a request
//	m.Replay()                             // with BufferROD: a request that is next and was kept
//	m.Event(&event)                        // what has happened to packets and PDCs
//	m.NextDeadline(); m.Tick(now)          // time
//
// A PDC keeps no payload and no semantic header. Transmit writes the PDS header
// and returns the packet's handle; the caller appends the semantic header and the payload,
// the first time and at each retransmission.
//
// Receive tells the kind of a packet. A new request is not accepted yet: the caller judges
// the request and calls Respond, which marks the request received, or refuses the request,
// and writes the acknowledgement if due. A request without a response before the next
// Receive was never received. A late answer is given in two steps: Respond with
// RespondLater now, and with the answer later. A packet in causes at most one packet out,
// sent back to the source in the traffic class of control packets.
//
// With Config.BufferROD the caller keeps the packets of an ordered PDC ahead of a gap: the
// manager chooses the buffer, and Replay names the next. The answer may be a further
// packet.
//
// Events are values in a ring of fixed length. Receive, Submit and Tick ask for room first,
// so drain the ring with Event after each call.
//
// The calls above suffice. A [FastPath], which a newcomer can skip, does the same faster
// for nearly all packets, and was made for the Endpoint of the root package.
//
// # Guarantees
//
//   - Each packet submitted has exactly one of VerdictResponse, EventResponse,
//     EventImplicit and EventError.
//   - Each request of RUD and ROD is handed up exactly once; of ROD in order.
//   - Nothing is allocated after NewManager. Nothing a peer sends makes the
//     manager panic, loop longer than a window, or hold more memory.
//
// Package pds/pdc has more of them, and what differs from the specification.
//
// Source: UE Specification 1.0.x, section 3.5.
package pdc
