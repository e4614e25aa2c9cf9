// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"slices"

	"github.com/uetcc/uetcc/pds"
)

// A Sealer secures whole IP packets in native form, in place: a Domain of package pds/tss.
type Sealer interface {
	// Overhead returns the lengths of security header and tag.
	Overhead() (header, tag int)

	// Seal secures ip, with room inside for header and tag, under the source identifier ssi.
	Seal(ip []byte, ssi uint32) error
}

// An Opener opens whole IP packets in native form, in place: a Domain of package pds/tss.
type Opener interface {
	// Open sets h to the security header of ip. With an error h is unchanged.
	Open(ip []byte, h *pds.TSS) error
}

// Seal is [Frame.Wrap] for a secured frame, necessarily Native: the security header stands
// before packet, the tag behind payload, without CRC. The error is the sealer's; b is then
// returned unchanged.
func (f *Frame) Seal(b, packet, payload []byte, s Sealer, ssi uint32) ([]byte, error) {
	at := len(b)
	header, tag := s.Overhead()
	all := f.room(b)
	from := len(all)
	all = append(slices.Grow(all, header+len(packet)+len(payload)+tag)[:from+header], packet...)
	(&pds.TSS{SP: header == pds.TSSSSILen}).AppendTo(all[:from]) // so that no CRC is expected
	all = append(all, payload...)
	n := len(all)
	all = all[:n+tag]
	clear(all[n:])
	all = f.enclose(all, at, nil)
	if err := s.Seal(all[at+etherLen:], ssi); err != nil {
		return b[:at], err
	}
	return all, nil
}

// open opens the IP packet ip, whose PDS header would begin at offset at in the caller's
// buffer, and reads the contents.
func (ps *Parser) open(ip []byte, at, skip int, f *Frame) error {
	was := f.TSS
	if err := ps.Opener.Open(ip, &f.TSS); err != nil {
		return err
	}
	plain := Parser{Port: ps.Port, Protocol: ps.Protocol, DSCPs: ps.DSCPs}
	n := f.TSS.Len()
	if err := plain.decode(ip[skip+n:len(ip)-pds.TSSTagLen], at+n, &f.Packet); err != nil {
		f.TSS = was
		return err
	}
	return nil
}
