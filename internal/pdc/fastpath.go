// SPDX-License-Identifier: Apache-2.0

package pdc

// A FastPath is a [Manager] with faster methods for the most frequent packets. Each declines
// any other packet, without a change: the caller takes such a packet to the Manager's
// method.
//
//	Named, MayAnswer, Take              a request: Receive and Respond
//	ReceiveACK                          an acknowledgement: Receive
//	TransmitRun                         new packets: Transmit
//	NextSender, Upcoming                who would be next in Transmit
//	Exchange                            acknowledgements, and what they let go: Receive, Transmit
//	Joins, Usable                       a message on a known PDC: Open
//	Ends                                how to send to a PDC's peer: PDC
//	Room, SubmitBatch                   messages of one packet: Begin, SubmitRun
//	Lines and the like                  nothing: they tell what memory a later call will read
//
// Single writer, the Manager's.
type FastPath Manager

// Fast returns the faster methods of m.
func (m *Manager) Fast() *FastPath { return (*FastPath)(m) }
