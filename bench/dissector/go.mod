module github.com/uetcc/uetcc/bench/dissector

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	github.com/uetcc/uetcc v0.1.0
	github.com/yuin/gopher-lua v1.1.2
)

require (
	github.com/gopacket/gopacket v1.7.7 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
