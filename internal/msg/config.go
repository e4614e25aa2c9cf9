// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"fmt"
	"math/bits"

	"github.com/uetcc/uetcc/ses"
)

// checkMTU takes the payload sizes of UE Specification 1.0.x.
func checkMTU(field string, mtu uint32) error {
	if mtu < 1024 || mtu > 8192 || bits.OnesCount32(mtu) != 1 {
		return fmt.Errorf("%w: %s is %d, want 1024, 2048, 4096 or 8192", ses.ErrConfig, field, mtu)
	}
	return nil
}
