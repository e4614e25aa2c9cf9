// SPDX-License-Identifier: Apache-2.0

// Package faultnet is a network going wrong on purpose, in virtual time and out of
// one seed.
//
// A [Net] carries packets between numbered places. Each packet may be lost,
// copied, delayed, overtaken, corrupted, trimmed, marked, replayed, and followed
// by forgeries; a direction or a whole place may go dark for a while. Events are
// counted by [Fault] and hashed, so two runs of a seed can be compared.
//
// No code reads a clock, starts a goroutine or iterates over a map. One
// goroutine owns a [Net].
package faultnet
