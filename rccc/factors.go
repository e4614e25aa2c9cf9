package rccc

import (
	"sync/atomic"

	uber "go.uber.org/atomic"
)

// Factors gathers the limits on a receiver's credit, from the cores that know a
// limit to the core of the pacer: the host's memory is watched on one core, the
// fabric on another. The rate factor in force is the least of them. The zero value
// slows nothing. Safe for concurrent use.
type Factors struct {
	_            [0]atomic.Uint64 // aligns those that follow, on 32-bit machines too
	host, fabric uber.Float64     // 0: not set
}

// SetHost publishes the rate factor of the host, see [HostLimits.Factor].
func (f *Factors) SetHost(v float64) { f.host.Store(v) }

// SetFabric publishes the rate factor of the fabric, see [FabricRate.Step].
func (f *Factors) SetFabric(v float64) { f.fabric.Store(v) }

// Load returns the factor in force, for [Receiver.SetFactor].
func (f *Factors) Load() float64 {
	least := 1.0
	for _, v := range [...]float64{f.host.Load(), f.fabric.Load()} {
		if v > 0 {
			least = min(least, v)
		}
	}
	return least
}
