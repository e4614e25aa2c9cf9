// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/pds"
)

// ErrConfig is wrapped by the errors of an address or of Options.
var ErrConfig = errors.New("node: invalid configuration")

// Options configure a node. The zero value is right for most.
type Options struct {
	// MTU is the payload of a full packet, bytes: 1024, 2048, 4096 or 8192. 0: the largest the link
	// of the address takes.
	MTU int

	// Shards is the number of endpoints that share the work, each with a goroutine (default 1); Linux
	// only. A peer belongs to a single shard. The limits of the remaining fields apply to each shard.
	Shards int

	// Paths is how many UDP source ports packets leave from, a power of two up to 256 (default 4 on port 4793, else 1).
	Paths int

	Operations int // most under way in a shard, up to 65,534 (default 1024); more wait in turn
	Peers      int // with whom something is under way at a time, up to 65,535 (default 1024)
	Regions    int // most regions of Expose, up to 65,536 (default 64)
	Receives   int // Recvs under way, up to 65,536 (default 1024)
	Buffer     int // queue of a socket in each direction, bytes (default 8 MiB)

	// Port, if not nil, carries the packets in place of UDP sockets, for a single shard. Close closes
	// the Port.
	Port port.Port

	// Endpoint, if not nil, has the last word about the configuration of each shard's endpoint.
	Endpoint func(*uetcc.Config)
}

func (o *Options) fill(local netip.AddrPort) {
	o.Shards = cmp.Or(o.Shards, 1)
	if o.Paths == 0 {
		o.Paths = 1
		if local.Port() == pds.UDPPort {
			o.Paths = 4
		}
	}
	o.Operations = cmp.Or(o.Operations, 1024)
	o.Peers = cmp.Or(o.Peers, 1024)
	o.Regions = cmp.Or(o.Regions, 64)
	o.Receives = cmp.Or(o.Receives, 1024)
}

func (o *Options) check() error {
	if o.Port != nil && o.Shards > 1 {
		return fmt.Errorf("%w: a Port has one shard, Shards is %d", ErrConfig, o.Shards)
	}
	if o.Paths&(o.Paths-1) != 0 {
		return fmt.Errorf("%w: Paths is %d, want a power of two", ErrConfig, o.Paths)
	}
	if !slices.Contains([]int{0, 1024, 2048, 4096, 8192}, o.MTU) {
		return fmt.Errorf("%w: MTU is %d, want 1024, 2048, 4096 or 8192 bytes", ErrConfig, o.MTU)
	}
	return cmp.Or(
		check.Range(ErrConfig, "Shards", o.Shards, 1, 256),
		check.Range(ErrConfig, "Paths", o.Paths, 1, 256),
		check.Range(ErrConfig, "Operations", o.Operations, 1, 65534),
		check.Range(ErrConfig, "Peers", o.Peers, 1, 65534),
		check.Range(ErrConfig, "Regions", o.Regions, 1, 65536),
		check.Range(ErrConfig, "Receives", o.Receives, 1, 65536),
	)
}

// headers is the bytes of a packet without payload: IP, UDP, and the endpoint's headers.
const headers = 40 + 8 + uetcc.HeaderMax

// mtuFor is the largest payload of a full packet on a link, 1024 if not known.
func mtuFor(link int) uint32 {
	mtu := uint32(1024)
	for 2*mtu <= 8192 && int(2*mtu)+headers <= link {
		mtu *= 2
	}
	return mtu
}
