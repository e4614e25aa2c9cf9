// SPDX-License-Identifier: Apache-2.0

// Command uetsim runs congestion scenarios and workload files on a simulated
// fabric, with an uetcc.Endpoint at each host, and reports the results.
//
//	go run ./bench/uetsim                        the incast of figure 6-2, with and without NSCC
//	go run ./bench/uetsim -list                  all scenarios
//	go run ./bench/uetsim -scenario link
//	go run ./bench/uetsim -matrix FILE.cm [-topo FILE.topo] [-cc nscc,rccc,both,none,eqds,dctcp,cubic,swift,constant] [-json]
//	go run ./bench/uetsim -goal FILE [-topo FILE.topo]  what ranks compute and send, as a GOAL schedule says
//	go run ./bench/uetsim gen ring -ranks 64 -bytes 8388608 > FILE   makes such a schedule, or a matrix
//	go run ./bench/uetsim -node light            a lighter transport in place of the endpoints
//	go run ./bench/uetsim -matrix FILE.cm -cc nscc,both -seeds 20     means over seeds, with confidence intervals
//	go run ./bench/uetsim -pcap FILE.pcap        the packets of the (last) run, for Wireshark
//	go run ./bench/uetsim -trace FILE.csv        how its windows moved, and why
//	go run ./bench/uetsim -qlog FILE.sqlog       what its sources send and hear, for qvis
//	go run ./bench/uetsim -perfetto FILE.json    its flows and ports over time, for ui.perfetto.dev
//	go run ./bench/uetsim -html FILE.html        all of it in pictures, for a browser
//	go run ./bench/uetsim -flows FILE.csv        all transfers of all runs: completion time, ideal time, slowdown
//	go run ./bench/uetsim -series FILE.csv       queues, links and windows of all runs over time
//	go run ./bench/uetsim -cpuprofile FILE       where the time of the command itself goes
//	go run ./bench/uetsim -fail leaf0.1:down@100-400,spine2:loss=0.01@0    what goes wrong when
//	go run ./bench/uetsim validate FILE ...      run the experiments that htsim validates itself with
//	go run ./bench/uetsim decode FILE.pcap       print UET packets, one a line
//	go run ./bench/uetsim decode -sum -filter host=10.0.0.2 FILE.pcap    what each side of its PDCs has sent
//	tcpdump -i any -U -w - | go run ./bench/uetsim decode -json -
//
// JSON has, for each run, the fields of fabric.Result, whose names end in their units.
//
// -goal reads the text and the binary form of GOAL schedules and tells the end of each rank. A
// calculation occupies the CPU for the calculation's length, and operations on other CPUs go on in
// parallel. Sends begin when ready; a message counts as received when the source knows of the
// delivery, the event that starts the successors in htsim's matrices too, or on arrival with
// -recv-done arrived. A send ends when the message is received, a message of up to -eager bytes when
// delivered. An operation without a counterpart, and the operations waiting for it, are listed and
// make the exit status 1.
//
// -cc runs the same once for each word: the engine's own (nscc, rccc, both; observe computes
// and does not enforce; none sends all at once) and the baselines of ccc/baseline, run alone.
// eqds is rccc with the first window and the grants of EQDS, the ancestor of Ultra Ethernet's receiver
// credit. The command is a few lines around package sim, good for any other algorithm as well.
//
// A transfer's held_us, and "held by" of -v, is the time the connection had data but could not send,
// by cause: the window, the receiver's credit, pacing or an algorithm.
//
// With -node endpoint, the default, a transfer is a write from memory to memory, with bytes moved and
// compared; transfers between the same hosts have separate PDCs and a common congestion control
// context. A host with one transfer each way takes some 140 KB, good for thousands of hosts. With
// -node light the simulator's own transport drives real congestion control contexts, a context for
// each transfer: for tens of thousands of hosts, and for -rules htsim, which imply -node light.
//
// The parameters varied in published experiments are flags: -queue, -ecn-min and -ecn-max take bytes,
// packets (50p) or bandwidth-delay products (0.2bdp), -tune the constants of NSCC; -h lists them. A
// fault of -fail is PLACE:WHAT@FROM or PLACE:WHAT@FROM-UNTIL, in microseconds: an uplink (leaf0.1), a
// switch (spine2) or a host's link (host5) is down, has a part of its rate (rate=0.25) or loses
// packets (loss=0.01). No switch knows of a dead link unless -reroute gives the time after which all
// switches do.
//
// validate runs the experiments of htsim's validation files by htsim's rules, some side by side, and
// prints the time of the last transfer and the bar of each, in the files' order. Experiments that
// cannot run are named with file, line and reason. -outside marks the bars missed by htsim, too.
//
// Runs of one command, for each word of -cc and each seed, are made side by side on -workers
// goroutines, and a run of a fabric of 256 hosts or more uses several goroutines by default: the
// fabric is simulated in parts, by pod or by leaf. A schedule of -goal is, too, but with -node light alone:
// with endpoints the end of a message is not certain before it comes, and starts others at any host at
// the same time. All output is the same byte by byte for any number of workers.
//
// With several runs, the file of -pcap, -trace, -qlog or -perfetto is the last run's. The files of
// earlier runs are kept in the same folder with the name of the run in front of the ending, as in
// FILE-nscc-seed-1.csv.
//
// The ideal time of a transfer is the transfer's time alone in the idle fabric. A point of a series
// holds one sample or more: in a line of a thousand points two points become one, with the least and
// the most of all samples.
//
// A capture has the endpoints' own packets at the time each has reached the host. With -node light
// the capture shows the packets of a real transport: a PDC for each connection and a WRITE for each
// transfer. The UDP lengths are the simulated sizes of data; Ethernet and IP come on top, and
// acknowledgements are longer than the 64 bytes simulated.
//
// A trace is CSV with a line for each event of a connection's congestion control. Sizes are
// bytes: cwnd is the window and max_cwnd the ceiling, waiting is unsent or to be sent again,
// credit is the receiver's. rtt_ns is the last round trip, queue_delay_ns the part above base_rtt_ns,
// average_delay_ns the filtered delay; action is the window's last action, held_by the cause that
// keeps more from being sent.
//
// A page of -html compares all runs of the command: completion times, queues and marks of ports,
// window, bytes in flight, round trip and rate of flows, fairness, causes of waiting, use of links,
// and the packets of the slowest flow. Of many flows the page shows some, from the quickest to the
// slowest, and the middle of all. Steps of time keep the extremes, so each run adds 200 KB at most.
// The page needs no network, zooms by a drag (Escape zooms out), prints, and saves pictures as SVG.
//
// A qlog has a group for each flow, shown by qvis as a connection: packets sent, with numbers from 0
// on, acknowledgements received, packets known as lost, and the metrics of congestion control. Names
// are from qlog 0.3 for QUIC. A file of -perfetto has a process for each flow and each port: window,
// bytes in flight and round trip, the causes that hold a flow back, transfers, packets cut or lost;
// the queue of a port, and the packets marked and trimmed there. Both are written as the run goes on,
// with every event.
//
// SIGINT and SIGTERM end the run at hand, and the results until then are written and marked: in JSON
// and on the page of -html by a note, for the files of -pcap, -trace, -qlog and -perfetto by names
// ending in .partial. A file with the name asked for is always whole. A second signal ends the
// process.
//
// validate exits with 1 if a bar was missed or an experiment has a mistake. Otherwise the command
// exits with 1 if a transfer did not finish, a packet is unaccounted for, a claim of the scenario
// does not hold or a signal came, and with 2 if unable to run at all.
package main

import (
	"os"

	"github.com/uetcc/uetcc/bench/uetsim/sim"
)

func main() { os.Exit(sim.Main(os.Args[1:], sim.Baselines(), os.Stdout, os.Stderr)) }
