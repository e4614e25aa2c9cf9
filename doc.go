// Package uetcc is an embeddable congestion-control engine for Ultra Ethernet
// Transport (UET).
//
// A transport asks it, per packet, "what did this packet tell me, and what may
// I send now?" and gets the answer in nanoseconds: no lock, no allocation, no
// goroutine, no system call and no clock read of the engine's own. Bytes and
// the current time go in, decisions and bytes come out, so the same inputs
// always give the same outputs.
//
// A time is in nanoseconds of the caller's monotonic clock, 0 or more and below 2^62, in
// every package unless it names another unit. One that lies outside, or that goes back,
// makes decisions worse: timers take a negative one for 0, and an earlier one for the last
// that they were given. Nothing hangs or panics. An [Endpoint] goes on from the last time at
// the pace of a clock that has gone back, so that its timers do not wait for it.
//
// # The whole endpoint
//
// [Endpoint] composes all layers: messages (package ses), delivery (pds/pdc),
// congestion control (ccc, nscc). A transport puts it between its sockets or
// rings and its memory:
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
// Read the clock anew for each batch of packets: one now for a packet and for its
// acknowledgement is a round trip of 0.
//
// Any order of calls is safe, and none has to be made at a certain time. What the loop keeps to:
//
//   - what Received says is done before the reply leaves, since the reply says that it was;
//   - each call may let packets go, so Transmit comes after the others, until it returns false:
//     once for all that has come, not once for each;
//   - Poll takes all that there is, each time: completions that wait keep messages of both
//     sides from beginning ([ErrEvents], Stats.Refused);
//   - Tick comes after what has arrived was received, or it takes that for lost.
//
// Of a Datagram nothing is kept: its memory is the caller's again when the call returns, but
// for one with Received.Buffer.
//
// Calls that take several packets cost less for each. [Endpoint.TransmitBatch] sends what
// may go; [Endpoint.Exchange] takes an acknowledgement in and sends what it lets go, and
// [Endpoint.ExchangeBatch] does so for all that a poll of the network has brought. With
// thousands of PDCs most of the time is spent waiting for memory: ExchangeBatch loads ahead
// what the next packets need, and [Endpoint.Prefetch] does it for those that are then
// received one by one.
//
// Config.Algorithm plugs in a congestion control of your own for each peer, beside NSCC and
// RCCC or instead of them. ccc.Pacer is one: it spreads a window over its round trip.
//
// On several cores each has an endpoint of its own. They may share one
// address if each peer is one core's: the packets from its address, and the messages to it.
// Spread packets by source address alone, since the UDP source port names the path and
// changes from packet to packet, and tell the processes, indices and regions to each. What
// they do with a link they do apart: Receiver.Rate is each one's part of it.
//
// Payload memory belongs to the caller: the endpoint says which bytes go where,
// and never looks at them. Where they cannot be placed, [Endpoint.Fail] corrects the
// reply before it is sent. Replies need the room that [Endpoint.ReplyMax] says.
//
// Each layer is usable alone: nscc is window arithmetic, pds and ses are codecs, pds/frame
// reads and writes whole packets, pds/pdc delivers without messages, ccc shares windows
// between connections.
//
// # Sources
//
// Comments of all packages cite these:
//
//   - UE Specification 1.0.x: that of Ultra Ethernet, ultraethernet.org, by section and table.
//   - UET congestion chapters: chapters 6 and 8 of the series on Ultra Ethernet at
//     nwktimes.blogspot.com, December 2025 to February 2026, whose figures many Examples
//     and the scenarios of bench/uetsim work out number by number.
//   - htsim: the simulator of the consortium (ultraethernet/uet-htsim), uec.cpp as of August
//     2025, whose recorded runs are replayed.
//   - The reference provider: ultraethernet/uet-ref-prov.
//   - XDP2, Wireshark, IxNetwork and the Linux ultraeth patches, for the layout of headers.
package uetcc
