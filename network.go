package uetcc

import (
	"cmp"

	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/nscc"
)

// Network is what lies between the peers. It sets all fields of a [Config] that belong
// together, where they are zero.
type Network uint8

// The networks.
const (
	// NetworkUnknown is any: it may drop, may mark or not, and nobody has measured it. Windows
	// start with three packets and follow [nscc.ProfileAdaptive], and losses are inferred. Where
	// CC.NSCC.BaseRTT is 0, the first round trip takes its place.
	NetworkUnknown Network = iota

	// NetworkLossy is Ethernet that drops and marks, and of which the base round trip is
	// configured, or is the default: NetworkUnknown for the rest.
	NetworkLossy

	// NetworkTrimming is a fabric whose switches trim, and the parameters are those of the
	// specification: windows start full ([nscc.ProfileSpec]), and losses are not inferred.
	// It is also what CC.NSCC.Trimming asks for.
	NetworkTrimming
)

var networkNames = [...]string{"unknown", "lossy", "trimming"}

// String is unknown, lossy or trimming.
func (n Network) String() string { return enum.Name(networkNames[:], n) }

// fillNetwork sets what belongs to the network.
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
