// SPDX-License-Identifier: Apache-2.0

package nodeprom_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/node/nodeprom"
)

// pair is two nodes, the second with memory.
func pair(t testing.TB) (source, target *node.Node, at node.At) {
	var all [2]*node.Node
	for i := range all {
		n, err := node.Listen("127.0.0.1:0", node.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = n.Close() })
		all[i] = n
	}
	region, err := all[1].Expose(make([]byte, 1<<20))
	require.NoError(t, err)
	return all[0], all[1], node.At{Region: region}
}

// gather is the values of all metrics, by name and the value of the label, and which of them are counters.
func gather(t testing.TB, r prometheus.Gatherer) (values map[string]float64, counters map[string]bool) {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	values, counters = map[string]float64{}, map[string]bool{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += "/" + l.GetValue()
			}
			values[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			counters[name] = m.GetCounter() != nil
		}
	}
	return values, counters
}

// The collector tells what was moved and why it waited, and its counters never go back.
func TestCollect(t *testing.T) {
	source, target, at := pair(t)
	r := prometheus.NewPedanticRegistry() // which checks names, labels and that Describe is true
	require.NoError(t, r.Register(nodeprom.New(source)))
	before, counters := gather(t, r)
	require.Greater(t, len(before), 70)
	require.Zero(t, before["uet_node_sent_bytes_total"])
	for range 3 {
		require.NoError(t, source.Write(context.Background(), target.Addr(), at, make([]byte, 1<<20)))
		after, _ := gather(t, r)
		for name, v := range before {
			if counters[name] {
				require.GreaterOrEqual(t, after[name], v, name)
			}
		}
		before = after
	}
	require.GreaterOrEqual(t, before["uet_node_sent_bytes_total"], 3.0*(1<<20))
	require.Equal(t, 3.0, before["uet_node_begun_total"])
	require.Equal(t, 3.0, before["uet_node_ended_total"])
	require.Positive(t, before["uet_cc_sent_total"])
	require.Positive(t, before["uet_port_sent_bytes_total"])
	require.Contains(t, before, "uet_cc_cwnd_bytes")
	require.Contains(t, before, "uet_cc_contexts/IDLE")
	require.Contains(t, before, "uet_cc_held_seconds_total/window")
}

// Each metric that the dashboard asks for exists, and rates are of counters.
func TestDashboard(t *testing.T) {
	source, _, _ := pair(t)
	r := prometheus.NewRegistry()
	require.NoError(t, r.Register(nodeprom.New(source)))
	values, counters := gather(t, r)
	exists := map[string]bool{}
	for name := range values {
		name, _, _ := strings.Cut(name, "/")
		exists[name] = true
	}
	b, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(b, &board))
	require.Greater(t, len(board.Panels), 8)
	metric := regexp.MustCompile(`(rate\()?(uet_\w+)`)
	for _, p := range board.Panels {
		require.NotEmpty(t, p.Targets, p.Title)
		for _, x := range p.Targets {
			found := metric.FindAllStringSubmatch(x.Expr, -1)
			require.NotEmpty(t, found, x.Expr)
			for _, m := range found {
				require.True(t, exists[m[2]], "%s: %s", p.Title, m[2])
				for name, counter := range counters {
					if strings.HasPrefix(name+"/", m[2]+"/") {
						require.Equal(t, counter, m[1] != "", "%s: %s", p.Title, x.Expr)
					}
				}
			}
		}
	}
}

// A node's metrics, gathered as Prometheus would.
func ExampleNew() {
	n, err := node.Listen("127.0.0.1:0", node.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(nodeprom.New(n))
	families, err := registry.Gather()
	fmt.Println(families[0].GetName(), families[0].GetHelp(), err)
	// Output: uet_cc_acks_total Acknowledgements. <nil>
}
