// SPDX-License-Identifier: Apache-2.0

package xdp

// Sent is how many packets have gone to the device, and how many by the kernel.
func (p *Port) Sent() (fast, slow uint64) { return p.stats.Sent, p.slow.Stats().Sent }
