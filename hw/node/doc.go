// SPDX-License-Identifier: Apache-2.0

// Package node is an endpoint that runs: package uetcc on a port, complete with memory, clock and
// goroutines.
//
//	n, err := node.Listen("192.0.2.1", node.Options{})
//	n.Expose(buffer)                                  // peers may read and write it: region 0
//	err = n.Write(ctx, peer, node.At{}, data)         // into region 0 of the peer, from its start
//
// Calls block until the operation ends, the context ends, or the peer is given up. [Node.Start]
// begins an [Op] that calls back instead. All of it is safe for any number of goroutines.
//
// Operations begun by callbacks at the same time are sent together. A goroutine blocking alone, in
// call after call, does the node's work meanwhile: packets between two such calls then wait for the
// next call, or half a millisecond.
//
// # Addresses
//
// A node's address without a port means UDP port 4793, UET's: all nodes of a network use the same
// port, the IP address alone tells nodes apart, and the source port of a packet names the path. On
// any other port nodes of IPv4, and nodes on the loopback address of IPv6, are told apart by address
// and port, so several live on a machine, with a single path. [Options.Paths] above 1 asks for UET's
// way on any port.
//
// # What may go wrong
//
// An error of an operation is an [*Error], with the peer and the reason. Operations under way to a
// restarting peer, or begun before its first answer, end with an error; later operations work
// again. Answers of the network (ICMP) end operations to a peer silent for a second; anybody can
// forge such answers, so a peer still heard is not affected. Only packets too long for the path end
// operations at once, and reads by the peer.
//
// Anybody who can reach the port may write to exposed memory: the node has no encryption and no
// authentication.
package node
