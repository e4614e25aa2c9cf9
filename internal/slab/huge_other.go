//go:build !linux || purego

package slab

func huge[T any](int) []T { return nil }
