// Package prefetch begins to load cache lines that will be needed soon. A load would keep
// what comes after it waiting once as many instructions are under way as the processor
// can hold, a few hundred; a prefetch is over at once, and harmless whatever the address.
// Where there is no instruction for it, [Enabled] says so.
package prefetch

// Line is the size of a cache line, bytes.
const Line = 64

// Addresses are in as many cache lines, of which some may be the same. They are not
// pointers: nothing is read through them that the program could see, and they keep
// nothing alive.
type Addresses [12]uintptr
