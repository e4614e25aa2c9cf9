// SPDX-License-Identifier: Apache-2.0

// Package frame reads and writes whole packets: Ethernet, IP and UDP or entropy header
// around the headers of packages pds and ses. A [Parser] takes packets apart, and
// [Frame.AppendTo] puts packets together.
//
// The endpoint of the root package does without, taking the data of a UDP socket.
// Package frame is for a NIC, a capture file or a dissector.
package frame
