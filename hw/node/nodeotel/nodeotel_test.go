// SPDX-License-Identifier: Apache-2.0

package nodeotel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/node/nodeotel"
)

// values are those of all metrics, by name and attribute.
func values(t *testing.T, r metric.Reader) map[string]float64 {
	t.Helper()
	var got metricdata.ResourceMetrics
	require.NoError(t, r.Collect(context.Background(), &got))
	all := map[string]float64{}
	note := func(m metricdata.Metrics, points []metricdata.DataPoint[float64]) {
		require.NotEmpty(t, m.Unit)
		require.NotEmpty(t, m.Description)
		for _, p := range points {
			name := m.Name
			for _, a := range p.Attributes.ToSlice() {
				name += "/" + a.Value.AsString()
			}
			all[name] = p.Value
		}
	}
	for _, s := range got.ScopeMetrics {
		for _, m := range s.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[float64]:
				require.True(t, d.IsMonotonic, m.Name)
				note(m, d.DataPoints)
			case metricdata.Gauge[float64]:
				note(m, d.DataPoints)
			default:
				require.Fail(t, "another kind", "%s: %T", m.Name, d)
			}
		}
	}
	return all
}

// What was moved is observed, with the attributes of the node, until the registration ends.
func TestRegister(t *testing.T) {
	var all [2]*node.Node
	for i := range all {
		n, err := node.Listen("127.0.0.1:0", node.Options{})
		require.NoError(t, err)
		defer n.Close()
		all[i] = n
	}
	region, err := all[1].Expose(make([]byte, 1<<20))
	require.NoError(t, err)
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	registration, err := nodeotel.Register(provider.Meter("uet"), all[0], attribute.String("node", "a"))
	require.NoError(t, err)
	require.NoError(t, all[0].Write(context.Background(), all[1].Addr(), node.At{Region: region}, make([]byte, 1<<20)))

	got := values(t, reader)
	require.GreaterOrEqual(t, got["uet.node.sent_bytes/a"], float64(1<<20))
	require.Equal(t, 1.0, got["uet.node.ended/a"])
	require.Positive(t, got["uet.cc.sent/a"])
	require.Contains(t, got, "uet.cc.held/a/window")
	require.NoError(t, registration.Unregister())
	require.Empty(t, values(t, reader))
}

// A node's metrics for whatever OpenTelemetry exports to.
func ExampleRegister() {
	n, err := node.Listen("127.0.0.1:0", node.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Close()
	reader := metric.NewManualReader() // in a program: a periodic reader with an exporter
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	if _, err := nodeotel.Register(provider.Meter("uet"), n); err != nil {
		fmt.Println(err)
		return
	}
	var got metricdata.ResourceMetrics
	err = reader.Collect(context.Background(), &got)
	first := got.ScopeMetrics[0].Metrics[0]
	fmt.Println(first.Name, first.Description, err)
	// Output: uet.node.begun Field Begun of node.Stats, all shards together. <nil>
}
