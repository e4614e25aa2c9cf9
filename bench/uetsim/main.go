// Command uetsim runs congestion scenarios and workload files on a simulated
// fabric with the real congestion control, and says what happened.
//
//	go run ./bench/uetsim                        the 7-to-1 incast, with and without NSCC
//	go run ./bench/uetsim -list                  all scenarios
//	go run ./bench/uetsim -scenario link
//	go run ./bench/uetsim -matrix FILE.cm [-topo FILE.topo] [-cc nscc,rccc,both,none] [-json]
//	go run ./bench/uetsim -pcap FILE.pcap        the packets of the (last) run, for Wireshark
//	go run ./bench/uetsim -trace FILE.csv        how its windows moved, and why
//	go run ./bench/uetsim decode FILE.pcap       print UET packets, one a line
//
// JSON has, for each run, the fields of fabric.Result, whose names end in their units.
//
// A capture has a PDC for each connection and a WRITE for each transfer, at the time at which
// each packet has reached its host. Its UDP lengths are the simulated sizes of data; Ethernet and
// IP come on top, and acknowledgements are longer than the 64 bytes simulated.
//
// A trace is CSV with a line for each event of a connection's congestion control. Sizes are
// bytes: cwnd is the window and max_cwnd its ceiling, waiting is unsent or to be sent again,
// credit is the receiver's. rtt_ns is the last round trip, queue_delay_ns what of it is above
// base_rtt_ns, average_delay_ns that filtered; action is what the window did last, held_by
// what keeps more from being sent.
//
// It exits with 1 if a transfer did not finish, a packet is unaccounted for, or a
// claim of the scenario does not hold, and with 2 if it could not run at all.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
