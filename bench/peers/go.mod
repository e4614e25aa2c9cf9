module github.com/uetcc/uetcc/bench/peers

go 1.26.0

require (
	github.com/RoaringBitmap/roaring/v2 v2.30.0
	github.com/google/flatbuffers v25.12.19+incompatible
	github.com/google/gopacket v1.1.19
	github.com/gopacket/gopacket v1.7.7
	github.com/llxisdsh/pb v1.5.0
	github.com/pion/transport/v3 v3.1.1
	github.com/puzpuzpuz/xsync/v4 v4.5.0
	github.com/quic-go/quic-go v0.60.0
	github.com/uetcc/uetcc v0.1.0
	github.com/xtaci/kcp-go/v5 v5.6.61
	golang.org/x/sync v0.23.0
	golang.org/x/time v0.14.0
	golang.zx2c4.com/wireguard v0.0.0-20260522210424-ecfc5a8d5446
	gvisor.dev/gvisor v0.0.0-20250503011706-39ed1f5ac29c
)

require (
	github.com/bits-and-blooms/bitset v1.29.0 // indirect
	github.com/google/btree v1.1.3 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	github.com/klauspost/reedsolomon v1.12.0 // indirect
	github.com/mschoch/smat v0.2.0 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/tjfoc/gmsm v1.4.1 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
