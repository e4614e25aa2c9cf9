// SPDX-License-Identifier: Apache-2.0

package goal

import (
	"encoding/binary"
	"fmt"
)

// AppendText appends the text form of a schedule that has passed [Schedule.Check].
func AppendText(b []byte, s *Schedule) []byte {
	b = fmt.Appendf(b, "num_ranks %d\n", len(s.Ranks))
	for i := range s.Ranks {
		r := &s.Ranks[i]
		b = fmt.Appendf(b, "\nrank %d {\n", i)
		for j := range r.Ops {
			b = fmt.Appendf(b, "l%d: ", j+1)
			b = r.Ops[j].appendText(b)
		}
		for _, d := range r.Deps {
			word := "requires"
			if d.Started {
				word = "irequires"
			}
			b = fmt.Appendf(b, "l%d %s l%d\n", d.Op+1, word, d.On+1)
		}
		b = append(b, "}\n"...)
	}
	return b
}

func (o *Op) appendText(b []byte) []byte {
	number := func(n uint32) int64 {
		if n == Any {
			return -1
		}
		return int64(n)
	}
	switch o.Kind {
	case KindSend:
		b = fmt.Appendf(b, "send %db to %d tag %d", o.Size, o.Peer, number(o.Tag))
	case KindRecv:
		b = fmt.Appendf(b, "recv %db from %d tag %d", o.Size, number(o.Peer), number(o.Tag))
	default:
		b = fmt.Appendf(b, "calc %d", o.Size)
	}
	if o.CPU > 0 {
		b = fmt.Appendf(b, " cpu %d", o.CPU)
	}
	if o.NIC > 0 {
		b = fmt.Appendf(b, " nic %d", o.NIC)
	}
	return append(b, '\n')
}

// AppendBinary appends the binary form of a schedule that has passed [Schedule.Check], byte for
// byte as the format's own converter does.
func AppendBinary(b []byte, s *Schedule) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, magic)
	start := len(b)
	b = le.AppendUint32(b, uint32(len(s.Ranks)))
	b = append(b, uint8(s.CPUs()-1), uint8(s.NICs()-1))
	spans := len(b)
	b = append(b, make([]byte, len(s.Ranks)*spanBytes)...)
	for i := range s.Ranks {
		le.PutUint64(b[spans+i*spanBytes:], uint64(len(b)-start))
		b = s.Ranks[i].appendBinary(b)
		le.PutUint64(b[spans+i*spanBytes+8:], uint64(len(b)-start))
	}
	return b
}

func (r *Rank) appendBinary(b []byte) []byte {
	le := binary.LittleEndian
	waits := make([]uint32, len(r.Ops))
	for _, d := range r.Deps {
		waits[d.Op]++
	}
	roots := 0
	for _, w := range waits {
		if w == 0 {
			roots++
		}
	}
	b = le.AppendUint32(b, uint32(len(r.Ops)))
	b = le.AppendUint32(b, uint32(roots))
	for i, w := range waits {
		if w == 0 {
			b = le.AppendUint32(b, uint32(i))
		}
	}
	next := dependents(r)
	for i := range r.Ops {
		o := &r.Ops[i]
		b = le.AppendUint32(b, waits[i])
		b = append(b, uint8(o.Kind))
		b = le.AppendUint32(b, o.Peer)
		b = le.AppendUint64(b, uint64(o.Size))
		b = le.AppendUint32(b, o.Tag)
		b = append(b, o.CPU, o.NIC)
		first, ends := next.first[i], uint32(0)
		for _, f := range next.of(uint32(i)) {
			if !f.Started {
				ends++
			}
		}
		for _, v := range [...]uint32{ends, first, next.first[i+1] - first - ends, first + ends} {
			b = le.AppendUint32(b, v)
		}
	}
	for _, f := range next.all {
		b = le.AppendUint32(b, f.Op)
	}
	return b
}
