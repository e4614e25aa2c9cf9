// Command uetsim runs congestion scenarios and workload files on a simulated
// fabric, with an uetcc.Endpoint at each host, and says what happened.
//
//	go run ./bench/uetsim                        the incast of figure 6-2, with and without NSCC
//	go run ./bench/uetsim -list                  all scenarios
//	go run ./bench/uetsim -scenario link
//	go run ./bench/uetsim -matrix FILE.cm [-topo FILE.topo] [-cc nscc,rccc,both,none,dctcp,cubic,swift,constant] [-json]
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
//	tcpdump -i any -U -w - | go run ./bench/uetsim decode -json -
//
// JSON has, for each run, the fields of fabric.Result, whose names end in their units.
//
// -goal reads the text and the binary form of GOAL schedules and tells when each rank has ended. A
// calculation keeps its CPU for its length, and operations that name another CPU go on beside it.
// Sends begin when they are ready; a message is received when its source knows that it is there,
// the event that starts what comes after in htsim's matrices too, or on arrival with -recv-done
// arrived. A send ends when its message is received, one of up to -eager bytes when it is there.
// What has no other side, and what waits for it, is listed and makes the exit status 1.
//
// -cc runs the same once for each of its words: the engine's own (nscc, rccc, both; observe computes
// and does not enforce; none sends all at once) and the baselines of ccc/baseline, which run alone.
// rccc is the receiver credit of EQDS in Ultra Ethernet's form. The command is a few lines around
// package sim, which runs any other algorithm as well.
//
// A transfer's held_us, and "held by" of -v, is how long its connection had data that it could
// not send, by what kept it back: the window, the receiver's credit, pacing or an algorithm.
//
// With -node endpoint, the default, a transfer is a write from memory to memory, whose bytes are
// moved and compared; transfers between the same hosts have PDCs of their own and a congestion
// control context in common. A host with one transfer each way takes some 140 KB, so it is good
// for thousands of them. With -node light the simulator's own transport drives real congestion
// control contexts, one for each transfer: for tens of thousands of hosts, and for -rules htsim,
// which imply it.
//
// What published experiments vary are flags: -queue, -ecn-min and -ecn-max take bytes, packets (50p)
// or bandwidth-delay products (0.2bdp), -tune the constants of NSCC; -h lists them. A fault of -fail
// is PLACE:WHAT@FROM or PLACE:WHAT@FROM-UNTIL, in microseconds: an uplink (leaf0.1), a switch
// (spine2) or a host's link (host5) is down, has a part of its rate (rate=0.25) or loses packets
// (loss=0.01). No switch knows of a dead link unless -reroute says after how long all of them do.
//
// validate runs the experiments of htsim's validation files by htsim's rules, some side by side, and
// prints the time of the last transfer and the bar of each, in their order. What it cannot run it
// names with file, line and reason. With -outside it says which of them htsim misses itself.
//
// Runs of one command, for each word of -cc and each seed, are made side by side on -workers
// goroutines, and a run of a fabric of 256 hosts or more uses several by itself: it is simulated
// in parts, by pod or by leaf, but with -fail, -routing, -infer-loss, -goal, -html, -qlog and
// -perfetto. All output is the same byte by byte for any number of workers.
//
// Where there are several runs, the file of -pcap, -trace, -qlog or -perfetto is that of the last
// one. Those of the others are kept beside it with the name of the run in front of the ending, as
// in FILE-nscc-seed-1.csv.
//
// The ideal time of a transfer is what it takes alone in the idle fabric. A point of a series is
// of one sample or more: when a line has a thousand points two become one, which keeps the least
// and the most of all its samples.
//
// A capture has the endpoints' own packets at the time at which each has reached its host. With
// -node light it shows what real ones would be: a PDC for each connection and a WRITE for each
// transfer. Its UDP lengths are the simulated sizes of data; Ethernet and IP come on top, and
// acknowledgements are longer than the 64 bytes simulated.
//
// A trace is CSV with a line for each event of a connection's congestion control. Sizes are
// bytes: cwnd is the window and max_cwnd its ceiling, waiting is unsent or to be sent again,
// credit is the receiver's. rtt_ns is the last round trip, queue_delay_ns what of it is above
// base_rtt_ns, average_delay_ns that filtered; action is what the window did last, held_by
// what keeps more from being sent.
//
// A page of -html compares all runs of the command: completion times, queues and marks of ports,
// window, bytes in flight, round trip and rate of flows, fairness, why flows waited, how busy links
// were, and the packets of the slowest flow. Of many flows it shows some, from the quickest to the
// slowest, and the middle of all. Steps of time keep the extremes of what was in them, so that each
// run adds 200 KB at most. The page needs no network, zooms by a drag (Escape takes it back), prints,
// and saves its pictures as SVG.
//
// A qlog has a group for each flow, which qvis shows as a connection: packets sent, with numbers from 0
// on, acknowledgements received, packets known as lost, and the metrics of congestion control. Names are
// those of qlog 0.3 for QUIC. A file of -perfetto has a process for each flow and each port: window,
// bytes in flight and round trip, what holds a flow back, its transfers, packets that were cut or lost;
// what waits at a port, and how many packets it has marked and trimmed. Both are written as the run
// goes on, with every event.
//
// SIGINT and SIGTERM end the run at hand, and what there is until then is written and marked:
// JSON and the page of -html say so, and the files of -pcap, -trace, -qlog and -perfetto get names that end in .partial. A
// file with the name that was asked for is always whole. A second signal ends the process.
//
// validate exits with 1 if a bar was missed or an experiment has a mistake. Otherwise the command
// exits with 1 if a transfer did not finish, a packet is unaccounted for, a claim of the
// scenario does not hold or a signal came, and with 2 if it could not run at all.
package main

import (
	"os"

	"github.com/uetcc/uetcc/bench/uetsim/sim"
)

func main() { os.Exit(sim.Main(os.Args[1:], sim.Baselines(), os.Stdout, os.Stderr)) }
