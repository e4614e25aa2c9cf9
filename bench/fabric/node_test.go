// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/link"
)

func headOf(n int) []byte { return bytes.Repeat([]byte{byte(n)}, n) }

// Headers of any length arrive as they were sent, also after a packet with long ones was
// dropped: the next packet under its number had the headers of the dropped one before.
func TestFlyingHeaders(t *testing.T) {
	var got [][]byte
	s := newWorld(t, Config{Seed: 1, Frame: func(_ link.Ps, _ int, f *Frame) { got = append(got, bytes.Clone(f.Bytes)) }}).s
	send := func(n int) uint32 {
		pkt := s.pool.get()
		s.pool.put(pkt)
		endpoints{s}.launch(0, &Frame{Host: 1, Bytes: headOf(n), Size: overhead + int64(n)})
		return pkt
	}
	for _, n := range []int{1, 56, 63, 64, 96, 97, 200} {
		for _, next := range []int{56, 97} {
			got = nil
			s.deliver(1, send(n))
			lost := send(n)
			s.dropped(lost)
			again := send(next)
			require.Equal(t, lost, again, "the number is in use again")
			s.deliver(1, again)
			require.Equal(t, [][]byte{headOf(n), headOf(next)}, got)
		}
	}
}

// The payload is the same wherever the endpoint says that it begins.
func TestFramePayload(t *testing.T) {
	c := Content{Message: 3, Offset: 4096, Length: 100}
	whole := c.appendTo(headOf(56))
	for _, at := range []int{50, 56, 60} {
		f := Frame{Bytes: append(make([]byte, 0, 256), headOf(56)...), Content: c}
		require.Equal(t, whole[at:at+20], f.payload(at, 20))
	}
}

// Bytes of another place or of another message are wrong, though never copied.
func TestLandingOtherBytes(t *testing.T) {
	l := landing{content: Content{Message: 3, Length: 8192}}
	l.store(4096, Content{3, 4096, 4096}.bytes())
	require.Equal(t, [2]int64{4096, 0}, [2]int64{l.placed, l.wrong})
	l.store(0, Content{3, 1024, 4096}.bytes())
	l.store(0, Content{4, 0, 4096}.bytes())
	require.Equal(t, [2]int64{4096, 2}, [2]int64{l.placed, l.wrong})
}
