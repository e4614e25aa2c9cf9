// Package node is an endpoint that runs: package uetcc on a port, with memory, a clock and goroutines of its own.
//
//	n, err := node.Listen("192.0.2.1", node.Options{})
//	n.Expose(buffer)                                  // peers may read and write it: region 0
//	err = n.Write(ctx, peer, node.At{}, data)         // into region 0 of the peer, from its start
//
// Calls block until the operation is over, the context is, or the peer is given up. [Node.Start] begins an [Op] that
// calls back instead. All of it is safe for any number of goroutines.
//
// What a callback begins is sent together with what others begin at the same time. A goroutine that blocks alone, in one call
// after the other, does the node's work meanwhile: then nobody looks at what comes between two of its calls, or for half a
// millisecond.
//
// # Addresses
//
// A node without a port in its address is at UDP port 4793, which is UET's: all nodes of a network have one port, the
// IP address alone tells them apart, and the source port of a packet names its path. On any other port nodes of IPv4, and
// those on the loopback address of IPv6, are told apart by address and port, so that several live on one machine, and
// have one path. [Options.Paths] above 1 asks for UET's way on any port.
//
// # What may go wrong
//
// An error of an operation is an [*Error], which names the peer and says why. A peer that starts again loses what was
// under way to it, as an error, and takes part anew. What the network answers (ICMP) ends operations to a peer that is
// silent for a second; anybody can forge such answers, so they do nothing to one that is heard.
//
// Whoever can reach the port may write to what is exposed: there is no encryption and no authentication here.
package node
