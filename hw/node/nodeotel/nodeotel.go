// SPDX-License-Identifier: Apache-2.0

// Package nodeotel exports the counters of a node of package hw/node to OpenTelemetry.
//
//	registration, err := nodeotel.Register(otel.Meter("uet"), n)
//
// Names are uet.GROUP.NAME: uet.pds.* are the fields of pdc.Stats, uet.endpoint.* of uetcc.Stats,
// uet.usage.* of uetcc.Usage, uet.node.* and uet.port.* of node.Stats and port.Stats, all shards
// together. uet.cc.* is congestion control, summed over contexts; uet.cc.held is the time data
// waited, by the attribute reason.
//
// A separate module, so that the library does not depend on OpenTelemetry.
package nodeotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/internal/meter"
)

// Register makes an instrument for each metric, observed together whenever the reader of m asks,
// until Unregister of the result. attrs go with each value, for instance to tell nodes apart. Errors
// come from m.
func Register(m metric.Meter, n *node.Node, attrs ...attribute.KeyValue) (metric.Registration, error) {
	instruments, all := map[string]metric.Float64Observable{}, []metric.Observable(nil)
	for _, x := range meter.Metrics() {
		i, err := instrument(m, &x)
		if err != nil {
			return nil, err
		}
		instruments[name(&x)] = i
		all = append(all, i)
	}
	reader := meter.New(n)
	return m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		reader.Read(func(p meter.Point) {
			with := attrs
			if p.Label != "" {
				with = append(attrs[:len(attrs):len(attrs)], attribute.String(p.Label, p.Is))
			}
			o.ObserveFloat64(instruments[name(&p.Metric)], p.Value, metric.WithAttributes(with...))
		})
		return nil
	}, all...)
}

func name(m *meter.Metric) string { return "uet." + m.Group + "." + m.Name }

func instrument(m metric.Meter, x *meter.Metric) (metric.Float64Observable, error) {
	if x.Counter {
		return m.Float64ObservableCounter(name(x), metric.WithUnit(x.Unit), metric.WithDescription(x.Help))
	}
	return m.Float64ObservableGauge(name(x), metric.WithUnit(x.Unit), metric.WithDescription(x.Help))
}
