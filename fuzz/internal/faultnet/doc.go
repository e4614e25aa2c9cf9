// Package faultnet is a network that goes wrong on purpose, in virtual time and
// out of one seed.
//
// It carries packets between numbered places. Each packet may be lost, copied,
// delayed, overtaken, corrupted, trimmed, marked, replayed, and followed by forged
// ones; a direction or a whole place may go dark for a while. What happened is
// counted by [Fault] and hashed, so that two runs of a seed can be compared.
//
// Nothing here reads a clock, starts a goroutine or iterates over a map. One
// goroutine owns a [Net].
package faultnet
