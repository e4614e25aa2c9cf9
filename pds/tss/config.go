// SPDX-License-Identifier: Apache-2.0

package tss

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/pds"
)

// A Mode selects the key that seals a packet. Nothing on the wire names the mode: all members of
// a domain are configured alike.
type Mode uint8

const (
	// ModeDirect: the key of the domain, held by all members. Identities must differ: only the
	// start of the nonce keeps the members' packets apart.
	ModeDirect Mode = iota

	// ModeCluster: a key derived for each sender from the domain's key, held by all members.
	ModeCluster

	// ModeServer: a key derived for each client from a key held by the server alone.
	ModeServer

	// ModeClient: the key derived by the server for the client and handed to the client. A
	// client can neither seal nor open a different client's packets.
	ModeClient
)

var modeNames = [...]string{"DIRECT", "CLUSTER", "SERVER", "CLIENT"}

// String returns the name of the mode.
func (m Mode) String() string { return enum.Name(modeNames[:], m) }

// Errors of [New], [Domain.Load] and [Domain.Use].
var (
	// ErrConfig is wrapped by every error of New and names the field.
	ErrConfig = errors.New("tss: invalid configuration")

	// ErrReuse: the key is loaded already, or was before, and has sealed packets with the counters asked for.
	ErrReuse = errors.New("tss: key and counter have been used")
)

// A Config describes a secure domain to a member.
type Config struct {
	SDI  uint32 // identifier, 24 bits
	Mode Mode

	// SSI: packets carry a source identifier of 32 bits, and packets without are refused. With
	// SSI off the IP source address identifies the sender; over IPv6 only ModeCluster allows SSI
	// off.
	SSI bool

	// Offset is the start of encryption: bytes from the start of the security header. 0 stands
	// for the header's length, so the whole PDS header is secret. A larger Offset leaves as much
	// of the PDS header in the clear, still authenticated.
	Offset int

	// RekeyMask and RekeyShift (rekey_mask, rekey_shift) choose the bits of the counter, at most 32, that enter the key
	// derivation of ModeCluster: (counter AND mask) >> shift. 0: none.
	RekeyMask  uint64
	RekeyShift uint8

	MaxEpochLifetime uint16 // how many epochs a received packet may be behind (0: 16)
	Keys             int    // most derived keys of senders kept, 1 to 65,536 (0: 256)
}

func (c *Config) fill() {
	c.MaxEpochLifetime = cmp.Or(c.MaxEpochLifetime, 16)
	c.Keys = cmp.Or(c.Keys, 256)
	c.Offset = cmp.Or(c.Offset, c.headerLen())
}

// headerLen is the length of the security header.
func (c *Config) headerLen() int {
	if c.SSI {
		return pds.TSSSSILen
	}
	return pds.TSSLen
}

func (c *Config) validate() error {
	if c.RekeyMask>>48 != 0 || c.RekeyMask>>c.RekeyShift>>32 != 0 {
		return fmt.Errorf("%w: RekeyMask is %#x with RekeyShift %d, want 48 bits of which 32 remain",
			ErrConfig, c.RekeyMask, c.RekeyShift)
	}
	return cmp.Or(
		check.Range(ErrConfig, "SDI", c.SDI, 0, 1<<24-1),
		check.Range(ErrConfig, "Mode", c.Mode, ModeDirect, ModeClient),
		check.Range(ErrConfig, "Offset", c.Offset, c.headerLen(), 1<<12),
		check.Range(ErrConfig, "Keys", c.Keys, 1, 1<<16),
	)
}

// A Key fills one of the two key slots of a domain.
type Key struct {
	Secret [32]byte // the domain's key; with ModeClient the client's own
	Mask   [12]byte // ModeClient: the mask that came with the key; else unused
	Epoch  uint16   // of packets sealed with the key

	// First and Limit are the first and the last counter for sealing, 48 bits. Limit 0 stands
	// for the largest. With ModeServer First 0 stands for 2^47, and with ModeClient Limit 0 for
	// 2^47 - 1: one key serves both directions. Several senders, queues or processes of the same
	// identity share a key by ranges without overlap.
	//
	// The package knows its own counters alone, so ranges set here are the caller's promise. With
	// SSI a First of ModeServer below 2^47, or a Limit of ModeClient from 2^47 on, lets both ends
	// seal with one key and one nonce: the secrecy of both packets and the key of the tag are then lost.
	// Against a reference provider, whose servers count from 0, give clients First 2^47 and the largest
	// Limit.
	First, Limit uint64
}

const (
	counters = 1 << 48 // of a key
	serverAt = 1 << 47 // first counter of a server
)

// limits fills in First and Limit, false if out of range.
func (k *Key) limits(m Mode) bool {
	last := uint64(counters - 1)
	switch m {
	case ModeServer:
		k.First = cmp.Or(k.First, serverAt)
	case ModeClient:
		last = serverAt - 1
	}
	k.Limit = cmp.Or(k.Limit, last)
	return k.First <= k.Limit && k.Limit < counters
}
