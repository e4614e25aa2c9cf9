// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"github.com/uetcc/uetcc/internal/timerwheel"
)

// BenchmarkTimerWheel arms a deadline and cancels it while others are pending,
// as a packet and its acknowledgement do. Its peer is ArmCancel/floor-wheel.
func BenchmarkTimerWheel(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 16} {
		b.Run(fmt.Sprintf("op=arm+cancel/pending=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			w := timerwheel.New(2*n, 1024, 0)
			for i := range n {
				w.Arm(uint32(i), int64(i*7+3)<<10)
			}
			i := uint32(0)
			for b.Loop() {
				id := uint32(n) + i&uint32(n-1)
				w.Arm(id, int64(i+100)<<10)
				w.Cancel(id)
				i++
			}
		})
		b.Run(fmt.Sprintf("op=rearm+expire/pending=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			w := timerwheel.New(n, 1024, 0)
			for i := range n {
				w.Arm(uint32(i), int64(i)<<10)
			}
			now := int64(0)
			for b.Loop() {
				id, ok := w.Expire(now)
				for !ok {
					now, _ = w.Next()
					id, ok = w.Expire(now)
				}
				w.Arm(id, now+int64(n)<<10)
			}
		})
	}
}
