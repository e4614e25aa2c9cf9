//go:build !linux || purego

package slab

func advise[T any]([]T) {}
