// SPDX-License-Identifier: Apache-2.0

package ses

import "github.com/uetcc/uetcc/internal/step"

// Check is a step in the validation of a request: the first failed step. The order
// follows the write path of the reference provider and of the provider's in-kernel variant.
type Check = step.Check

// The steps that are no check of a field. The String of any step says what failed.
const (
	CheckNone   = step.None   // the request passed
	CheckRecord = step.Record // room for the message's record
	CheckHost   = step.Host   // the host took the data
	CheckSticky = step.Sticky // no earlier packet of the message failed
)
