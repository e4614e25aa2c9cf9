package node_test

import (
	"os"
	"testing"
)

// descriptors is how many this process has open, 0 where the system does not say.
func descriptors(*testing.T) int {
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}
