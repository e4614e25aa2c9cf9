//go:build (!amd64 && !arm64) || purego

package hw

import "sync/atomic"

var fenceWord atomic.Uint32

// fence orders earlier stores before later ones as far as Go can express it.
func fence() { fenceWord.Store(0) }
