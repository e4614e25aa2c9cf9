// SPDX-License-Identifier: Apache-2.0

// Package slab makes the arrays the state of thousands of contexts lies in.
package slab

// hugePage is the size of huge pages on amd64 and, by default, arm64, bytes.
const hugePage = 2 << 20

// Make is make([]T, n), on huge pages if available to a large array (Linux with
// transparent huge pages set to madvise or always). Events come for contexts in any order, so
// nearly each cache line of an event is on a different page, and with tens of thousands of
// small pages the address translations would take about as long as the lines. From the size
// of a huge page on an array gets whole huge pages, so the memory at most doubles. T must
// have no pointers, since the array may be made of bytes. Call Make in constructors only: a
// system call is made.
func Make[T any](n int) []T {
	if s := huge[T](n); s != nil {
		return s
	}
	return make([]T, n)
}
