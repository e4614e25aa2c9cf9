// SPDX-License-Identifier: Apache-2.0

// Package msg turns messages into requests, and requests into work in memory: the two sides of the
// semantic sublayer of package ses.
//
// [Target] decides the placement and the
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
//	Target.Recent, Record.Place          a request in the middle of a message Receive
//	Target.Expect, Take, and PutDefault  a request that passes                Receive
//	Initiator.Middle                     headers in the middle of a message   PutHeader
//	Initiator.Passing, Confirm           responses that say all is well       RxRsp, RxAck
//	Target.Line, Initiator.Line          an address to prefetch for a later call
package msg
