// SPDX-License-Identifier: Apache-2.0

package hw

// access names the permitted accesses to a register.
type access uint8

// Kinds of access, seen from the engine.
const (
	ro access = iota // device writes, engine loads
	rw               // engine writes and loads
	wo               // engine writes; a load returns 0
)

// order is the ordering of a register's store or load against further accesses.
// [Device.Store] and the typed blocks provide the order of stores; see the recipes in
// the package comment.
type order uint8

// Order classes.
const (
	orderNone    order = iota
	orderProgram       // program order with other registers of the device is enough
	orderBefore        // payload in host memory must be visible before: [Space.Flush] first
	orderFlush         // must reach the device at once: [Space.Flush] after
	orderAfter         // a load that later loads of host memory depend on
)

// Register describes one register of a block.
type Register struct {
	Name    string
	Kind    Kind
	Offset  uint32  // from the block's base, or from its array element
	Width   uint8   // bits: 32 or 64
	Feature Feature // 0: always there
	Element bool    // lies in each element of the block's array

	access access
	order  order
}

// Load returns the value of a register; index names the array element, if it
// lies in one. A register that is write-only, or whose feature is off, reads as
// 0. For tools and tests: the typed blocks are faster. Errors: [ErrMissing],
// [ErrIndex].
func (d *Device) Load(r Register, index int) (uint64, error) {
	off, err := d.offset(r, index)
	if err != nil || r.access == wo || d.on&r.Feature != r.Feature {
		return 0, err
	}
	if r.Width == 32 {
		return uint64(d.space.Load32(off)), nil
	}
	return d.space.Load64(off), nil
}

// Store writes a register. A store to a register whose feature is off changes nothing.
// Errors: [ErrMissing], [ErrIndex], and [ErrAccess] for a read-only register.
func (d *Device) Store(r Register, index int, v uint64) error {
	off, err := d.offset(r, index)
	switch {
	case err != nil:
		return err
	case r.access == ro:
		return ErrAccess
	case d.on&r.Feature != r.Feature:
		return nil
	}
	if r.order == orderBefore {
		d.space.Flush()
	}
	if r.Width == 32 {
		d.space.Store32(off, uint32(v))
	} else {
		d.space.Store64(off, v)
	}
	if r.order == orderFlush {
		d.space.Flush()
	}
	return nil
}

// offset returns where a register lies.
func (d *Device) offset(r Register, index int) (uint32, error) {
	b := d.block(r.Kind)
	if b == nil {
		return 0, ErrMissing
	}
	if !r.Element {
		return b.at + r.Offset, nil
	}
	return b.element(index, r.Offset)
}
