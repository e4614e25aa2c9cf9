// SPDX-License-Identifier: Apache-2.0

package table

import (
	"sync"

	"github.com/llxisdsh/pb"
	"github.com/puzpuzpuz/xsync/v4"
)

// A tab is one table of keys K under test.
type tab[K comparable] struct {
	name   string
	shared bool // safe beside a writer
	load   func(*K) *Ctx
	store  func(*K, *Ctx)
	del    func(*K)
}

// makers make the tables for n of any key that a Go program would pick.
func makers[K comparable]() []func(n int) tab[K] {
	return []func(int) tab[K]{goMap[K], rwMap[K], syncMap[K], xsyncMap[K], pbMap[K]}
}

func goMap[K comparable](n int) tab[K] {
	m := make(map[K]*Ctx, n)
	return tab[K]{"gomap", false,
		func(k *K) *Ctx { return m[*k] },
		func(k *K, c *Ctx) { m[*k] = c },
		func(k *K) { delete(m, *k) }}
}

func rwMap[K comparable](n int) tab[K] {
	var mu sync.RWMutex
	m := make(map[K]*Ctx, n)
	return tab[K]{"rwmutex", true,
		func(k *K) *Ctx { mu.RLock(); v := m[*k]; mu.RUnlock(); return v },
		func(k *K, c *Ctx) { mu.Lock(); m[*k] = c; mu.Unlock() },
		func(k *K) { mu.Lock(); delete(m, *k); mu.Unlock() }}
}

func syncMap[K comparable](int) tab[K] {
	var m sync.Map
	return tab[K]{"syncmap", true,
		func(k *K) *Ctx {
			if v, ok := m.Load(*k); ok {
				return v.(*Ctx)
			}
			return nil
		},
		func(k *K, c *Ctx) { m.Store(*k, c) },
		func(k *K) { m.Delete(*k) }}
}

func xsyncMap[K comparable](n int) tab[K] {
	m := xsync.NewMap[K, *Ctx](xsync.WithPresize(n))
	return tab[K]{"xsync", true,
		func(k *K) *Ctx { v, _ := m.Load(*k); return v },
		func(k *K, c *Ctx) { m.Store(*k, c) },
		func(k *K) { m.Delete(*k) }}
}

func pbMap[K comparable](n int) tab[K] {
	m := pb.NewMapOf[K, *Ctx](pb.WithPresize(n))
	return tab[K]{"pb", true,
		func(k *K) *Ctx { v, _ := m.Load(*k); return v },
		func(k *K, c *Ctx) { m.Store(*k, c) },
		func(k *K) { m.Delete(*k) }}
}

func floor40(n int) tab[Key] {
	t := NewFloor(n)
	return tab[Key]{"floor", true, t.Load, t.Store, t.Delete}
}

func direct16(int) tab[uint16] {
	t := new(Direct)
	return tab[uint16]{"direct", true,
		func(k *uint16) *Ctx { return t[*k].Load() },
		func(k *uint16, c *Ctx) { t[*k].Store(c) },
		func(k *uint16) { t[*k].Store(nil) }}
}
