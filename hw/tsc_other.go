//go:build !amd64 || purego

package hw

func readTSC() uint64 { return 0 }

func invariantTSC() bool { return false }
