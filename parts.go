// SPDX-License-Identifier: Apache-2.0

package uetcc

import "github.com/uetcc/uetcc/pds/pdc"

// PDS returns the manager of the PDCs, to look at or close a PDC. The effect of closing on
// messages comes with the next Tick, then due at once.
func (e *Endpoint) PDS() *pdc.Manager { return (*pdc.Manager)(e.pds) }
