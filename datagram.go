package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// udpLen is the length of the UDP header, which counts to the nominal size.
const udpLen = 8

// A Datagram is one packet on its way in or out.
type Datagram struct {
	// Packet begins with the PDS header. Of a packet received it is all up to the
	// trailer. For a packet to send the capacity is room for the headers, at least
	// [HeaderMax] bytes, of a reply [Endpoint.ReplyMax], and what was written is all
	// there is but the payload.
	Packet []byte

	Src, Dst pdc.Addr

	// Size is the nominal size, bytes (see [pds.NominalSize]). 0 on the way in stands
	// for that of UET over UDP with this Packet.
	Size int64

	Entropy uint16       // out: the path: UDP source port, or entropy header
	TC      uint8        // out: traffic class
	CE      bool         // in: marked, congestion experienced
	Trimmed pds.NackCode // in: by what a switch has cut it, see [pds.DSCPs.TrimmedBy]; 0: it is whole
	Retx    bool         // out: was sent before
	State   pdc.AckState // in: what an acknowledgement of it says for congestion control, credit among it
	Payload Payload      // out: what follows Packet
}

// nominal is the nominal size of a packet received.
func (d *Datagram) nominal() int64 {
	if d.Size != 0 {
		return d.Size
	}
	return pds.NominalSize(udpLen + len(d.Packet))
}

// A Payload says which bytes the caller appends to a packet.
type Payload struct {
	Length  uint32   // bytes; 0: nothing follows
	Offset  uint32   // of the first byte within the message, or within what a read asked for
	Message Handle   // whose data it is; 0: read data for a peer
	Answer  AnswerID // with Message 0: for [Endpoint.Refuse], if the bytes cannot be had
	Cookie  uint64   // of the message, or of the region that is read
	Address uint64   // read data: the first byte's, in the numbers of the region
}
