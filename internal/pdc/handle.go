// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/pds"

func makeHandle(id pds.PDCID, generation uint16) Handle {
	return Handle(generation)<<16 | Handle(id)
}
