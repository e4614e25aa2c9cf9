// SPDX-License-Identifier: Apache-2.0

package goal

import (
	"math/bits"
	"math/rand/v2"
)

// chunk is the size of part i of n of some bytes.
func chunk(bytes int64, i, n int) int64 {
	i = (i%n + n) % n
	return bytes*int64(i+1)/int64(n) - bytes*int64(i)/int64(n)
}

// ring makes steps around a ring: of each vector first the chunks are added up, then handed on.
func ring(j Job, reducing, gathering int) *Schedule {
	return build(j, func(r int, b *rankBuilder) {
		n := j.Ranks
		for k := range reducing + gathering {
			at := r - k
			if k >= reducing && reducing > 0 {
				at++ // the chunk that the last step has completed
			}
			b.exchange((r+1)%n, (r+n-1)%n, chunk(j.Bytes, at, n), chunk(j.Bytes, at-1, n), k, k < reducing)
		}
	})
}

func ringAllReduce(j Job) *Schedule     { return ring(j, j.Ranks-1, j.Ranks-1) }
func ringReduceScatter(j Job) *Schedule { return ring(j, j.Ranks-1, 0) }
func ringAllGather(j Job) *Schedule     { return ring(j, 0, j.Ranks-1) }

// recursiveDoubling has, if the ranks are 2^k and rest more, the first 2*rest ranks fold into
// the odd ranks of these pairs, and only the odd ranks take part.
func recursiveDoubling(j Job) *Schedule {
	steps := bits.Len(uint(j.Ranks)) - 1
	rest := j.Ranks - 1<<steps
	return build(j, func(r int, b *rankBuilder) {
		among := r - rest // number among those that take part
		switch {
		case r < 2*rest && r%2 == 0:
			b.send(r+1, j.Bytes, 0)
			b.recv(r+1, j.Bytes, steps+1, false)
			return
		case r < 2*rest:
			b.after = []uint32{b.recv(r-1, j.Bytes, 0, true)}
			among = r / 2
		}
		for k := range steps {
			to := among ^ 1<<k
			if to += rest; to < 2*rest {
				to = 2*(to-rest) + 1
			}
			b.sendRecv(to, to, j.Bytes, k+1, true)
		}
		if r < 2*rest {
			b.send(r-1, j.Bytes, steps+1)
		}
	})
}

func halvingDoubling(j Job) *Schedule {
	steps := bits.Len(uint(j.Ranks)) - 1
	return build(j, func(r int, b *rankBuilder) {
		for k := range 2 * steps {
			distance, down := k, k < steps
			if !down {
				distance = 2*steps - 1 - k
			}
			bytes := j.Bytes >> (distance + 1)
			b.sendRecv(r^1<<distance, r^1<<distance, bytes, k, down)
		}
	})
}

// treeAllReduce has each rank send a piece up when the children's pieces and the rank's last
// piece are there, and down when the piece comes from above.
func treeAllReduce(j Job) *Schedule {
	return build(j, func(r int, b *rankBuilder) {
		var children []int
		for c := 2*r + 1; c <= 2*r+2 && c < j.Ranks; c++ {
			children = append(children, c)
		}
		var sum [][]uint32 // of each piece, what completes it
		last := []uint32{}
		for p := range j.Pieces {
			var got []uint32
			for _, c := range children {
				got = append(got, b.recv(c, chunk(j.Bytes, p, j.Pieces), p, true))
			}
			if r > 0 {
				b.after = append(got, last...)
				last = []uint32{b.send((r-1)/2, chunk(j.Bytes, p, j.Pieces), p)}
				got = nil
			}
			sum = append(sum, got)
		}
		before := map[int][]uint32{}
		for p := range j.Pieces {
			step, bytes := j.Pieces+p, chunk(j.Bytes, p, j.Pieces)
			if r > 0 {
				sum[p] = []uint32{b.recv((r-1)/2, bytes, step, false)}
			}
			for _, c := range children {
				b.after = append(before[c], sum[p]...)
				before[c] = []uint32{b.send(c, bytes, step)}
			}
		}
	})
}

func allToAll(j Job) *Schedule {
	return everybody(j, func(src, dst int) int64 { return chunk(j.Bytes, dst, j.Ranks) })
}

func allToAllV(j Job) *Schedule {
	most := uint64(2*j.Bytes/int64(j.Ranks)) + 1
	return everybody(j, func(src, dst int) int64 {
		return int64(rand.New(rand.NewPCG(j.Seed, uint64(src*j.Ranks+dst))).Uint64N(most))
	})
}

// everybody has each rank send to all the rest at once.
func everybody(j Job, size func(src, dst int) int64) *Schedule {
	return build(j, func(r int, b *rankBuilder) {
		for k := 1; k < j.Ranks; k++ {
			to, from := (r+k)%j.Ranks, (r+j.Ranks-k)%j.Ranks
			b.Send(to, size(r, to), 0)
			b.Recv(from, size(from, r), 0)
		}
	})
}

func broadcast(j Job) *Schedule {
	return build(j, func(r int, b *rankBuilder) {
		k := bits.Len(uint(r)) // the first step in which r has the bytes
		if r > 0 {
			b.after = []uint32{b.recv(r-1<<(k-1), j.Bytes, 0, false)}
		}
		for ; r+1<<k < j.Ranks; k++ {
			b.send(r+1<<k, j.Bytes, 0)
		}
	})
}

func barrier(j Job) *Schedule {
	return build(j, func(r int, b *rankBuilder) {
		for k := 0; 1<<k < j.Ranks; k++ {
			b.sendRecv((r+1<<k)%j.Ranks, (r+j.Ranks-1<<k)%j.Ranks, 1, 0, false)
		}
	})
}
