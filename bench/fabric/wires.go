package fabric

import "math/rand/v2"

// wires are the network of a run, or of a part of one: switches, ports, links, and the packets on
// them. What hosts do is not known here.
type wires struct {
	cfg Config
	*net
	events *eventQueue
	lost   map[uint32]int64 // packets that met a dead port
	pool   *pool
	rnd    rand.Source
	now    int64 // ps
	count  Totals

	ends     *nodes           // what packets of nodes carry; nil: those of light
	faults   *faults          // nil: none
	outages  *outages         // nil without Config.Faults
	detours  *detours         // around dead links that switches know of; nil: none
	choosers []chooser        // by switch; nil with [RoutingEntropy]
	owner    []uint32         // by port of a switch: the switch; nil without choosers
	pfc      *pfcState        // nil: none
	minded   bool             // there is something to do in mind
	trims    map[uint32]int64 // time of the first trim or drop of a port, ps

	crew    *crew       // nil: the run is not divided
	part    uint16      // of the run, this one
	outs    [2][]outbox // by window, and by part that it is for
	wrote   []uint16    // parts to which something goes out of this window
	soonest int64       // ps, of that; never: nothing does
	inbound []uint16    // parts that have sent something in the last window
	told    []told      // calls of the user's in this window

	numbered    uint64      // packets so far, with Config.Watch
	toldPacket  PacketState // of Config.Watch
	toldPort    PortState
	keptPackets []PacketState // of Config.Watch, in this window
	keptPorts   []PortState
}
