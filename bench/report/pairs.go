// SPDX-License-Identifier: Apache-2.0

package main

import "path"

// A kind is the kind of a benchmark's rival.
type kind uint8

const (
	kindPeer  kind = iota // what a Go program could use instead, in bench/peers
	kindFloor             // the least code that does the job, in bench/peers
	kindOwn               // another benchmark of ours
)

// A rival is the second half of a comparison.
type rival struct {
	kind   kind
	name   string
	goal   float64 // largest ratio of our time to its time that is wanted; 0: none, the ratio is information
	unit   string  // which of its times, if not that of a packet or an iteration
	ofOurs string  // which of ours
	times  float64 // it stands for something that takes that many times as long; 0: for itself
	from   string  // last step of a name: both times are multiples of those of the benchmarks that end so
}

func peer(name string, goal float64) rival  { return rival{kind: kindPeer, name: name, goal: goal} }
func floor(name string, goal float64) rival { return rival{kind: kindFloor, name: name, goal: goal} }
func own(name string, goal float64) rival   { return rival{kind: kindOwn, name: name, goal: goal} }

// peerIn is a peer with several measurements at once.
func peerIn(unit, name string, goal float64) rival {
	return rival{kind: kindPeer, name: name, goal: goal, unit: unit}
}

// floorOf is a floor doing the work of so many packets at once.
func floorOf(packets int, name string, goal float64) rival {
	return rival{kind: kindFloor, name: name, goal: goal, times: 1 / float64(packets)}
}

// growthOnCores compares the growth of a time from one core to several with a floor's growth,
// the machine's share. Both are timed on each core in slices. The goal is to scale at least
// 0.9 times as well.
func growthOnCores(name string) rival {
	const unit = "quiet-ns/op"
	return rival{kind: kindFloor, name: name, goal: 1 / 0.9, unit: unit, ofOurs: unit, from: "cores=1"}
}

// start is the benchmark whose time is the unit for name's.
func (r *rival) start(name string) string { return path.Join(path.Dir(name), r.from) }

// A job is one benchmark of ours with rivals.
type job struct {
	what   string
	ours   string // name without "Benchmark"
	rivals []rival
}

// A chapter is a separate table. The jobs are measured in one of every so many rounds, since
// jobs of the later chapters take up to a second.
type chapter struct {
	title string
	every int
	jobs  []job
}

// chapters is everything compared, in the order of the output.
var chapters = []chapter{{"", 1, jobs}, {"Options of a source, 1 PDC", 3, sourceOptions}, {"The paths with every PDCID in use", 3, large}, {"The simulator", 6, simulator}}

