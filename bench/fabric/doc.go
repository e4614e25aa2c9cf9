// SPDX-License-Identifier: Apache-2.0

// Package fabric simulates hosts, links and switches packet by packet. At each host is
// an uetcc.Endpoint with its own bytes on the wire ([NodeEndpoint], [NewWorld]), or a
// light transport around real congestion control contexts ([NodeLight]).
//
// A run has one seed and no clock: the same [Config] gives the same [Result], byte for byte,
// on any number of goroutines (Config.Workers). Workloads come as connection matrices
// ([ParseMatrix]) and fabrics as topology files ([ParseTopology]) in the formats
// of the public simulator htsim, so the same input drives both; or as an [Application],
// which computes, sends and receives by a GOAL schedule.
//
// The fabric forwards by number: links have no addresses, and the two ports of a NIC are two hosts, one
// on each rail.
//
// [ParseExperiments] reads the experiments of htsim's own validation, and [ParseFault] the faults
// of a run.
//
// Config.Algorithm tries out a user's congestion control, and Config.Context follows the state of
// any; Config.Series samples queues, links and windows.
package fabric
