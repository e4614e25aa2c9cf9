// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/node"
)

func BenchmarkWrite(b *testing.B) {
	for _, mtu := range []int{1024, 4096} {
		for _, size := range []int{100, 1 << 20} {
			b.Run(map[int]string{1024: "mtu=1024", 4096: "mtu=4096"}[mtu]+map[int]string{100: "/size=100", 1 << 20: "/size=1M"}[size], func(b *testing.B) {
				x, err := node.Listen("127.0.0.1:0", node.Options{MTU: mtu})
				require.NoError(b, err)
				defer x.Close()
				y, err := node.Listen("127.0.0.1:0", node.Options{MTU: mtu})
				require.NoError(b, err)
				defer y.Close()
				_, err = y.Expose(make([]byte, size))
				require.NoError(b, err)
				data := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if err := x.Write(b.Context(), y.Addr(), node.At{}, data); err != nil {
						b.Fatal(err)
					}
				}
				s := x.Stats()
				b.ReportMetric(float64(s.Port.Sent)/float64(s.Port.SendCalls), "packets/call")
				b.ReportMetric(float64(s.Endpoints[0].PDS.Resent), "resent")
			})
		}
	}
}
