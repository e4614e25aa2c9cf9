// SPDX-License-Identifier: Apache-2.0

// Package nscc is network-signalled congestion control, the sender's half of
// Ultra Ethernet congestion management: a window in bytes that grows and shrinks
// with two signals of each acknowledgement, the ECN echo and the queueing delay.
//
//	             delay below target          delay at or above target
//	unmarked     proportional or fast        fair increase
//	             increase
//	marked       hold: load balancing        multiplicative decrease
//	             acts first
//
// On top of the four cases a quick adapt cuts a window once, when trims or extreme delay show
// the window far too large, to the bytes acknowledged, and a destination can take a share of
// the window back (rcv_cwnd_pend).
//
// The package is pure arithmetic. [Config] describes the fabric, [NewParams]
// derives the constants once, and each context is a [Window]: a value without
// pointers whose methods take the constants and the time. Nothing here reads a
// clock, locks or allocates. The embedder calls
//
//  1. [Window.Init] when the context is created,
//  2. [Window.CanSend] before each packet, [Window.OnSend] after and
//     [Window.AckRequest] to learn whether the packet should ask for an answer,
//  3. [Window.OnACK], [Window.OnNACK] and [Window.OnInferredLoss] as news arrives,
//     and [Window.OnUnmark] before OnACK for a packet taken for lost but arrived.
//
// The destination's half is a counter of received bytes per PDC ([RcvdBytes],
// read at the source by [RcvdTracker]) and the time a packet was kept
// ([ServiceTime]).
//
// # Fairness
//
// Flows share a bottleneck equally if all agree about the base round trip. A flow with too long
// a base sees less delay than the rest and gives way later. So a sample without a queue is
// worth an extra packet: a probe in the class of control packets, or the measurement of an
// earlier context to the destination ([Window.Init]).
//
// Without trimming the base matters most. The recommended thresholds then mark all packets even
// below the target delay, where a mark only holds the window: a flow whose base is 2 % too long
// never sees the target, and grows to the ceiling of 1.5 bandwidth-delay products.
//
// # Two sets of parameters
//
// The specification's ([ProfileSpec], the default of this package) are for a fabric that trims,
// at some 12 us: windows start full, and a mark below the target delay only holds the window,
// so load balancing acts first. Elsewhere packets drop: eight flows on 120 us lose 5 % of their
// packets, on a millisecond 31 %, and without marks 5 to 10 % on any path; 32 windows starting
// full drop half of the packets.
//
// [ProfileAdaptive] is for networks that drop, may not mark, and were not measured, and is the
// default of an Endpoint of package uetcc unless told of a trimming fabric. A window starts
// with three packets, or two (see [Window.Begin]), or with a 128th of a bandwidth-delay
// product, up to 16 packets, and adds two for each acknowledged without delay; a mark takes
// half a packet off at any delay, so flows share by marks and need not agree about the base
// round trip; delay above the target cuts the window where nothing marks; losses behind a
// queue take three tenths of the window, other losses their size. The base round trip is the
// found one. No packet drops on the paths above, and queues stay at half a bandwidth-delay
// product with marks, at a whole one without. The price is some round trips at the start of a
// transfer.
//
// # The UET congestion chapters
//
// Where the specification differs from the chapters behind the Examples, package nscc follows
// the specification:
//
//   - The target delay is 0.75 base round trips with trimming and 1 without; the chapters have
//     the two in reverse. [Tuning].TargetQdelay sets any value.
//   - The chapters' queueing delay, arrival less transmission less service time, is the round
//     trip ([RTT]). The queueing delay is the round trip less the base round trip.
//   - A packet may go if one more MTU fits, inflight + MTU <= cwnd ([Window.CanSend]). The
//     chapters have inflight < CWND, and in one place inflight <= CWND.
//   - The chapters' additive increase by a fraction of Base_BDP is [AdditiveStep].
//
// Sizes are nominal packet sizes in bytes (transport bytes + 40). Times are ticks
// of a nanosecond, or a picosecond with [Config.Picoseconds].
//
// Source: UE Specification 1.0.x, section 3.6.13.
package nscc
