module github.com/uetcc/uetcc/nscc/quicsender

go 1.26.0

require (
	github.com/sagernet/quic-go v0.52.0-beta.1
	github.com/stretchr/testify v1.12.1
	github.com/uetcc/uetcc v0.1.0
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)
