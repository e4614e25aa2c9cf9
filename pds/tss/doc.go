// Package tss seals and opens whole IP packets with the transport security sublayer:
// AES-256-GCM under the keys of a secure domain. It works in place, on packets in native form
// (IP, entropy header, security header, PDS header, ..., tag), and keeps keys, epochs and
// counters of one domain for one FEP; who hands out keys, and when, is the caller's.
//
// What a domain does not do is a receive window on counters: a packet that is repeated opens
// again, and the PDC that it belongs to tells repetitions apart, by PSN while it lives and by
// the rules of Start_PSN when it is opened ([github.com/uetcc/uetcc/pds/pdc.StartMethod]).
//
// # Where others fell
//
//   - Client and server share one key and, with a source identifier, one nonce prefix. Counters
//     of a server begin at 2^47 and those of clients end below, so that no nonce is used twice.
//   - The same counter must not come again under the same key, after a restart either: [Key.First]
//     says where to begin and [Domain.Counter] what to store. Loading a key that is in use below
//     the counter that it has reached is refused.
//   - There is no latch that shuts a domain after many failures: a third party could trip it with
//     forged packets. Failures are counted.
//   - Start_PSNs of one PDCID do not wrap, and the Expected_PSN rises however a PDC ends: both in
//     package pds/pdc, see [github.com/uetcc/uetcc/pds/pdc.Config.FreshKey].
//   - A forged packet changes nothing but a counter of [Stats]: derived keys are kept only for
//     packets that were authentic.
//
// # Sources
//
// UE Specification 1.0.3 section 3.7 as far as it is public, and the reference provider, whose
// recorded keys and packets the tests reproduce. The form over UDP, messages of key management,
// and a fourth mode are not public: they are not here.
package tss
