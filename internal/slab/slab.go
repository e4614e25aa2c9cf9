// Package slab makes the arrays that the state of thousands of contexts lies in.
package slab

// hugePage is the size of huge pages on amd64 and, by default, arm64, bytes.
const hugePage = 2 << 20

// Make is make([]T, n), on huge pages where a large array can have them (Linux with
// transparent huge pages set to madvise or always): events come for contexts in any
// order, so each cache line that one needs is on a page of its own, and finding tens of
// thousands of small pages takes about as long as the lines do. From half a huge page on
// an array has whole ones, so its memory at most doubles. T must have no pointers, since
// the array may be made of bytes. It is for New functions: it asks the system.
func Make[T any](n int) []T {
	if s := huge[T](n); s != nil {
		return s
	}
	return make([]T, n)
}