// jobs are the functions and paths of the library. A job with a peer is in the
// picture.
var jobs = []job{
	{"decode an ACK_CC, 32 B", "PDSAckCC/op=decode", []rival{
		floor("Ack32/get/floor-fields", 1.5),
		peer("Ack32/get/binary.Decode", 0.05),
		peer("Ack32/get/flatbuffers", 1./6)}},
	{"encode an ACK_CC", "PDSAckCC/op=encode", []rival{
		floor("Ack32/put/floor-fields", 1.5),
		peer("Ack32/put/binary.Encode", 0),
		peer("Ack32/put/flatbuffers", 0)}},
	{"decode a request, PDS and SES, 60 B", "PDSRequest/op=decode/header=pds+ses", []rival{
		floor("Ack32/get/floor-fields", 2.5),
		peer("Frame/decode/google-gopacket-dlp/eth-ip4-udp", 0.25)}},
	{"decode the same through Packet, whatever it may be", "Packet/op=decode/layers=pds-ses", []rival{
		floor("Ack32/get/floor-fields", 2.5),
		peer("Frame/decode/google-gopacket-dlp/eth-ip4-udp", 0.25)}},
	{"decode a frame, Ethernet to ACK_CC, checked", "Packet/op=decode/layers=eth-ip4-udp-ack", []rival{
		floor("Frame/decode/floor/eth-ip4-udp-ack", 2),
		peer("Frame/decode/google-gopacket-dlp/eth-ip4-udp", 0.35),
		peer("Frame/decode/gopacket-dlp/eth-ip4-udp", 0.35),
		peer("Frame/decode/google-gopacket-lazy/eth-ip4-udp", 0),
		peer("Frame/decode/gvisor-views/eth-ip4-udp", 0.5)}},
	{"decode a frame, Ethernet to SES", "Packet/op=decode/layers=eth-ip4-udp-pds-ses", []rival{
		floor("Frame/decode/floor/eth-ip4-udp-ack", 2),
		floor("Frame/decode/floor/eth-ip4-udp-ses", 2), // the same 102 bytes, where the other reads 74
		peer("Frame/decode/google-gopacket-dlp/eth-ip4-udp", 0.35),
		peer("Frame/decode/gopacket-dlp/eth-ip4-udp", 0.35),
		peer("Frame/decode/gvisor-views/eth-ip4-udp", 0.5)}},
	{"encode a frame, Ethernet to ACK_CC", "Packet/op=encode/layers=eth-ip4-udp-ack", []rival{
		floor("Frame/encode/floor/eth-ip4-udp-ack", 0),
		peer("Frame/encode/google-gopacket/eth-ip4-udp", 0.15),
		peer("Frame/encode/gopacket/eth-ip4-udp", 0.15),
		peer("Frame/encode/gopacket-checksums/eth-ip4-udp", 0),
		peer("Frame/encode/gvisor/ip4-udp", 0.8)}},

	{"find a PDC by its id, 64k", "Keyed16/n=64k/hit/uetcc/g=1", []rival{
		floor("Keyed16/n=64k/hit/direct/g=1", 1.5),
		peer("Keyed16/n=64k/hit/pb/g=1", 0.5),
		peer("Keyed16/n=64k/hit/xsync/g=1", 0.5)}},
	{"find by a 40-byte key, 1k", "Keyed40/n=1k/uetcc/hit/g=1", []rival{
		floor("Keyed40/n=1k/floor/hit/g=1", 1.3),
		peer("Keyed40/n=1k/gomap/hit/g=1", 1.2),
		peer("Keyed40/n=1k/pb/hit/g=1", 0.5),
		peer("Keyed40/n=1k/xsync/hit/g=1", 0.45),
		peer("Keyed40/n=1k/syncmap/hit/g=1", 0.3)}},
	{"find by a 40-byte key, 64k", "Keyed40/n=64k/uetcc/hit/g=1", []rival{
		floor("Keyed40/n=64k/floor/hit/g=1", 1.3),
		peer("Keyed40/n=64k/gomap/hit/g=1", 1.2),
		peer("Keyed40/n=64k/pb/hit/g=1", 0.5),
		peer("Keyed40/n=64k/xsync/hit/g=1", 0.45),
		peer("Keyed40/n=64k/syncmap/hit/g=1", 0.3)}},
	// The goals are for tables; here the key is made of two netip addresses first, and the
	// found PDC is checked for life.
	{"find the PDC of a SYN packet by its addresses, 1k", "Typed/n=1k/pdc.Target", []rival{
		own("Keyed40/n=1k/uetcc/hit/g=1", 0),
		peer("Keyed40/n=1k/xsync/hit/g=1", 0)}},
	{"find the PDC of a SYN packet by its addresses, 64k", "Typed/n=64k/pdc.Target", []rival{
		own("Keyed40/n=64k/uetcc/hit/g=1", 0),
		peer("Keyed40/n=64k/xsync/hit/g=1", 0)}},
	{"find by a 40-byte key, 64k, beside a writer that never pauses", "Keyed40Writer/n=64k/uetcc/hit/g=1+w", []rival{
		own("Keyed40Writer/n=64k/uetcc/hit/g=1", 1.7),
		peer("Keyed40/n=64k/rwmutex/hit/g=1+w", 0)}},
	{"find by a 40-byte key, 1k, all cores", "Keyed40/n=1k/uetcc/hit/g=2", []rival{
		own("Keyed40/n=1k/uetcc/hit/g=1", 0.55),
		floor("Keyed40/n=1k/floor/hit/g=2", 0)}},
	{"find by a 40-byte key, 64k, all cores", "Keyed40/n=64k/uetcc/hit/g=2", []rival{
		own("Keyed40/n=64k/uetcc/hit/g=1", 0.55),
		floor("Keyed40/n=64k/floor/hit/g=2", 0)}},
	{"find by a 40-byte key, 1k, on each of two cores", "Keyed40Cores/n=1k/uetcc/cores=2", []rival{
		floor("Keyed40Cores/n=1k/floor/cores=2", 0),
		growthOnCores("Keyed40Cores/n=1k/floor/cores=2")}},
	{"find by a 40-byte key, 64k, on each of two cores", "Keyed40Cores/n=64k/uetcc/cores=2", []rival{
		floor("Keyed40Cores/n=64k/floor/cores=2", 0),
		growthOnCores("Keyed40Cores/n=64k/floor/cores=2")}},
	{"find a PDC by its id, 64k, on each of two cores", "Keyed16Cores/n=64k/uetcc/cores=2", []rival{
		floor("Keyed16Cores/n=64k/direct/cores=2", 0),
		growthOnCores("Keyed16Cores/n=64k/direct/cores=2")}},
	{"insert and remove, 64k", "Keyed40Writer/n=64k/uetcc/churn/g=1", []rival{
		own("Keyed40Writer/n=1k/uetcc/churn/g=1", 0),
		peer("Keyed40/n=64k/xsync/churn/g=1", 1.2)}},

	{"NSCC takes in an ACK, 1 context", "NSCCOnACK/mix=mixed/contexts=1", []rival{
		floor("WindowShape/mixed/1-context", 1.45)}},
	{"NSCC takes in an ACK, 1k contexts", "NSCCOnACK/mix=mixed/contexts=1024", []rival{
		floor("WindowShape/mixed/1k-contexts", 1.3)}},
	{"NSCC takes in an ACK, 64k contexts", "NSCCOnACK/mix=mixed/contexts=65536", []rival{
		floor("WindowShape/mixed/64k-contexts", 1.5)}},
	{"NSCC, only the proportional branch", "NSCCOnACKBranch/action=proportional", []rival{
		own("NSCCOnACK/mix=mixed/contexts=1", 2)}},
	{"NSCC, only the fast branch", "NSCCOnACKBranch/action=fast", []rival{
		own("NSCCOnACK/mix=mixed/contexts=1", 2)}},
	{"NSCC, only the fair branch", "NSCCOnACKBranch/action=fair", []rival{
		own("NSCCOnACK/mix=mixed/contexts=1", 2)}},
	{"NSCC, only the decrease", "NSCCOnACKBranch/action=decrease", []rival{
		own("NSCCOnACK/mix=mixed/contexts=1", 2)}},
	{"NSCC, only quick adapt", "NSCCOnACKBranch/action=quickadapt", []rival{
		own("NSCCOnACK/mix=mixed/contexts=1", 2)}},
	{"NSCC, only the destination's penalty", "NSCCOnACKBranch/action=penalty", []rival{
		own("NSCCOnACK/mix=mixed/contexts=1", 2)}},
	{"a context takes in an ACK, 1k", "CCCOnACK/by=context/contexts=1024", []rival{
		own("CCCOnACK/by=window/contexts=1024", 0),
		floor("WindowShape/mixed/1k-contexts", 0)}},
	{"a manager sends and takes in an ACK, 64k, 32 prefetched", "CCCOnACK/by=manager+send/prefetch=32/contexts=65536", []rival{
		own("CCCOnACK/by=manager+send/contexts=65536", 0.65)}},

	{"grant credit, pull policy, 1k senders", "Grant/policy=pull/n=1024", []rival{
		floor("Grant/n=1024/floor-rr", 1.5),
		peer("Grant/n=1024/xtime-rate", 0),
		peer("Grant/n=1024/container-heap-wfq", 0)}},
	{"grant credit, slice policy, 1k senders", "Grant/policy=slice/n=1024", []rival{
		floor("Grant/n=1024/floor-rr", 1.5)}},
	{"grant credit, pull policy, 64k senders", "Grant/policy=pull/n=65535", []rival{
		own("Grant/policy=pull/n=64", 1.7)}},

	{"accept a PSN and write the SACK, in order", "RecvWindow/op=accept+sack/order=inorder", []rival{
		floor("Receive/inorder/floor-ring+sack", 1.5),
		peer("Receive/inorder/wireguard-replay", 3),
		peer("Receive/inorder/pion-replaydetector", 0.25),
		peer("Receive/inorder/roaring", 0.2),
		peer("Receive/inorder/gomap", 0)}},
	{"accept a PSN and write the SACK, sprayed", "RecvWindow/op=accept+sack/order=spray", []rival{
		floor("Receive/spray/floor-ring+sack", 1.5),
		peer("Receive/spray/wireguard-replay", 3),
		peer("Receive/spray/pion-replaydetector", 0.25),
		peer("Receive/spray/roaring", 0.2)}},
	{"accept a PSN and write the SACK, 1 of 64 late", "RecvWindow/op=accept+sack/order=gap1of64", []rival{
		floor("Receive/gap1of64/floor-ring+sack", 1.5),
		peer("Receive/gap1of64/wireguard-replay", 3),
		peer("Receive/gap1of64/pion-replaydetector", 0.25),
		peer("Receive/gap1of64/roaring", 0.2)}},

	{"arm and cancel a time-out, 64k pending", "TimerWheel/op=arm+cancel/pending=65536", []rival{
		floor("ArmCancel/pending=65536/floor-wheel", 2),
		peer("ArmCancel/pending=65536/time.Timer.Reset", 0.2)}},
	{"reserve and give back, one core", "CCCGate/op=reserve+giveback/alone", []rival{
		floor("Admit/floor-cas/alone", 0),
		peer("Admit/mutex/alone", 0),
		peer("Admit/semaphore/alone", 0)}},
	{"reserve and give back, all cores on one context", "CCCGate/op=reserve+giveback/parallel", []rival{
		floor("Admit/floor-cas/parallel", 0),
		peer("Admit/mutex/parallel", 0),
		peer("Admit/semaphore/parallel", 0)}},
	{"merge a SACK of 64 bits at the source", "SendWindow/op=merge/new=2", []rival{
		floor("Sender/floor-merge-64-packets", 2),
		peer("Sender/gvisor-scoreboard-insert", 0.05)}},
	{"source path: an ACK in, a packet out, 1 PDC", "SourcePath/pdcs=1/packets-per-ack=1/signals=clean/batch=1", []rival{
		floor("FloorPath/pdcs=1/send+source", 1.5),
		peerIn("ns/seg-ack+send", "KCP", 0.15)}},
	{"source path, 1 PDC, 32 ACKs at a time", "SourcePath/pdcs=1/packets-per-ack=1/signals=clean/batch=32", []rival{
		floor("FloorPath/pdcs=1/send+source", 1.5),
		own("SourcePath/pdcs=1/packets-per-ack=1/signals=clean/batch=1", 0)}},
	{"source path, 1k PDCs", "SourcePath/pdcs=1024/packets-per-ack=1/signals=clean/batch=1", []rival{
		floor("FloorPath/pdcs=1024/send+source", 1.5)}},
	{"source path, 1k PDCs, 32 ACKs at a time", "SourcePath/pdcs=1024/packets-per-ack=1/signals=clean/batch=32", []rival{
		floor("FloorPath/pdcs=1024/send+source", 0),
		own("SourcePath/pdcs=1024/packets-per-ack=1/signals=clean/batch=1", 0.7)}},
	{"source path, 1 PDC, SACK bits in the ACKs", "SACKPath/pdcs=1/batch=1", []rival{
		floor("FloorPath/pdcs=1/send+source", 1.8)}},
	{"source path, 1k PDCs, SACK bits in the ACKs", "SACKPath/pdcs=1024/batch=1", []rival{
		floor("FloorPath/pdcs=1024/send+source", 1.8),
		own("SourcePath/pdcs=1024/packets-per-ack=1/signals=clean/batch=1", 0)}},
	{"source path, 1k PDCs, default RTO and Tick in the loop, 32 ACKs at a time", "SourceTick/pdcs=1024", []rival{
		own("SourcePath/pdcs=1024/packets-per-ack=1/signals=clean/batch=32", 1.05)}},
	{"source path, 1k PDCs, marked, late and trimmed packets", "SourcePath/pdcs=1024/packets-per-ack=1/signals=mixed/batch=1", []rival{
		own("SourcePath/pdcs=1024/packets-per-ack=1/signals=clean/batch=1", 0)}},
	{"source path, 1k PDCs, an ACK for four packets", "SourcePath/pdcs=1024/packets-per-ack=4/signals=clean/batch=1", []rival{
		floorOf(4, "FloorPath/pdcs=1024/send-of-4+source", 1.5)}},
	{"source path, 1k PDCs, on one core", "SourcePathCores/cores=1", []rival{
		floor("FloorPathCores/cores=1", 0)}},
	{"source path, 1k PDCs, on each of two cores", "SourcePathCores/cores=2", []rival{
		floor("FloorPathCores/cores=2", 0),
		growthOnCores("FloorPathCores/cores=2"),
		own("SourcePathCores/cores=1", 0)}},
	{"source's receive step: an ACK in, 1 PDC", "SourceReceive/pdcs=1/batch=1", []rival{
		floor("FloorPath/pdcs=1/source", 2)}},
	{"source's receive step, 1k PDCs", "SourceReceive/pdcs=1024/batch=1", []rival{
		floor("FloorPath/pdcs=1024/source", 2)}},
	{"send path, 1 PDC, an ACK for 32 packets", "SendPath/pdcs=1", []rival{
		floor("FloorPath/pdcs=1/send", 2),
		peerIn("ns/seg-queue", "KCP", 1)}},
	{"send path, 1k PDCs", "SendPath/pdcs=1024", []rival{
		floor("FloorPath/pdcs=1024/send", 2)}},
	{"target path: a request in, an ACK out, 1 PDC", "TargetPath/pdcs=1/packets-per-ack=1/batch=1", []rival{
		floor("FloorPath/pdcs=1/target", 1.5),
		peerIn("ns/seg-receive", "KCP", 0.15),
		peer("GVisorUDPReceive/32B", 0.03)}},
	{"target path, 1k PDCs", "TargetPath/pdcs=1024/packets-per-ack=1/batch=1", []rival{
		floor("FloorPath/pdcs=1024/target", 1.5)}},
	{"target path, 1k PDCs, an ACK for four packets", "TargetPath/pdcs=1024/packets-per-ack=4/batch=1", []rival{
		floor("FloorPath/pdcs=1024/target-of-4", 1.5)}},
	{"target path, 1k PDCs, packets out of order", "TargetSpray/pdcs=1024", []rival{
		floor("FloorPath/pdcs=1024/target", 2)}},
	{"grant path: a request in, the credit due out, 1k senders", "GrantPath/senders=1024/batch=1", []rival{
		own("GrantPath/senders=64/batch=1", 0)}},
	{"a write of 64 B, from the call to the completion, 1 PDC", "Message/size=64/pdcs=1", []rival{
		own("SourcePath/pdcs=1/packets-per-ack=1/signals=clean/batch=32", 0)}},
	{"a write of 4 KiB, 1 PDC", "Message/size=4096/pdcs=1", []rival{
		own("Message/size=64/pdcs=1", 0)}},
	{"a write of 64 KiB, 1 PDC", "Message/size=65536/pdcs=1", []rival{
		own("Message/size=64/pdcs=1", 0)}},
	{"reserve and give back, contexts of one's own, on each of two cores", "CCCCores/op=reserve+giveback/cores=2", []rival{
		floor("AdmitCores/floor-cas/cores=2", 0),
		growthOnCores("AdmitCores/floor-cas/cores=2")}},
	{"a context takes in an ACK, 1k of one's own, on each of two cores", "CCCCores/op=ack/cores=2", []rival{
		floor("WindowShapeCores/cores=2", 0),
		growthOnCores("WindowShapeCores/cores=2")}},
	// The goals are for batches: alone the two atomic operations of an event, without a
	// second core, take longer than a quarter of xsync's time.
	{"hand an event to the owner of a manager on another core, one by one", "HandOver/by=post", []rival{
		floor("Hop/stream/floor-spsc-by-32", 0),
		peer("Hop/stream/xsync-mpmc", 0),
		peer("Hop/stream/chan-128", 0)}},
	{"hand an event to the owner of a manager on another core, 32 at once", "HandOver/by=post-by-32", []rival{
		own("HandOver/by=post", 0),
		floor("Hop/stream/floor-spsc-32B-by-32", 0),
		floor("Hop/stream/floor-spsc-by-32", 1.5),
		peer("Hop/stream/xsync-mpmc", 0.25),
		peer("Hop/stream/chan-128", 0.2)}},
	{"hand an event of 32 bytes to another core through a device's ring, 32 at once", "HandOver/by=ring-by-32", []rival{
		own("HandOver/by=ring", 0),
		floor("Hop/stream/floor-spsc-32B-by-32", 0),
		floor("Hop/stream/floor-spsc-by-32", 1.5),
		peer("Hop/stream/xsync-mpmc", 0.25),
		peer("Hop/stream/chan-128", 0.2)}},
	{"next event of the simulator, 1k pending", "EventQueueHold/n=1024", []rival{
		peer("Hold/n=1024/container-heap", 0)}},
}

