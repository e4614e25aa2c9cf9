// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A captured run decodes to legal packets only, and shows what happened: data,
// marks, trimmed packets, their refusals, and acknowledgements.
func TestPcapThenDecode(t *testing.T) {
	file, matrix := filepath.Join(t.TempDir(), "run.pcap"), workloads+"incast.cm"
	status, _, errs := uetsim("-matrix", matrix, "-cc", "none", "-pcap", file)
	require.Zero(t, status, errs)

	status, out, errs := uetsim("decode", file)
	require.Zero(t, status, errs)
	require.Contains(t, errs, " 0 of them illegal, 0 malformed")
	for _, want := range []string{"RUD_REQ psn=", "| 4096 bytes", " CE RUD_REQ", "trimmed RUD_REQ", "NACK UET_TRIMMED_LASTHOP", "ACK_CC cack=", " retx "} {
		require.True(t, strings.Contains(out, want), want)
	}
	require.Greater(t, strings.Count(out, "\n"), 1000)
}

// Under receiver credits data carries a target, and credits and requests for
// them are control packets.
func TestPcapOfCredits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.pcap")
	status, _, errs := uetsim("-matrix", workloads+"incast.cm", "-cc", "rccc", "-pcap", file)
	require.Zero(t, status, errs)
	status, out, errs := uetsim("decode", file)
	require.Zero(t, status, errs)
	require.Contains(t, errs, " 0 of them illegal, 0 malformed")
	for _, want := range []string{"RUD_CC_REQ psn=", "ccc=1 target=17", "CP CREDIT psn=0", "credit=17", "CREDIT_REQ psn=0", "ACK_CC cack="} {
		require.True(t, strings.Contains(out, want), want)
	}
}

func TestPcapErrors(t *testing.T) {
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"a directory to write":   {"-pcap", dir},
		"nothing to decode":      {"decode"},
		"no such file to decode": {"decode", filepath.Join(dir, "none")},
		"a directory to decode":  {"decode", dir},
		"an unknown flag":        {"decode", "-x"},
		"a port that is none":    {"decode", "-port", "65536", dir},
	} {
		status, _, errs := uetsim(args...)
		require.Equal(t, 2, status, name)
		require.NotEmpty(t, errs, name)
	}
	status, _, errs := uetsim("decode", "-h")
	require.Zero(t, status)
	require.Contains(t, errs, "usage")
}
