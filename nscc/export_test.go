// SPDX-License-Identifier: Apache-2.0

package nscc

// Unusual is p with nothing ordinary about any acknowledgement.
func (p Params) Unusual() *Params {
	p.usual = 0
	return &p
}
