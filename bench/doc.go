// SPDX-License-Identifier: Apache-2.0

// Package bench measures every hot path of the library, and guards the reasons of the
// speed.
//
//	go test -run xxx -bench . -benchtime 20ms ./bench     everything of ours, once
//	go run ./bench/report                                 beside bench/peers, ratios against goals
//	go test ./bench                                       the guards
//
// A benchmark has the name of the measured job, with op=, order=, contexts= or n=
// below, reports allocations, and takes the same keys, orders and signals as the benchmarks
// of the nested module bench/peers, so a ratio compares the same work. No test of this
// repository depends on a measured time.
//
// The guards read the compiler's remarks about the functions marked //uetcc:hot: still
// inlined, nothing escaping to the heap, and no pointers for the collector in the
// functions' state.
//
// Nearby: bench/fabric simulates a fabric, bench/goal reads schedules of applications, bench/hol and
// bench/iblink simulate a part of a fabric; bench/uetpcap writes and prints captures; bench/uetsim
// (around the library bench/uetsim/sim), bench/uetperf and bench/report are commands. Separate
// modules are bench/peers, with rivals for the same jobs, bench/uetsweep, a command that runs
// bench/uetsim many times and compares, and bench/dissector, writing a dissector for Wireshark.
package bench
