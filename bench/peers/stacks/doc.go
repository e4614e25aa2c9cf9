// Package stacks measures whole protocol stacks in Go on the steps of our paths: a
// packet queued, taken in and acknowledged. They do more than ours, bytes copied
// above all, and what they cost is what a Go program pays when it takes one.
package stacks
