// SPDX-License-Identifier: Apache-2.0

package faultnet

import (
	"fmt"
	"strings"
)

// Fault is a kind of fault. Faults of the network come first; the rest are
// counted by the doer.
type Fault uint8

const (
	LoseData Fault = iota
	LoseSYN
	LoseACK
	LoseACKData // an acknowledgement with a response
	LoseNACK
	LoseControl
	Duplicate
	LongDelay // far beyond a timeout
	Overtaken // held back so that the next ones pass it
	Corrupt   // a byte flipped, and seen by the CRC
	Mangle    // a byte flipped past the CRC
	TrimData
	TrimSYN
	TrimACK    // an acknowledgement with a response
	Mark       // congestion experienced
	Blackhole  // one direction
	Partition  // everything from and to one place
	Replay     // a packet seen a while ago, again
	ReplayLate // one from longer ago than a packet may live
	ForgeNeverSent
	ForgeSACK
	ForgeLap
	ForgeClear
	ForgeNACK
	ForgeSource
	ForgeRange
	ForgeReserved
	ForgeAnswer
	ForgeStart // a SYN packet in another's name

	RestartPeer // a place loses all that it knows
	ClockJump
	ClockStill
	ClockEnd   // time near its largest value
	WrapStart  // a PSN space that begins next to 0 or 2^31
	ReuseID    // a PDCID that has been used before
	NoPDC      // the pool is used up
	NoStore    // the response store is used up
	NoSlot     // the layer above has no room
	NoMemory   // memory for what is sent is used up
	LateAnswer // the layer above takes its time
	Flood      // SYN packets out of nowhere
	Hostile    // any packet of a peer that lies
	Credit     // credit granted
	RUDI       // a RUDI packet
	RefuseRUDI // one refused for want of something
	AgainRUDI  // one executed again
	UUD        // a datagram
	GotUUD     // one that arrived
	NumFaults
)

var faultNames = [NumFaults]string{
	LoseData: "lose-data", LoseSYN: "lose-syn", LoseACK: "lose-ack", LoseACKData: "lose-ack-data",
	LoseNACK: "lose-nack", LoseControl: "lose-control", Duplicate: "duplicate", LongDelay: "long-delay",
	Overtaken: "overtaken", Corrupt: "corrupt", Mangle: "mangle", TrimData: "trim-data", TrimSYN: "trim-syn",
	TrimACK: "trim-ack", Mark: "mark", Blackhole: "blackhole", Partition: "partition", Replay: "replay",
	ReplayLate: "replay-late", ForgeNeverSent: "forge-never-sent", ForgeSACK: "forge-sack", ForgeLap: "forge-lap",
	ForgeClear: "forge-clear", ForgeNACK: "forge-nack", ForgeSource: "forge-source", ForgeRange: "forge-range",
	ForgeReserved: "forge-reserved", ForgeAnswer: "forge-answer", ForgeStart: "forge-start", RestartPeer: "restart", ClockJump: "clock-jump",
	ClockStill: "clock-still", ClockEnd: "clock-end", WrapStart: "wrap-start", ReuseID: "reuse-id",
	NoPDC: "no-pdc", NoStore: "no-store", NoSlot: "no-slot", NoMemory: "no-memory", LateAnswer: "late-answer",
	Flood: "flood", Hostile: "hostile", Credit: "credit", RUDI: "rudi", RefuseRUDI: "refuse-rudi",
	AgainRUDI: "again-rudi", UUD: "uud", GotUUD: "got-uud",
}

// String returns the fault in a word.
func (f Fault) String() string { return faultNames[f] }

// Counts says how often each fault was injected.
type Counts [NumFaults]uint64

// Add adds o to c.
func (c *Counts) Add(o *Counts) {
	for i, n := range o {
		c[i] += n
	}
}

// Missing returns the faults of want never injected.
func (c *Counts) Missing(want []Fault) (none []Fault) {
	for _, f := range want {
		if c[f] == 0 {
			none = append(none, f)
		}
	}
	return none
}

// String lists the counts, four in a line.
func (c *Counts) String() string {
	var s strings.Builder
	for f, n := range c {
		if fmt.Fprintf(&s, "%-17s%10d   ", Fault(f), n); f%4 == 3 {
			s.WriteByte('\n')
		}
	}
	return s.String()
}
