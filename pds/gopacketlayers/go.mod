module github.com/uetcc/uetcc/pds/gopacketlayers

go 1.26.0

require (
	github.com/gopacket/gopacket v1.7.7
	github.com/stretchr/testify v1.12.1
	github.com/uetcc/uetcc v0.0.0
)

require (
	go.uber.org/atomic v1.12.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/uetcc/uetcc => ../..
