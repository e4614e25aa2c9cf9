// SPDX-License-Identifier: Apache-2.0

//go:build !linux || purego

package slab

func advise[T any]([]T) {}

// Reserve does nothing where no huge pages can be asked for.
func Reserve(int) {}
