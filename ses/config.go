// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrConfig is wrapped by every error about a configuration; the message names field and
// limits.
var ErrConfig = errors.New("ses: invalid configuration")

// checkMTU takes the payload sizes of UE Specification 1.0.x.
func checkMTU(field string, mtu uint32) error {
	if mtu < 1024 || mtu > 8192 || bits.OnesCount32(mtu) != 1 {
		return fmt.Errorf("%w: %s is %d, want 1024, 2048, 4096 or 8192", ErrConfig, field, mtu)
	}
	return nil
}
