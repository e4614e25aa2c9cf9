// SPDX-License-Identifier: Apache-2.0

package pdctable_test

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/pds/pdctable"
)

// A target finds the PDC of each packet: by the key of SYN packets, by the PDCID
// afterwards. After the close, late SYN packets meet the quarantine.
func ExampleTable() {
	t, err := pdctable.New(pdc.TableConfig{General: 16, FirstID: 1, Quarantine: 2_000_000_000})
	if err != nil {
		panic(err)
	}
	source, local := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	key := pdc.TargetKey{Source: source, Destination: local, SPDCID: 7}

	h, opened, err := t.OpenTarget(0, &key, false)
	fmt.Println("SYN packet: PDCID", h.ID(), opened, err)
	again, opened, err := t.OpenTarget(0, &key, false)
	fmt.Println("SYN packet again:", again == h, opened, err)
	found, err := t.Match(h.ID(), source, 7)
	fmt.Println("later packet:", found == h, err)
	_, err = t.Match(h.ID(), netip.MustParseAddr("10.0.0.66"), 7)
	fmt.Println("of a stranger:", errors.Is(err, pdc.ErrPeer))

	if err := t.Release(1_000_000, h); err != nil {
		panic(err)
	}
	fmt.Println("at rest:", t.Stats().General.Resting)
	_, err = t.Target(&key)
	fmt.Println("late SYN packet:", errors.Is(err, pdc.ErrResting))
	// Output:
	// SYN packet: PDCID 1 true <nil>
	// SYN packet again: true false <nil>
	// later packet: true <nil>
	// of a stranger: true
	// at rest: 1
	// late SYN packet: true
}

// An initiator finds the PDC of each message by the key, and learns the peer's PDCID from the first answer. The closing
// PDC takes no new message, but packets still find the PDC.
func ExampleTable_OpenInitiator() {
	t, err := pdctable.New(pdc.TableConfig{General: 16, FirstID: 1, Quarantine: 2_000_000_000})
	if err != nil {
		panic(err)
	}
	local, peer := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	key := pdc.InitiatorKey{Source: local, Destination: peer}

	h, opened, err := t.OpenInitiator(0, &key)
	fmt.Println("first message: PDCID", h.ID(), opened, err)
	fmt.Println("next message:", t.Initiator(&key) == h, t.ByID(h.ID()) == h)
	fmt.Println("first answer:", t.Learn(h, 9), "another PDCID:", t.Learn(h, 10))

	fmt.Println("closing:", t.Retire(h), "for messages:", t.Initiator(&key) == h, "live:", t.Live(h))
	found, err := t.Match(h.ID(), peer, 9)
	fmt.Println("packet of the peer:", found == h, err)

	if err := t.Release(1_000_000, h); err != nil {
		panic(err)
	}
	at, _ := t.NextReap()
	fmt.Println("closed, live:", t.Live(h), "the id is free again at", at, "ns:", t.Reap(at-1, 16), t.Reap(at, 16))
	for h := range t.All() {
		fmt.Println("left over:", h)
	}
	// Output:
	// first message: PDCID 1 true <nil>
	// next message: true true
	// first answer: true another PDCID: false
	// closing: true for messages: false live: true
	// packet of the peer: true <nil>
	// closed, live: false the id is free again at 2001000000 ns: 0 1
}
