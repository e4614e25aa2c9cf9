// SPDX-License-Identifier: Apache-2.0

//go:build (amd64 || arm64) && !purego

package hw

// fence orders earlier stores before later stores for a device as well: SFENCE,
// or DSB ST.
//
//go:noescape
func fence()
