// SPDX-License-Identifier: Apache-2.0

package ses

// Flags are the flag bits of a request, at their places in the second byte.
type Flags uint8

const (
	FlagSOM Flags = 0x01 // first packet of the message
	FlagEOM Flags = 0x02 // last packet of the message
	FlagHD  Flags = 0x04 // header data present; not in the small form
	FlagRel Flags = 0x08 // relative addressing (JobID and PIDonFEP), otherwise absolute
	FlagIE  Flags = 0x10 // the initiator met an error on the message
	FlagDC  Flags = 0x20 // delivery complete requested

	flagsOnly = FlagSOM | FlagEOM // a message of one packet
	flagsMask = 0x3f
)

// Has reports whether all flags of set are set.
func (f Flags) Has(set Flags) bool { return f&set == set }

// String lists the flags set, as in "som,eom,rel", or "-".
func (f Flags) String() string { return string(f.appendText(nil)) }

var flagNames = [...]string{"som", "eom", "hd", "rel", "ie", "dc"}

func (f Flags) appendText(b []byte) []byte {
	start := len(b)
	for i, name := range flagNames {
		if f>>i&1 == 0 {
			continue
		}
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(b, name...)
	}
	if len(b) == start {
		b = append(b, '-')
	}
	return b
}
