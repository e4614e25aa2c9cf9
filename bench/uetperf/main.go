// SPDX-License-Identifier: Apache-2.0

// Command uetperf measures package uetcc over UDP sockets: between two machines, between two processes beside kernel TCP,
// QUIC and KCP, or through a built-in bottleneck that marks.
//
//	go run ./bench/uetperf                                  both ends and a bottleneck, on loopback
//	go run ./bench/uetperf -senders 4 -rate 400e6           the same as an incast
//	go run ./bench/uetperf -i 1 -json                       for programs, with what has moved in each second
//	go run ./bench/uetperf -listen 192.0.2.7                one end, until it is told to stop
//	go run ./bench/uetperf -connect 192.0.2.7 -seconds 10   the other one; -R reads, -P 8 is eight flows, -json for programs
//	go run ./bench/uetperf -json -compare tcp,quic          beside others, two processes each, in alternating rounds
//
// -html FILE leaves a page of pictures in each of the modes: queue, marks, windows, round trips,
// rates and reasons of waiting senders with the bottleneck; rates and times of messages with
// -connect, the rate with -listen, and the medians of -compare.
//
// -pcap FILE leaves the packets of an end, headers and the first of the data, without a privilege. Over a port of
// the user's choice addresses are those of package hw/node, which have the port in them.
//
// With -listen and -connect each end is a node of package hw/node, which says what its defaults are and how addresses
// and ports go together.
//
// -i 1 says each second what has moved, -json prints a line for each of that, each flow, the far end and in the end the
// sum. "held by" (held_us) is the part of a flow's time in which data waited, by what kept it: the window, receiver
// credit and so on, see ccc.Reason. An interrupt or SIGTERM ends a run with the summary.
//
// -compare runs each rival and uet in turn, in rotating order, and prints the medians of the rounds'
// ratios: only ratios mean something. CPU is the CPU time of both processes from start to end. QUIC
// and KCP run in bench/peers/netperf, a separate module.
//
// Without the three flags the packets pass a bottleneck inside the process: the switch queue of
// package hw/switchq, emptied at -rate, which marks by the bytes waiting, and then -delay in each
// direction. All parties share one thread, and a clock that stands still while the machine runs other
// processes: the measurement shows the queue, and not the load of the machine. The mode needs Linux,
// but no privilege. Data packets leave as ECN-capable, with the entropy value as UDP source port;
// acknowledgements and control packets have the code point of expedited forwarding. The window
// follows the least round trip seen, as in NSCC. On a path for less than two packets, as with -delay
// 0, the window has room for one, and the link waits for the answer. Senders need not share equally:
// see package nscc on fairness, and set -kmax above a bandwidth-delay product for equal shares.
//
// The exit status is 1 if a message failed, or if packets were lost in the machine and not in the
// network (named in the last lines), and 2 if uetperf could not run at all.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
