// SPDX-License-Identifier: Apache-2.0

package uetpcap_test

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"os"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/bench/uetpcap"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// What an endpoint sends, as a capture that Wireshark opens.
func ExampleWriter_Tap() {
	var file bytes.Buffer
	w, _ := uetpcap.NewWriter(&file)
	e, err := uetcc.NewEndpoint(uetcc.Config{Address: netip.MustParseAddr("10.0.0.1"), Tap: w.Tap})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = e.Write(0, &uetcc.Message{To: uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2")}, Length: 5000})
	out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
	for e.Transmit(1000, &out) {
	}
	fmt.Println(w.Err())
	n, err := uetpcap.Print(io.Discard, &file, &frame.Parser{})
	fmt.Println(n.UET, "of", n.All, "packets,", n.Illegal, "illegal", err)
	// Output:
	// <nil>
	// 2 of 2 packets, 0 illegal <nil>
}

// A capture as lines of JSON, for other programs.
func ExamplePrintJSON() {
	var file bytes.Buffer
	w, err := uetpcap.NewWriter(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	f := frame.Frame{TOS: pds.TOS(46, pds.ECNNotECT)}
	f.Src, f.Dst = [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}, [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 2}
	f.Type, f.Ack.Ack = pds.TypeACK, pds.Ack{CACK: 77, SPDCID: 1, DPDCID: 2}
	if err := w.Write(0, &f, 0); err != nil {
		fmt.Println(err)
		return
	}
	n, err := uetpcap.PrintJSON(os.Stdout, &file, &frame.Parser{})
	fmt.Println(n.UET, err)
	// Output:
	// {"packet":1,"time_s":0,"src":"10.0.0.1","dst":"10.0.0.2","entropy":0,"dscp":46,"ecn":"Not-ECT","type":"ACK","cack_psn":77,"spdcid":1,"dpdcid":2,"bytes":0,"headers":"ACK cack=77 psn=77 spdc=1 dpdc=2 UET_HDR_NONE"}
	// 1 <nil>
}

// What each side of each PDC has sent.
func ExampleSum() {
	var file bytes.Buffer
	w, _ := uetpcap.NewWriter(&file)
	f := frame.Frame{}
	f.Src, f.Dst = [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}, [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 2}
	f.Type, f.Ack.Ack = pds.TypeACK, pds.Ack{CACK: 77, SPDCID: 1, DPDCID: 2}
	for _, now := range []int64{0, 2000} {
		if err := w.Write(now, &f, 0); err != nil {
			fmt.Println(err)
		}
	}
	keep, _ := uetpcap.ParseFilter("type=ACK,cack_psn=1..100")
	_, err := uetpcap.Sum(os.Stdout, &file, &frame.Parser{}, true, keep)
	fmt.Println(err)
	// Output:
	// {"pdc":1,"src":"10.0.0.1","dst":"10.0.0.2","spdcid":1,"packets":2,"requests":0,"bytes":0,"resent":0,"trimmed":0,"marked":0,"acks":2,"nacks":0,"controls":0,"first_s":0,"last_s":0.000002}
	// <nil>
}
