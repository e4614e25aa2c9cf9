// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// udpLen is the length of the UDP header, part of the nominal size.
const udpLen = 8

// A Datagram is a packet on the way in or out. Fields marked in or out matter only on the way
// in or out.
type Datagram struct {
	// Packet begins with the PDS header. In: everything up to the trailer. Out: the headers;
	// the caller appends Payload. Data given to [Endpoint.Answer] is inside already. The
	// capacity must be at least [HeaderMax] bytes, for a reply [Endpoint.ReplyMax].
	Packet []byte

	Src, Dst pdc.Addr // of the source and destination fabric endpoints

	// Size is the nominal size, bytes (see [pds.NominalSize]). In: 0 stands for the size of
	// UET over UDP with Packet.
	Size int64

	Entropy uint16       // out: the path: UDP source port, or entropy header
	TC      uint8        // out: traffic class
	CE      bool         // in: marked, congestion experienced
	Trimmed pds.NackCode // in: the code of a switch's cut, see [pds.DSCPs.TrimmedBy]; 0: whole
	Retx    bool         // out: was sent before
	State   pdc.AckState // in: the host's part of the acknowledgement for congestion control; zero: nothing
	Payload Payload      // out: the bytes behind Packet
}

// nominal is the nominal size of a packet received.
func (d *Datagram) nominal() int64 {
	if d.Size != 0 {
		return d.Size
	}
	return pds.NominalSize(udpLen + len(d.Packet))
}

// A Payload names the bytes that the caller appends to a packet. With a Message the bytes are
// from Offset on in the data of the message with the given Cookie, without a Message at
// Address.
type Payload struct {
	Length  uint32     // bytes; 0: nothing follows
	Offset  uint32     // of the first byte within the message, or within the range of a read
	Message ses.Handle // the message with the data; 0: read data for a peer
	Answer  AnswerID   // if Message is 0: the id for [Endpoint.Refuse] when the bytes cannot be had
	Cookie  uint64     // of the message, or of the region being read
	Address uint64     // read data: the first byte's, in the numbers of the region
}
