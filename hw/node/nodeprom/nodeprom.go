// SPDX-License-Identifier: Apache-2.0

// Package nodeprom exports the counters of a node of package hw/node to Prometheus. dashboard.json
// beside the source is a dashboard of the metrics for Grafana.
//
//	prometheus.MustRegister(nodeprom.New(n))
//	http.Handle("/metrics", promhttp.Handler())
//
// Names are uet_GROUP_NAME: uet_pds_* are the fields of pdc.Stats, uet_endpoint_* of uetcc.Stats,
// uet_usage_* of uetcc.Usage, uet_node_* and uet_port_* of node.Stats and port.Stats, all shards
// together. uet_cc_* is congestion control, summed over contexts; uet_cc_held_seconds_total is the
// time data waited, by reason.
//
// A separate module, so that the library does not depend on Prometheus.
package nodeprom

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/internal/meter"
)

// New makes the collector of a node. Several nodes in one registry need prometheus.WrapRegistererWith and a label
// each. Any goroutine may collect.
func New(n *node.Node) prometheus.Collector {
	c := &collector{meter: meter.New(n), descs: map[string]*prometheus.Desc{}}
	for _, m := range meter.Metrics() {
		var labels []string
		if m.Label != "" {
			labels = []string{m.Label}
		}
		c.descs[name(&m)] = prometheus.NewDesc(name(&m), m.Help, labels, nil)
	}
	return c
}

type collector struct {
	meter *meter.Meter
	descs map[string]*prometheus.Desc // by name
}

// name is the name of a metric by the rules of Prometheus: with the unit, and _total for a counter.
func name(m *meter.Metric) string {
	s := prometheus.BuildFQName("uet", m.Group, m.Name)
	switch m.Unit {
	case "s":
		s += "_seconds"
	case "By":
		if !strings.HasSuffix(m.Name, "bytes") {
			s += "_bytes"
		}
	}
	if m.Counter {
		s += "_total"
	}
	return s
}

func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

func (c *collector) Collect(out chan<- prometheus.Metric) {
	c.meter.Read(func(p meter.Point) {
		kind, labels := prometheus.GaugeValue, []string(nil)
		if p.Counter {
			kind = prometheus.CounterValue
		}
		if p.Label != "" {
			labels = []string{p.Is}
		}
		out <- prometheus.MustNewConstMetric(c.descs[name(&p.Metric)], kind, p.Value, labels...)
	})
}
