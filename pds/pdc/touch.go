package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// touchBatch is how many PDCs go to congestion control at a time.
const touchBatch = 32

// Touch loads a word of each cache line that a packet of the PDCs needs, and
// returns their sum so that the loads stay. With more PDCs than the caches hold,
// touching some tens ahead of their packets lets the misses overlap; with few it
// costs a little. Call it, ignore the sum. Ids without a PDC do no harm.
func (m *Manager) Touch(ids []pds.PDCID) (sum int64) {
	var hs [touchBatch]ccc.Handle
	for len(ids) > 0 {
		n := min(len(ids), touchBatch)
		for i, id := range ids[:n] {
			hs[i] = 0
			if int(id) < len(m.pdc) {
				sum += m.pdc[id].touch()
				hs[i] = ccc.Handle(m.pdc[id].handle)
			}
		}
		for _, id := range ids[:n] {
			if int(id) < len(m.pdc) {
				sum += m.pdc[id].tx.touch(m.mem)
			}
		}
		sum += m.cc.Touch(hs[:n])
		ids = ids[n:]
	}
	return sum
}

// touch reads the lines of the fields that every packet meets.
func (p *PDC) touch() int64 {
	return int64(p.handle) + int64(p.resp.head) + p.activeAt + int64(p.peer.Lo) + int64(p.rx.edge) + int64(p.tx.base) + int64(p.tx.chunk[0])
}

// touch reads the record of the oldest packet that is not released.
func (w *SendWindow) touch(m *Memory) int64 {
	c := &m.chunk[w.chunk[w.base/chunkLen%ringWords]]
	return int64(c.released) + c.pkt[w.base%chunkLen].sentAt
}
