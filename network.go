// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"cmp"

	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/nscc"
)

// Network is the kind of network between the peers. A Network sets all related zero fields of a
// [Config] together.
type Network uint8

// The networks.
const (
	// NetworkUnknown is any network: unmeasured, maybe dropping, maybe marking. Windows
	// start with two or three packets and follow [nscc.ProfileAdaptive], and losses are inferred. Where
	// CC.NSCC.BaseRTT is 0, the first round trip is taken.
	NetworkUnknown Network = iota

	// NetworkLossy is Ethernet that drops and marks, with the base round trip configured or the
	// default: NetworkUnknown for the rest.
	NetworkLossy

	// NetworkTrimming is a fabric whose switches trim, with the specification's parameters:
	// windows start full ([nscc.ProfileSpec]), and losses are not inferred. CC.NSCC.Trimming
	// asks for the same.
	NetworkTrimming
)

var networkNames = [...]string{"unknown", "lossy", "trimming"}

// String is unknown, lossy or trimming.
func (n Network) String() string { return enum.Name(networkNames[:], n) }

// fillNetwork sets the fields that depend on the network.
func (c *Config) fillNetwork() {
	n := &c.CC.NSCC
	if n.Trimming && c.Network == NetworkUnknown {
		c.Network = NetworkTrimming
	}
	if c.Network == NetworkTrimming {
		n.Trimming = true
		n.Profile = cmp.Or(n.Profile, nscc.ProfileSpec)
		return
	}
	n.Profile = cmp.Or(n.Profile, nscc.ProfileAdaptive)
	n.Unmeasured = n.Unmeasured || c.Network == NetworkUnknown && n.BaseRTT == 0
	c.PDS.InferLoss = true
}
