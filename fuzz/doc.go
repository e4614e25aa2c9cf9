// Package fuzz holds what tests the engine from outside: fuzz targets and their
// corpora, replays of recorded vectors and traces, the fault-injecting
// simulation, and the linearizability checks of the tables.
//
//	go test ./fuzz -run 'TestFaults$/seeds' -seeds 2000                 more runs of the simulation
//	go test ./fuzz -run 'TestFaults$/seeds' -seeds 2000 -from 100000    others
//	go test ./fuzz -run 'TestFaults$/seeds' -seed 1519                  one of them again
//	go test ./fuzz -run TestWhole -v                                    endpoints at their defaults on a fabric
//	go test ./fuzz -timeout 2h -run TestRequirementsBite -v -bite 100   code broken, whose tests have to fail
//	go test ./fuzz -run xxx -fuzz FuzzFrame                             one of the fuzz targets
//
// With UETCC_TRACES or UETCC_VECTORS in the environment the replays read the folder that it
// names in place of testdata/traces or testdata/vectors, whose formats are described there.
//
// TestWhole reads testdata/whole/cells.jsonl.gz, or the file that UETCC_WHOLE names; red.jsonl.gz beside it
// holds cells that the engine does not meet yet. The format is described there.
//
// # Invariants of the simulation
//
// After every event, for every live PDC and against what the packets themselves say:
//
//	I1   base <= next <= base + window; offsets of SYN packets stay below 4,096
//	I2   base, CLEAR and the highest CACK accepted never go back
//	I3   cack <= max_rcvd <= cack + range; cack and CLEAR never go back
//	I4   what cack covers has arrived; no response is kept that CLEAR covers
//	I5   neither end believes to be acknowledged, or cleared, what the other has not
//	I6   nothing is sent beyond the peer's range, and nothing new once a close has begun
//	I7   congestion control has in flight what was sent and neither arrived nor was lost
//	I8   a PSN has one fate, and each packet handed down is answered once
//	I9   each id is free, claimed, live, closing or resting, and no two PDCs share a key
//	I10  what is sent unasked is bounded by what arrived and by timers
//	I11  nothing allocates
//
// And in the end:
//
//	E1   everything has ended, well or with an error
//	E2   what was accepted was executed once, on an ordered PDC in order
//	E3   a guaranteed response has come back once, as it was
//	E4   all PDCs are closed and all ids are back
//	E5   the same seed gives the same transcript
//	E6   nothing has had an effect on anybody but whom it was for
//
// # What worlds with mangled packets do not judge
//
// A byte that is changed under the CRC (corrupt) is noticed, each time, and the packet is dropped:
// such worlds are judged in full, "mangled, CRC" with one packet in ten. A byte that is changed
// where there is no CRC, or one that was made anew (mangle), may leave a packet that somebody else
// could have sent, and no receiver can tell. It then is
//
//	an ACK of what has not arrived: a message ends well without its bytes
//	a packet under the PSN of another, which is dropped when it comes, as a duplicate
//	data for another offset, address, message or receive buffer, or an operand of another value
//	a reason, a length or header data that nobody sent
//
// and an answer to it, which nobody has changed, carries the damage on. So these worlds demand of
// outcomes, bytes, order, buffers and cells nothing, but that each message ends once and in time
// (E1), that all memory and ids come back (E4), that the same seed gives the same transcript (E5),
// and I1 to I4 and I6 to I11 at each step.
//
// # The fault list
//
// Each row has a test of its own: TestFault and the row in pds/pdc, or one of ses that
// TestFaultsEveryRowHasATest names. The rows are L packets lost, D doubled, R reordered,
// C corrupted, T trimmed, P peers that restart or move, W wrap-arounds, F forged packets,
// S scarce resources, K closing, M messages, U RUDI and datagrams, X what happens on several
// cores and clocks, Q marks.
package fuzz
