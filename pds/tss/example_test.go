// SPDX-License-Identifier: Apache-2.0

package tss_test

import (
	"fmt"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/tss"
)

// Two members of a domain exchange an IPv4 packet. What lies between the security header and
// the tag is secret; addresses are authenticated.
func Example() {
	member := func() *tss.Domain {
		d, err := tss.New(tss.Config{SDI: 0xd0, Mode: tss.ModeCluster})
		if err != nil {
			panic(err)
		}
		if err := d.Load(0, tss.Key{Secret: [32]byte{1}, Epoch: 4}); err != nil { // from key management
			panic(err)
		}
		if err := d.Use(0); err != nil {
			panic(err)
		}
		return d
	}
	a, b := member(), member()

	header, tag := a.Overhead()
	text := "what a PDS header begins"
	ip := make([]byte, 20+pds.EntropyLen+header+len(text)+tag)
	copy(ip, []byte{0x45, 0, 0, byte(len(ip)), 0, 0, 0x40, 0, 64, pds.IPProtocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2})
	copy(ip[20+pds.EntropyLen+header:], text)

	fmt.Println(a.Seal(ip, 0))
	var h pds.TSS
	fmt.Println(b.Open(ip, &h), h)
	fmt.Printf("%s\n", ip[20+pds.EntropyLen+header:len(ip)-tag])
	// Output:
	// <nil>
	// <nil> TSS an=0 sdi=0xd0 epoch=4 tsc=0
	// what a PDS header begins
}
