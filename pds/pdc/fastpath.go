package pdc

// A FastPath is a [Manager] seen by the ways that are faster for the packets that nearly all
// are. Each declines the others, and has then changed nothing: those go the general way, so
// that who takes a fast path needs both.
//
//	Expect, Named, Await, Take          a request: Receive and Respond
//	ReceiveACK, TakeACK                 an acknowledgement: Receive
//	TransmitNext, TransmitRun           new packets: Transmit
//	OnlySender, Upcoming                who would be next in Transmit
//	Exchange                            acknowledgements, and what they let go: Receive, Transmit
//	Lines, PacketLines, SubmitLines     nothing: they tell where a later call will read
//
// Single writer, that of the Manager.
type FastPath Manager

// Fast returns the faster ways of m.
func (m *Manager) Fast() *FastPath { return (*FastPath)(m) }
