package bench

import (
	"testing"

	"github.com/uetcc/uetcc/ccc"
)

func BenchmarkZZ(b *testing.B) {
	m, err := ccc.NewManager(ccc.ManagerConfig{Params: cccParams(b, cccConfig()), Contexts: 1, PDCs: 1})
	if err != nil {
		b.Fatal(err)
	}
	h := ccc.NewHandle(0, 1)
	if m.Open(h, 0, 0) != nil || m.Bind(h, h, 0, false) != nil {
		b.Fatal()
	}
	now := int64(0)
	for b.Loop() {
		m.OnNewData(h, now, 4096)
		_, ok := m.SendNew(h, now, 4096)
		_, acked := m.OnPlainACK(h, now, 4096, 12100, 1, 1, false)
		if !ok || !acked {
			b.Fatal("not plain")
		}
		now += 80
	}
}
