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
// On top of these four cases a quick adapt cuts the window once to what got
// through when trims or extreme delay say that it is far too large, and a
// destination can take a share of it back (rcv_cwnd_pend).
//
// The package is pure arithmetic. [Config] describes the fabric, [NewParams]
// derives the constants once, and each context is a [Window]: a value without
// pointers whose methods take the constants and the time. Nothing here reads a
// clock, locks or allocates. The embedder calls
//
//  1. [Window.Init] when the context is created,
//  2. [Window.CanSend] before each packet, [Window.OnSend] after it and
//     [Window.AckRequest] to learn whether the packet should ask for an answer,
//  3. [Window.OnACK], [Window.OnNACK] and [Window.OnInferredLoss] as news arrives,
//     and [Window.OnUnmark] before OnACK when a packet that was taken for lost
//     turns out to have arrived.
//
// The destination's half is a counter of received bytes per PDC ([RcvdBytes],
// read at the source by [RcvdTracker]) and the time it kept a packet
// ([ServiceTime]).
//
// # Fairness
//
// Flows share a bottleneck equally if they agree about its base round trip. A flow that takes
// it for longer sees less delay than the others and gives way later. So a sample that has met
// no queue is worth a packet of its own: a probe in the class of control packets, or what an
// earlier context to the destination has measured ([Window.InitCached]).
//
// Without trimming it matters most. The recommended thresholds then mark all packets even
// below the target delay, where a mark only holds the window: a flow whose base is 2 % too
// long never sees the target, and takes all that its ceiling of 1.5 bandwidth-delay products
// allows.
//
// # Two sets of parameters
//
// The specification's ([ProfileSpec], the default of this package) are for a fabric that trims,
// at some 12 us: windows start full, and a mark below the target delay only holds them, so that
// load balancing acts first. Elsewhere they drop: eight flows on 120 us lose 5 % of their packets,
// on a millisecond 31 %, and without marks 5 to 10 % on any path; 32 windows that start full drop
// half of what they send.
//
// [ProfileAdaptive] is for networks that drop, may not mark, and were not measured, and what an
// Endpoint of package uetcc uses unless it is told of a trimming fabric. It starts with three
// packets and adds two for each that comes back without delay; a mark takes half a packet off
// whatever the delay is, so that flows share by marks and need not agree about the base round
// trip; delay above the target cuts the window where nothing marks; losses behind a queue take
// three tenths of it, others what they weigh. The base round trip is what is found. It drops
// nothing on these paths, and holds queues at half a bandwidth-delay product with marks, at one
// without. The price is some round trips at the start of a transfer.
//
// # The UET congestion chapters
//
// Where the chapters whose figures the Examples work out say something else than the
// specification, this package follows the specification:
//
//   - The target delay is 0.75 base round trips with trimming and one without; the chapters
//     have these two the other way round. [Tuning].TargetQdelay sets another one.
//   - What they call the queueing delay, arrival less transmission less service time, is the
//     round trip ([RTT]). The queueing delay is what that is above the base round trip.
//   - A packet may go if an MTU more fits, inflight + MTU <= cwnd ([Window.CanSend]). The
//     chapters have inflight < CWND, and in one place inflight <= CWND.
//   - Their additive increase by a fraction of Base_BDP is [AdditiveStep].
//
// Sizes are nominal packet sizes in bytes (transport bytes + 40). Times are ticks
// of [Config.Unit], nanoseconds unless configured otherwise.
//
// Source: UE Specification 1.0.x, section 3.6.13.
package nscc
