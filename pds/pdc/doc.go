// Package pdc holds packet delivery contexts (PDC): their windows, life cycle
// and recovery, and the PDS manager that owns them. It does no I/O and reads no
// clock: bytes and times come in, headers and events go out.
//
// # What the embedder does
//
// One [Manager] serves one fabric endpoint and has a single writer. All calls
// bring now, nanoseconds of a monotonic clock, which stays below 2^62.
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
// and returns the packet's handle; the caller puts the semantic header and the
// payload behind it, the first time and at each retransmission.
//
// Receive says what a packet is. A request that is new is not accepted yet:
// the caller judges it and calls Respond, which marks it received, or refuses
// it, and writes the acknowledgement if one is due. A request nobody responds
// to before the next Receive was never received. An answer that takes time is
// given in two steps: Respond with RespondLater now, and with the answer when
// there is one. One packet in causes at most one packet out; it goes to where
// the packet came from, in the traffic class of control packets.
//
// With Config.BufferROD the caller keeps what an ordered PDC brings ahead of a gap: the
// manager says in which buffer, and Replay when it is next. The answer to it may be
// another packet.
//
// Events are values in a ring of fixed length. Receive, Submit and Tick ask for
// room in it first, so the caller drains it with Event after each of them.
//
// Everything can be done with these calls. A [FastPath], which a newcomer can skip, does the
// same faster for the packets that nearly all are; it was made for the Endpoint of the root
// package.
//
// # What is guaranteed
//
//   - Each packet submitted has exactly one of VerdictResponse, EventResponse,
//     EventImplicit and EventError.
//   - Each request of RUD and ROD is handed up exactly once; of ROD in order.
//   - Nothing is allocated after NewManager. Nothing a peer sends makes the
//     manager panic, loop longer than a window, or hold more memory.
//   - Congestion control hears of each byte once: sent, then arrived or lost.
//     Bytes are counted by the record of what was sent, not by the rcvd_bytes
//     that a peer reports.
//
// Source: UE Specification 1.0.x, section 3.5.
package pdc
