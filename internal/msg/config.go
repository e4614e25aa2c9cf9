// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"fmt"

	"github.com/uetcc/uetcc/ses"
)

// isMTU reports whether n is a payload size of UE Specification 1.0.x.
func isMTU(n uint32) bool { return n == 1024 || n == 2048 || n == 4096 || n == 8192 }

func checkMTU(field string, mtu uint32) error {
	if !isMTU(mtu) {
		return fmt.Errorf("%w: %s is %d, want 1024, 2048, 4096 or 8192", ses.ErrConfig, field, mtu)
	}
	return nil
}
