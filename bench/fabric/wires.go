// SPDX-License-Identifier: Apache-2.0

package fabric

import "math/rand/v2"

// wires are the network of a run, or of a part of a run: switches, ports, links, and the packets under
// way. Hosts are a matter of the layers above.
type wires struct {
	cfg Config
	*net
	events *eventQueue
	lost   map[uint32]int64 // packets lost at dead ports, by port
	pool   *pool
	rnd    rand.Source
	now    int64 // ps
	count  Totals

	equipment equipment        // what sits at the hosts
	ends      *frames          // content of endpoints' packets; nil: light packets
	faults    *faults          // nil: no random loss
	outages   *outages         // nil without Config.Faults
	detours   *detours         // around known dead links; nil: no detours
	choosers  []chooser        // by switch; nil with [RoutingEntropy]
	owner     []uint32         // by port of a switch: the switch; nil without choosers
	pfc       *pfcState        // nil: no pauses
	minded    bool             // mind has work
	foretold  bool             // equipment.foresee wants to be told of packets
	trims     map[uint32]int64 // time of the first trim or drop of a port, ps

	crew    *crew       // nil: the run is not divided
	part    uint16      // number in the run
	outs    [2][]outbox // by window, and by destination part
	out     []outbox    // of them, those of the current window
	plain   bool        // crossings have no packets with them, and no link pauses
	wrote   []uint16    // parts with crossings out of the current window
	soonest int64       // ps, of those crossings; never: no crossing
	inbound []uint16    // parts with crossings from the last window
	told    []told      // calls of the user's in the current window
	news    []news      // for the application, in the current window

	numbered    uint64      // packets so far, with Config.Watch
	toldPacket  PacketState // of Config.Watch
	toldPort    PortState
	keptPackets []PacketState // of Config.Watch, in the current window
	keptPorts   []PortState
}