// sourceOptions are the costs of changing one option of a source.
var sourceOptions = func() (all []job) {
	for _, o := range []struct {
		name string
		goal float64
	}{{"inferloss", 1.3}, {"reps", 1.3}, {"bitmap", 1.3}, {"growonlyfull", 1.3}, {"algorithm", 1.6}, {"observe", 1.3}, {"rod", 1.3}, {"readdata", 1.3}, {"rccc", 2}} {
		for _, batch := range []string{"/batch=1", "/batch=32"} {
			all = append(all, job{o.name + batch, "Option/" + o.name + batch, []rival{own("Option/default"+batch, o.goal)}})
		}
	}
	return all
}()

// large is the paths through contexts no cache holds.
var large = []job{
	{"source path, every PDCID", "SourcePath/pdcs=65534/packets-per-ack=1/signals=clean/batch=1", []rival{
		floor("FloorPath/pdcs=65536/send+source", 2)}},
	{"source path, every PDCID, 32 ACKs at a time", "SourcePath/pdcs=65534/packets-per-ack=1/signals=clean/batch=32", []rival{
		floor("FloorPath/pdcs=65536/send+source-by-32", 1.5),
		own("SourcePath/pdcs=65534/packets-per-ack=1/signals=clean/batch=1", 0.65)}},
	{"source path, every PDCID, 32 ACKs for four packets at a time", "SourcePath/pdcs=65534/packets-per-ack=4/signals=clean/batch=32", []rival{
		floorOf(4, "FloorPath/pdcs=65536/send-of-4+source-by-32", 1.5)}},
	{"source path, every PDCID, SACK bits in the ACKs, 32 at a time", "SACKPath/pdcs=65534/batch=32", []rival{
		floor("FloorPath/pdcs=65536/send+source-by-32", 1.8)}},
	{"source path, every PDCID, default RTO and Tick in the loop, 32 ACKs at a time", "SourceTick/pdcs=65534", []rival{
		own("SourcePath/pdcs=65534/packets-per-ack=1/signals=clean/batch=32", 1.05)}},
	{"a write of 64 B, from the call to the completion, every PDCID", "Message/size=64/pdcs=65534", []rival{
		own("Message/size=64/pdcs=1", 0)}},
	{"grant path, 64k senders", "GrantPath/senders=65534/batch=1", []rival{
		own("GrantPath/senders=1024/batch=1", 2)}},
	{"grant path, 64k senders, 32 requests at a time", "GrantPath/senders=65534/batch=32", []rival{
		own("GrantPath/senders=1024/batch=32", 2)}},
	{"source's receive step, every PDCID", "SourceReceive/pdcs=65534/batch=1", []rival{
		floor("FloorPath/pdcs=65536/source", 2)}},
	{"source's receive step, every PDCID, 32 ACKs at a time", "SourceReceive/pdcs=65534/batch=32", []rival{
		floor("FloorPath/pdcs=65536/source-by-32", 2),
		own("SourceReceive/pdcs=65534/batch=1", 0.65)}},
	{"target path, every PDCID", "TargetPath/pdcs=65534/packets-per-ack=1/batch=1", []rival{
		floor("FloorPath/pdcs=65536/target", 2)}},
	{"target path, every PDCID, 32 requests at a time", "TargetPath/pdcs=65534/packets-per-ack=1/batch=32", []rival{
		floor("FloorPath/pdcs=65536/target-by-32", 1.5),
		own("TargetPath/pdcs=65534/packets-per-ack=1/batch=1", 0.65)}},
}
