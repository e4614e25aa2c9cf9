// SPDX-License-Identifier: Apache-2.0

package pdc

// Stats returns the counters.
func (m *Manager) Stats() Stats { return m.stats }
