// SPDX-License-Identifier: Apache-2.0

// Package tss seals and opens whole IP packets with the transport security sublayer:
// AES-256-GCM under the keys of a secure domain. Sealing and opening work in place, on packets in
// native form (IP, entropy header, security header, PDS header, ..., tag), with the keys, epochs
// and counters of one domain for one FEP; the distribution of keys is the caller's.
//
// A domain has no receive window on counters: a repeated packet opens again, and the packet's PDC
// tells repetitions apart, by PSN while open and by the rules of Start_PSN when being opened
// ([github.com/uetcc/uetcc/pds/pdc.StartMethod]).
//
// # Known traps
//
//   - Client and server share a key and, with a source identifier, a nonce prefix. Counters of a
//     server begin at 2^47 and counters of clients end below, so no nonce is used twice: with
//     [Key.First] and [Key.Limit] of other ranges no end can check that, and the caller has to see to it.
//   - The same counter must not come again under the same key, after a restart either: begin at
//     [Key.First] and store [Domain.Counter]. Loading a key in use below the counter reached is
//     refused.
//   - No latch shuts a domain after many failures: a third party could trip the latch with forged
//     packets. Failures are counted.
//   - Start_PSNs of one PDCID do not wrap, and the Expected_PSN rises however a PDC ends: both in
//     package pds/pdc, see [github.com/uetcc/uetcc/pds/pdc.Config.FreshKey].
//   - A forged packet changes nothing but a counter of [Stats]: derived keys are kept only for
//     authentic packets.
//
// # Sources
//
// UE Specification 1.0.3 section 3.7 as far as it is public, and the reference provider, whose
// recorded keys and packets the tests reproduce. The form over UDP, messages of key management,
// and a fourth mode are not public, so left out.
package tss
