// SPDX-License-Identifier: Apache-2.0

package hw

// Binding ties a packet delivery context to a congestion context. The binding is
// a single register, so opening and closing are atomic.
type Binding struct {
	Local, Remote uint16 // PDCIDs; the remote one is 0 while unknown
	Context       uint16 // congestion context
	Generation    uint8
	Open          bool
	SYN           bool // the peer's PDCID is not known yet
	Ordered       bool // ROD
}

func (b Binding) word() uint64 {
	w := uint64(b.Local) | uint64(b.Remote)<<16 | uint64(b.Context)<<32 | uint64(b.Generation)<<48
	for i, set := range [...]bool{b.Open, b.SYN, b.Ordered} {
		if set {
			w |= 1 << (56 + i)
		}
	}
	return w
}

func bindingOf(w uint64) Binding {
	return Binding{
		uint16(w), uint16(w >> 16), uint16(w >> 32), uint8(w >> 48),
		w>>56&1 != 0, w>>57&1 != 0, w>>58&1 != 0,
	}
}

// PDC is the block of one packet delivery context. A single writer owns the
// block. [Device.Load] and [Device.Store] reach the other registers of [Reg].
type PDC struct {
	space Space
	base  uint32
}

// PDC returns PDC block i. Errors: [ErrMissing], [ErrIndex].
func (d *Device) PDC(i int) (PDC, error) {
	base, err := d.offset(Reg.Bind, i)
	return PDC{d.space, base}, err
}

// Bind opens, changes or closes the context. A close is complete when
// [PDC.State] says so.
func (p *PDC) Bind(b Binding) { p.space.Store64(p.base+Reg.Bind.Offset, b.word()) }

// State returns whether the device has the context open, and the generation in
// use.
func (p *PDC) State() (open bool, generation uint8) {
	v := p.space.Load32(p.base + Reg.PDC.Offset)
	return v&1 != 0, uint8(v >> 8)
}

// Acked returns the cumulative PSN acknowledged and the bitmap of the following
// PSNs, as of a single moment. False if the device was changing the pair at each
// of several tries; ask again later.
func (p *PDC) Acked() (cack uint32, sack uint64, ok bool) {
	for range 4 {
		before := p.space.Load32(p.base + Reg.PDC.Offset)
		cack = p.space.Load32(p.base + Reg.CACK.Offset)
		sack = p.space.Load64(p.base + Reg.SACK.Offset)
		if before>>16&1 == 0 && p.space.Load32(p.base+Reg.PDC.Offset) == before {
			return cack, sack, true
		}
	}
	return 0, 0, false
}
