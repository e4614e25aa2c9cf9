module github.com/uetcc/uetcc/bench/peers

go 1.26.0

require (
	github.com/google/gopacket v1.1.19
	github.com/gopacket/gopacket v1.7.7
	github.com/llxisdsh/pb v1.5.0
	github.com/puzpuzpuz/xsync/v4 v4.5.0
	golang.org/x/sync v0.23.0
	golang.org/x/time v0.14.0
	golang.zx2c4.com/wireguard v0.0.0-20260522210424-ecfc5a8d5446
)

require golang.org/x/sys v0.49.0 // indirect
