// SPDX-License-Identifier: Apache-2.0

// Package pdc has the terms of packet delivery contexts (PDC): the settings of delivery, the states
// and counters of PDCs, the causes of failure. The lock-free table of PDCIDs is package pdctable.
//
// Delivery is the work of the root package's Endpoint: windows, acknowledgement, retransmission,
// opening and closing of PDCs.
//
// # Guarantees
//
//   - Each packet of a message ends exactly once: answered, or failed with a [Cause].
//   - Each request of RUD and ROD is delivered exactly once; of ROD in order.
//   - Nothing a peer sends makes an endpoint panic, loop longer than a window, or hold more memory.
//   - Congestion control hears of each byte once: sent, then arrived or lost. Bytes are
//     counted by the record of sent packets; a peer's rcvd_bytes beyond the packets shown by CACK
//     and SACK leave flight at once, up to the bytes in flight.
//
// # What differs from the specification
//
// A target takes a congestion control context with the first data to send, so never says
// NO_CCC_AVAIL to a SYN packet; and keeps each guaranteed response until cleared, so never says
// GTD_RESP_UNAVAIL. A source obeys both codes. The quarantine of [TableConfig], half at the source,
// stands for Syn_Retx_Safety_Time. An INVALID_SYN about a Start_PSN has the vendor_code 1 and, as payload, a
// Start_PSN that the target takes; a source obeys once, and ends the PDC as specified where the
// vendor_code is another.
//
// Source: UE Specification 1.0.x, section 3.5.
package pdc
