package uetcc_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// An address is all that a configuration needs.
func TestConfigDefaults(t *testing.T) {
	address := netip.MustParseAddr("10.0.0.1")
	_, err := uetcc.NewEndpoint(uetcc.Config{Address: address, PDCs: pdc.TableConfig{General: 8}})
	require.NoError(t, err)
	for name, c := range map[string]uetcc.Config{
		"Address":   {},
		"Answers":   {Address: address, Answers: 65536},
		"BufferROD": {Address: address, PDS: pdc.Config{BufferROD: true}},
		"IdleTime":  {Address: address, PDS: pdc.Config{IdleTime: 1_000_000}},
		"Pending":   {Address: address, Target: ses.TargetConfig{Pending: -1}},
	} {
		_, err := uetcc.NewEndpoint(c)
		require.ErrorContains(t, err, name)
	}
}
