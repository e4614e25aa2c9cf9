// SPDX-License-Identifier: Apache-2.0

// Package stacks measures whole protocol stacks in Go on the steps of our paths: a
// packet queued, taken in and acknowledged. Such stacks do more than ours, above
// all by copying bytes, at the price a Go program pays for a whole stack.
package stacks
