package pdc

// A FastPath is a [Manager] with methods that are faster than the Manager's for the most
// frequent packets. Each declines any other packet, and has then changed nothing: the caller
// takes that one to the Manager's method.
//
//	Named, Take                         a request: Receive and Respond
//	ReceiveACK, TakeACK                 an acknowledgement: Receive
//	TransmitRun                         new packets: Transmit
//	NextSender, Upcoming                who would be next in Transmit
//	Exchange                            acknowledgements, and what they let go: Receive, Transmit
//	Lines, PacketLines, SubmitLines     nothing: they tell what memory a later call will read
//
// Single writer, that of the Manager.
type FastPath Manager

// Fast returns the faster methods of m.
func (m *Manager) Fast() *FastPath { return (*FastPath)(m) }
