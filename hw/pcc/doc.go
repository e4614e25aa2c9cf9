// SPDX-License-Identifier: Apache-2.0

// Package pcc holds the event interface a NIC offers to a programmable
// congestion control, and the ZTR-RTT algorithm in two forms.
//
// The NIC turns a flow's traffic into events; the algorithm returns a rate and
// whether to measure the round trip. The algorithm has no clock, memory or queue:
// the time is in the event, the state in the flow's context. The zero value of a
// context is a flow never seen.
//
//   - [Template] is NVIDIA's public sample algorithm, bit for bit.
//   - [ZTR] is a design of our own with the additions of the ZTR-RTT description:
//     an expected delay dependent on the rate, an immediate reaction to the first
//     congestion, steps that imitate a window, and a round trip without the
//     responder's residence time.
//
// A context has one writer; contexts of one port may run in parallel. An event
// costs a few nanoseconds and does not allocate.
//
// Sources: DOCA SDK documentation, "ZTR-RTT CC Algorithm"; doca-samples
// applications/pcc rtt_template; DOCA PCC device headers for the event numbers.
package pcc
