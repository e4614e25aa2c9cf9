// SPDX-License-Identifier: Apache-2.0

package table

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestFloorAgreesWithMap(t *testing.T) {
	const n = 4096
	ks, absent := MakeKeys(n, 1), MakeKeys(n, 2)
	f, m := NewFloor(n), map[Key]*Ctx{}
	for i := range ks {
		c := new(Ctx)
		f.Store(&ks[i], c)
		m[ks[i]] = c
	}
	if len(m) != n {
		t.Fatalf("%d distinct keys of %d", len(m), n)
	}
	for i := 0; i < n; i += 3 {
		f.Delete(&ks[i])
		delete(m, ks[i])
	}
	for i := range ks {
		if f.Load(&ks[i]) != m[ks[i]] || f.Load(&absent[i]) != nil {
			t.Fatalf("key %d: wrong answer", i)
		}
	}
}

func TestFloorBesideWriter(t *testing.T) {
	const n = 1024
	ks, churn := MakeKeys(n, 1), MakeKeys(64, 3)
	f := NewFloor(n)
	ctxs, other := make([]Ctx, n), new(Ctx)
	for i := range ks {
		f.Store(&ks[i], &ctxs[i])
	}
	var stop atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; !stop.Load(); i++ {
			f.Store(&churn[i&63], other)
			f.Delete(&churn[i&63])
		}
	})
	for i := range 100_000 {
		if f.Load(&ks[i&(n-1)]) != &ctxs[i&(n-1)] {
			t.Error("wrong answer")
			break
		}
		if c := f.Load(&churn[i&63]); c != nil && c != other {
			t.Error("another's context")
			break
		}
	}
	stop.Store(true)
	writer.Wait()
}
