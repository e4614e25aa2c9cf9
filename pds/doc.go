// Package pds is the packet delivery sublayer (PDS) on the wire: every header
// of the sublayer to the bit, the enumerations they carry, and the arithmetic
// of packet sequence numbers. It holds no state; package pds/pdc does.
//
// A header is a plain struct with one method set: Decode fills an existing
// value from the front of a buffer and returns the bytes it took, Encode and
// AppendTo write it, Validate says whether the values are legal (Decode only
// asks whether they can be read), String prints one line for people. No method
// of a header allocates except String, and AppendTo when it has to grow the
// slice. A failed Decode leaves the header as it was.
//
// Reserved bits are written as zero and ignored on receipt. A field that is
// wider in the struct than on the wire is written with its low bits; Validate
// reports it.
//
// Every multi-byte field is big-endian. Bit diagrams number bits from the most
// significant one of the first byte, as the UE Specification does. Layouts are
// those of UE Specification 1.0.x, chapter 3.5; table numbers are given with
// each header.
package pds
