// SPDX-License-Identifier: Apache-2.0

//go:build (!amd64 && !arm64) || purego

package hw

import "sync/atomic"

var fenceWord atomic.Uint32

// fence orders earlier stores before later stores as far as Go can express.
func fence() { fenceWord.Store(0) }
