// Command dissector writes uet.lua, a dissector for released versions of Wireshark, to standard output:
//
//	go run ./bench/dissector > bench/dissector/uet.lua
//	tshark -X lua_script:bench/dissector/uet.lua -r incast.pcap
//
// Which field is where it learns from the codecs of packages pds and ses themselves: it turns round each bit of a
// header, and looks which field of the decoded structure has changed. A module of its own, for the Lua interpreter of
// its tests.
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
