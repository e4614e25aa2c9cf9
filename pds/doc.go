// SPDX-License-Identifier: Apache-2.0

// Package pds is the packet delivery sublayer (PDS) on the wire: every header
// of the sublayer to the bit, the enumerations of the fields, and the
// arithmetic of packet sequence numbers. Package pds holds no state, unlike
// the contexts of package pds/pdc.
//
// A header is a plain struct with one method set: Decode fills an existing
// value from the front of a buffer and returns the bytes read, AppendTo
// writes the header (in place with b[:0]), Validate checks the values (Decode only
// checks the format), String prints a line for people. No method of a header allocates
// except String, and AppendTo when growing the slice. A failed Decode leaves
// the header unchanged.
//
// Reserved bits are written as zero and ignored on receipt. A field that is
// wider in the struct than on the wire is written with its low bits; Validate
// reports such a field.
//
// Every multi-byte field is big-endian. Bit diagrams number bits from the most
// significant bit of the first byte, as the UE Specification does. Layouts
// follow UE Specification 1.0.x, chapter 3.5; table numbers are given with each
// header.
package pds
