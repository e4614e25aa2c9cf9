// SPDX-License-Identifier: Apache-2.0

// Package uetcc is an embeddable congestion-control engine for Ultra Ethernet
// Transport (UET).
//
// A transport asks per packet "what did the packet tell me, and how much may I send now?" and
// gets the answer in nanoseconds: no lock, no allocation, no goroutine, no system call and no
// clock read of the engine's own. Bytes and the current time go in, decisions and bytes come
// out, so the same inputs always give the same outputs.
//
// A time is in nanoseconds of the caller's monotonic clock, 0 or more and below 2^62, in every
// package unless another unit is named. A time outside, or going back, makes decisions worse:
// timers take a negative time for 0, and an earlier time for the last. Nothing hangs or
// panics. An [Endpoint] goes on from the last time at the pace of a clock that has gone back,
// so no timer waits for the clock.
//
// # The whole endpoint
//
// [Endpoint] composes all layers: messages (package ses), delivery (pds/pdc),
// congestion control (ccc, nscc). A transport puts an Endpoint between sockets or rings and
// memory:
//
//	e, err := uetcc.NewEndpoint(config)        // all memory is taken here
//	h, err := e.Write(now, &message)           // or Read, Send, Atomic
//	for {
//		for e.Transmit(now, &out) {             // out.Packet: headers; out.Payload: what to append
//			transmit(out.Packet, memory(out.Payload), out.Entropy, out.TC)
//		}
//		for ev, ok := e.Poll(); ok; ev, ok = e.Poll() {
//			complete(ev)                        // once for each message
//		}
//		now = wait(e.NextDeadline())            // for a packet, or until then
//		for receive(&in) {                      // all that have come
//			e.Receive(now, &in, &reply, &r)     // the same Datagrams and Received each time
//			place(r, in.Packet[r.Payload:])     // what r says; with PDS.BufferROD it may say to keep it for e.Replay
//			transmit(reply.Packet, memory(reply.Payload), ...) // what to send back, if it is not empty
//		}
//		e.Tick(now)                             // times out what has not come, so not before
//	}
//
// Read the clock anew for each batch of packets: the same now for a packet and for the
// acknowledgement is a round trip of 0.
//
// Any order of calls is safe, at any time. The rules of the loop:
//
//   - the work of Received is done before the reply leaves, since the reply confirms it;
//   - each call may let packets go, so Transmit comes last, until false: once for all packets
//     received, not once for each;
//   - Poll takes all completions, each time: waiting completions keep messages of both
//     sides from beginning ([ErrEvents], Stats.Refused);
//   - Tick comes after Receive of all arrived packets, or takes the missing for lost.
//
// Nothing of a Datagram is kept: the memory is the caller's again when the call returns,
// except with Received.Buffer.
//
// Calls for several packets cost less for each. [Endpoint.TransmitBatch] sends all that may
// go; [Endpoint.Exchange] takes an acknowledgement in and sends the packets released, and
// [Endpoint.ExchangeBatch] does so for a whole poll of the network. With thousands of PDCs
// most of the time is spent waiting for memory: ExchangeBatch loads the memory for the next
// packets ahead, and [Endpoint.Prefetch] does so for packets then received one by one.
// [Endpoint.WriteBatch] does so for messages whose [Destination] has the PDC of [Endpoint.Connect],
// which also saves the search for the PDC.
//
// Config.Algorithm plugs in a user's congestion control for each peer, beside NSCC and RCCC or
// instead. An example is ccc.NewPacer, which spreads a window over the round trip.
//
// With several cores each has a separate endpoint. The endpoints may share an address if each
// peer belongs to one core: the packets from the peer's address, and the messages to the peer.
// Spread packets by source address alone, since the UDP source port names the path and changes
// from packet to packet, and tell the processes, indices and regions to each. Endpoints share
// no state about a link: Receiver.Rate is the endpoint's part of the rate.
//
// Payload memory belongs to the caller: the endpoint names the bytes and the places, and never
// looks at the bytes. For bytes impossible to place, [Endpoint.Fail] corrects the reply before
// the reply is sent. Replies need the room [Endpoint.ReplyMax].
//
// Each layer is usable alone: nscc is window arithmetic, pds and ses are codecs, pds/frame
// reads and writes whole packets, pds/pdctable has the lock-free table of PDCs, ccc shares
// windows between connections.
//
// # Sources
//
// Sources cited in the comments of all packages:
//
//   - UE Specification 1.0.x: the Ultra Ethernet specification, ultraethernet.org, by section
//     and table.
//   - UET congestion chapters: chapters 6 and 8 of the series on Ultra Ethernet at
//     nwktimes.blogspot.com, December 2025 to February 2026, with figures worked out number by
//     number in many Examples and the scenarios of bench/uetsim.
//   - htsim: the simulator of the consortium (ultraethernet/uet-htsim), uec.cpp as of August
//     2025, with recorded runs replayed in the tests.
//   - The reference provider: ultraethernet/uet-ref-prov.
//   - XDP2, Wireshark, IxNetwork and the Linux ultraeth patches, for the layout of headers.
package uetcc
