// Package uetcc is an embeddable congestion-control engine for Ultra Ethernet
// Transport (UET).
//
// A transport asks it, per packet, "what did this packet tell me, and what may
// I send now?" and gets the answer in nanoseconds: no lock, no allocation, no
// goroutine, no system call and no clock read of the engine's own. Bytes and
// the current time go in, decisions and bytes come out, so the same inputs
// always give the same outputs.
package uetcc
