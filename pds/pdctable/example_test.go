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
