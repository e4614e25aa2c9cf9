package pdc

import "github.com/uetcc/uetcc/pds"

// Touch loads what the packets of a batch will need, so that the misses of the
// cache overlap: worth a pass over 16 to 32 packets ahead when thousands of PDCs
// are in use. The result means nothing.
func (m *Manager) Touch(in []In) (t uint64) {
	for i := range in {
		if p := m.named(in[i].Packet); p != nil {
			t += uint64(p.state) + uint64(p.ackBytes)
		}
	}
	// Only now is it known where the packets are that these PDCs have sent.
	for i := range in {
		if p := m.named(in[i].Packet); p != nil && p.tx.base != p.tx.tail {
			t += p.tx.touch(m.mem)
		}
	}
	return t
}

// named is the PDC whose id a request or an acknowledgement carries, nil for what
// is too short for one.
func (m *Manager) named(b []byte) *PDC {
	if len(b) < pds.AckLen {
		return nil
	}
	return m.byID(pds.PDCID(b[10])<<8 | pds.PDCID(b[11]))
}

// touch loads the record that the next acknowledgement is about, and the one
// that is sent next.
func (w *SendWindow) touch(m *Memory) uint64 {
	c, i := w.at(m, w.base)
	d, j := w.at(m, w.next)
	return c.released + d.released + c.pkt[i].handle + d.pkt[j].handle
}
