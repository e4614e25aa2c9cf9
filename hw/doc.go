// SPDX-License-Identifier: Apache-2.0

// Package hw abstracts the registers of a NIC that takes over congestion control
// from the host: discovery of the device's features, a context block for each
// congestion control context (window, credit, rate), a block for each PDC,
// doorbells, event rings, a clock and counters.
//
// No public NIC lets a host program a window for each connection through plain
// registers, so the layout is our own. The ideas come from known devices: the chain
// of typed blocks from Corundum, doorbells with absolute indices and entries with a
// phase bit from mlx5 and ionic, room for doorbells from bnxt_re, the committing
// word from irdma, the numbers of events and the format of rates from DOCA PCC.
// Rules for safety:
//
//   - Values are absolute and cumulative (a window, a total of credit, a producer
//     index), never increments: a lost, repeated or overtaken store does no harm.
//   - Values that change together share a 64-bit word, or are committed by a word
//     written last.
//   - Every register has one writer, except in a reset, when the device clears the
//     engine's registers; the engine's and the device's words of a context lie in
//     different cache lines.
//   - Every context carries a generation; doorbells and events repeat the
//     generation, and a mismatch changes nothing but a counter.
//   - No load has a side effect. So the clock has no latch, impossible for a device in shared
//     memory: NOW is read as high, low and high again. Wall time is left to the user.
//
// # Driving a device
//
// [Open] walks the device's block chain and returns a [Device]. The device's
// [Context], [PDC], [Doorbell] and [Ring] are small values that store to and load
// from a [Space]. Two kinds of space exist: [Memory], shared by the engine and a
// [SoftDevice] in another goroutine or process, and that of [WrapBAR], a device's
// registers mapped into the process.
//
// # Order
//
// Some stores have to be ordered beyond the access alone; [Device.Store] and the typed blocks do so.
// The recipes:
//
//	send descriptor  fill it, [Space.Flush], store the record, store RING, [Space.Flush]
//	change window    store CWND: one word, no commit, no flush; a late window is only late
//	change mode      store CTL, RATE, BURST, then COMMIT, [Space.Flush]
//	bind a PDC       program and commit its context, then store BIND
//	take events      load word 7, compare the phase, load the rest; store CONS once a batch
//	shut down        disable, commit, flush, load STATE (forces arrival), drain, unmap
//	start afresh     store RESET, [Space.Flush], load RESETS until it has moved and STATUS says ready
//
// On ordinary memory all accesses to registers are sequentially consistent atomics;
// on a mapped device, single plain loads and stores of the register's width: an
// atomic store is a locked exchange on amd64, seen by a device as a read and a
// write, and locking the bus for uncached memory.
package hw
