// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ses"
)

// The packet walk of the UET congestion chapters, number for number: 10.0.0.1 writes 16,384 bytes to
// 10.0.0.2 in four fragments, which all leave before an acknowledgement comes
// back. (walkConfig and the like are in walk_test.go.)
func ExampleEndpoint() {
	initiator, _ := uetcc.NewEndpoint(walkConfig(0, 0x4001))
	target, _ := uetcc.NewEndpoint(walkConfig(1, 0x8001))
	openWalk(target, walkLen, ses.RightWrite)

	m := walkMessage()
	h, _ := initiator.Connect(0, &m)
	startAt(initiator, h, 0x12000)
	message, err := initiator.Write(0, &m)
	fmt.Println(message != 0, err)

	var acks []wirePacket
	for _, p := range sendAll(0, initiator) {
		fmt.Println(walkLine(p))
		r, back := receive(0, target, p)
		fmt.Printf("  %v %d bytes at %#x, whole: %v\n", r.Action, r.Length, r.Address, r.Complete)
		acks = append(acks, back...)
	}
	for _, p := range acks {
		fmt.Println(walkLine(p))
		receive(0, initiator, p)
	}
	event, _ := initiator.Poll()
	fmt.Println(event.Message == message, event.Cookie, event.Outcome.Status, event.Outcome.Length)
	// Output:
	// true <nil>
	// TC low RUD_REQ 0x4001>0x0 psn 0x12000 clear 0x11fff syn true offset 0 ar false | som,rel id 1 at 0 of 16384
	//   place 4096 bytes at 0xba5eadd1, whole: false
	// TC low RUD_REQ 0x4001>0x0 psn 0x12001 clear 0x11fff syn true offset 1 ar false | rel id 1 at 4096 of 16384
	//   place 4096 bytes at 0xba5ebdd1, whole: false
	// TC low RUD_REQ 0x4001>0x0 psn 0x12002 clear 0x11fff syn true offset 2 ar false | rel id 1 at 8192 of 16384
	//   place 4096 bytes at 0xba5ecdd1, whole: false
	// TC low RUD_REQ 0x4001>0x0 psn 0x12003 clear 0x11fff syn true offset 3 ar true | eom,rel id 1 at 12288 of 16384
	//   place 4096 bytes at 0xba5eddd1, whole: true
	// TC high ACK 0x8001>0x4001 cack 0x12000 psn 0x12000 | UET_DEFAULT_RESPONSE RC_OK UET_EXPECTED id 1 job 101 gen 1 length 16384
	// TC high ACK 0x8001>0x4001 cack 0x12001 psn 0x12001 | UET_DEFAULT_RESPONSE RC_OK UET_EXPECTED id 1 job 101 gen 1 length 16384
	// TC high ACK 0x8001>0x4001 cack 0x12002 psn 0x12002 | UET_DEFAULT_RESPONSE RC_OK UET_EXPECTED id 1 job 101 gen 1 length 16384
	// TC high ACK 0x8001>0x4001 cack 0x12003 psn 0x12003 | UET_DEFAULT_RESPONSE RC_OK UET_EXPECTED id 1 job 101 gen 1 length 16384
	// true 99 ok 16384
}

// A write of 64 KiB through a window of three packets: each acknowledgement lets the next
// ones go, in one step, those that have come meanwhile together.
func ExampleEndpoint_ExchangeBatch() {
	config := walkConfig(0, 0x4001)
	config.CC.NSCC.InitialCwnd = 3 * 4400 // packets with their headers
	config.PDS.NoAckCC = false            // congestion state in acknowledgements
	initiator, _ := uetcc.NewEndpoint(config)
	config = walkConfig(1, 0x8001)
	config.PDS.NoAckCC = false
	target, _ := uetcc.NewEndpoint(config)
	openWalk(target, 1<<16, ses.RightWrite)
	m := walkMessage()
	m.Length = 1 << 16
	_, _ = initiator.Write(0, &m)

	wire := sendAll(0, initiator)
	fmt.Println("first:", len(wire))
	var in, replies, out [16]uetcc.Datagram
	var got [16]uetcc.Received
	for i := range out {
		out[i], replies[i] = newDatagram(), newReply(initiator)
	}
	packets := len(wire)
	for now := int64(10_000); len(wire) > 0; now += 10_000 {
		n := 0
		for _, p := range wire {
			_, acks := receive(now, target, p)
			for _, ack := range acks {
				in[n] = uetcc.Datagram{Packet: ack.data, Src: ack.src, Dst: ack.dst}
				n++
			}
		}
		wire = wire[:0]
		sent := initiator.ExchangeBatch(now, in[:n], replies[:n], got[:n], out[:])
		fmt.Println("acknowledgements:", n, "packets:", sent)
		for i := range out[:sent] {
			wire = append(wire, onWire(&out[i]))
		}
		packets += sent
	}
	event, _ := initiator.Poll()
	fmt.Println(packets, "packets in all;", event.Outcome.Status, event.Outcome.Length)
	// Output:
	// first: 3
	// acknowledgements: 3 packets: 3
	// acknowledgements: 3 packets: 6
	// acknowledgements: 2 packets: 4
	// acknowledgements: 1 packets: 0
	// 16 packets in all; ok 65536
}
