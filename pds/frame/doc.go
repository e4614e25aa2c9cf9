// Package frame reads and writes whole packets: Ethernet, IP and UDP or entropy header
// around the headers of packages pds and ses. A [Parser] takes them apart, and
// [Frame.AppendTo] puts them together.
//
// The endpoint of the root package does without: it takes what a UDP socket gives. This
// package is for a NIC, a capture file or a dissector.
package frame
