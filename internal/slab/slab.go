// SPDX-License-Identifier: Apache-2.0

// Package slab makes the arrays the state of thousands of contexts lies in.
package slab

// hugePage is the size of huge pages on amd64 and, by default, arm64, bytes.
const hugePage = 2 << 20

// Make is make([]T, n), on huge pages if available to a large array (Linux with
// transparent huge pages set to madvise or always). Events come for contexts in any order, so
// nearly each cache line of an event is on a different page, and with tens of thousands of
// small pages the address translations would take about as long as the lines. Call Make in
// constructors only: from the size of a huge page on a system call is made.
func Make[T any](n int) []T {
	s := make([]T, n)
	advise(s)
	return s
}
