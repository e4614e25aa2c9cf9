//go:build !purego

package prefetch

// Enabled says that [Lines] does something.
const Enabled = true

// Lines begins to load the lines of these addresses into the nearest cache, and waits for
// none.
//
//go:noescape
func Lines(at *Addresses)
