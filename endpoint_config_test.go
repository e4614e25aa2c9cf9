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
		"Address":  {},
		"Answers":  {Address: address, Answers: 65536},
		"Buffers":  {Address: address, PDS: pdc.Config{BufferROD: true}, Memory: pdc.MemoryConfig{Buffers: 65536}},
		"IdleTime": {Address: address, PDS: pdc.Config{IdleTime: 1_000_000}},
		"PendTime": {Address: address, PDS: pdc.Config{PendTimeout: -1}},
		"Pending":  {Address: address, Target: ses.TargetConfig{Pending: -1}},
	} {
		_, err := uetcc.NewEndpoint(c)
		require.ErrorContains(t, err, name)
	}
}

// What the PDS can be told, an Endpoint can: each of these changes what it does.
func TestConfigPDS(t *testing.T) {
	for _, method := range []pdc.StartMethod{pdc.StartRandom1RTT, pdc.StartExpected0RTT} {
		t.Run(method.String(), func(t *testing.T) {
			n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.PDS.Start = method })
			n.write(ses.ModeRUD, 3*netMTU)
			n.run(func() bool { return len(n.ends[0].events) == 1 })
			require.Equal(t, ses.StatusOK, n.ends[0].events[0].Outcome.Status)
			require.NotZero(t, n.ends[1].e.PDS().Stats().NACKs, "NEW_START_PSN")
			require.EqualValues(t, 3, n.ends[1].e.PDS().Stats().Requests)
		})
	}
	t.Run("PendTimeout", func(t *testing.T) {
		n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
			c.PDS.PendTimeout, c.PDCs.Initiators = 700<<10, 1 // of the unit of timers
		})
		n.cut[pdc.AddrFrom(n.ends[1].addr)] = true
		n.write(ses.ModeRUD, netMTU)
		n.write(ses.ModeROD, netMTU)
		n.run(func() bool { return len(n.ends[0].events) == 1 })
		require.Equal(t, pdc.CausePending, n.ends[0].events[0].Cause)
		require.EqualValues(t, 700<<10, n.now)
	})
	t.Run("CloseThresh", func(t *testing.T) {
		n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.PDS.CloseThresh = 1 })
		for i, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
			n.write(mode, netMTU)
			n.run(func() bool { return len(n.ends[0].events) == i+1 })
		}
		n.run(func() bool { return n.ends[0].e.Usage().PDCs == 1 })
		require.Less(t, n.now, int64(1_000_000), "long before the first one has been idle for long")
	})
}
