// SPDX-License-Identifier: Apache-2.0

// Command dissector writes uet.lua, a dissector for released versions of Wireshark, to standard output:
//
//	go run ./bench/dissector > bench/dissector/uet.lua
//	tshark -X lua_script:bench/dissector/uet.lua -r incast.pcap
//
// The places of fields are learnt from the codecs of packages pds and ses: each bit of a header is
// turned round, to see the changed field of the decoded structure. The command is a separate module,
// for the Lua interpreter of the tests.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "dissector: %v\n", err)
		os.Exit(1)
	}
}

func write(w io.Writer) error {
	text, err := script()
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}
