package faultnet

// event is a packet on its way: what is earlier comes first, of two at the same
// time the one that was sent first.
type event struct {
	at   int64
	seq  uint64
	slot int32
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// queue is a binary heap of events.
type queue []event

func (q *queue) push(e event) {
	*q = append(*q, e)
	h := *q
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].before(&h[i]) {
			return
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

func (q *queue) pop() event {
	h := *q
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	*q = h
	for i := 0; ; {
		least := i
		for _, down := range [...]int{2*i + 1, 2*i + 2} {
			if down < last && h[down].before(&h[least]) {
				least = down
			}
		}
		if least == i {
			return top
		}
		h[least], h[i] = h[i], h[least]
		i = least
	}
}
