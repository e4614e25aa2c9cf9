//go:build !amd64 || purego

package prefetch

// Enabled says that [Lines] does something.
const Enabled = false

// Lines does nothing: there is no instruction for it.
func Lines(*Addresses) {}
