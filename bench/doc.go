// Package bench measures every hot path of the library, and guards what makes
// them fast.
//
//	go test -run xxx -bench . -benchtime 20ms ./bench     everything of ours, once
//	go run ./bench/report                                 beside bench/peers, ratios against goals
//	go test ./bench                                       the guards
//
// A benchmark has the name of what it measures, with op=, order=, contexts= or n=
// below it, reports allocations, and takes keys, orders and signals that those of
// the nested module bench/peers take too, so that a ratio compares the same work.
// No test of this repository depends on a measured time.
//
// The guards read what the compiler says about the functions listed in
// hot_test.go: that they still inline, that nothing in them escapes to the heap,
// and that the collector finds nothing to scan in the state they work on.
//
// Beside it: bench/fabric simulates a fabric, bench/goal reads what applications do on one,
// bench/hol and bench/iblink a part of one; bench/uetpcap writes and prints captures;
// bench/uetsim (around the library bench/uetsim/sim), bench/uetperf and bench/report are
// commands. Modules of their own are bench/peers, with other ways to do the same,
// bench/uetsweep, a command that runs bench/uetsim many times and compares, and bench/dissector, which
// writes a dissector for Wireshark.
package bench
