// Command uetperf runs two ends of package uetcc over UDP sockets, and says how fast the
// data went, what the network marked, and what congestion control made of it.
//
//	go run ./bench/uetperf                                  both ends and a bottleneck, on loopback
//	go run ./bench/uetperf -senders 4 -rate 400e6           the same as an incast
//	go run ./bench/uetperf -6                               over IPv6
//	go run ./bench/uetperf -listen 192.0.2.7                one end, until it is interrupted
//	go run ./bench/uetperf -connect 192.0.2.7 -seconds 10 -rate 10e9 -rtt 100us    the other one
//
// Data packets leave as ECN-capable, with the entropy value as UDP source port, and go to
// port 4793, as acknowledgements and control packets do, but those with the code point of
// expedited forwarding. The kernel tells the TOS byte of each that comes, and a mark in it
// returns to the source. Nothing needs a privilege.
//
// With neither -listen nor -connect the packets pass a bottleneck in this process: the
// switch queue of package hw/switchq, emptied at -rate, which marks from what waits in
// it, and then -delay in each direction. All parties share one thread, and a clock that
// stands still while the machine does something else: what is measured is the queue, and
// not how busy the machine is. Between processes the clock is the real one.
//
// The window follows the least round trip seen, as NSCC has it. On a path that holds less than
// two packets, as with -delay 0, it has room for one, and the link waits for its answer; where
// the processes at the ends take longer than they sometimes do, it is small, too. Senders need
// not share equally: see package nscc on fairness, and set -kmax above a bandwidth-delay product
// to see them do.
//
// It exits with 1 if a message failed, or if packets were lost in this machine and not in the
// network (the last lines say which), and with 2 if it could not run at all. It runs on Linux
// alone.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
