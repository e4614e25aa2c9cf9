// Package fuzz holds what tests the engine from outside: fuzz targets and their
// corpora, replays of recorded vectors and traces, the fault-injecting
// simulation, and the linearizability checks of the tables.
package fuzz
