// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"fmt"

	"github.com/uetcc/uetcc/ses"
)

// checkMTU takes the payload sizes of UE Specification 1.0.x.
func checkMTU(field string, mtu uint32) error {
	switch mtu {
	case 1024, 2048, 4096, 8192:
		return nil
	}
	return fmt.Errorf("%w: %s is %d, want 1024, 2048, 4096 or 8192", ses.ErrConfig, field, mtu)
}
