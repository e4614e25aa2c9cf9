// SPDX-License-Identifier: Apache-2.0

package msg_test

import (
	"fmt"

	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// A write of 16,384 bytes from one end to the other, without a network: the
// numbers are those of the packet walk of the UET congestion chapters.
func Example() {
	target, _ := msg.NewTarget(ses.TargetConfig{MTU: 4096, Processes: 1, Indices: 16, Regions: 1, Messages: 1})
	process, _ := target.AddProcess(ses.Process{Job: 101, PID: 2})
	_, _ = target.OpenIndex(0, process, 0x00a, ses.Index{Kind: ses.IndexMemory})
	generation, _ := target.Renew(0, process, 0x00a)
	_, _ = target.Register(process, 0x00a, ses.Region{
		Base: 0xba5eadd1, Length: 16384, Key: 0xacce5, Job: 101, Rights: ses.RightWrite,
	})

	initiator, _ := msg.NewInitiator(msg.InitiatorConfig{MTU: 4096, Messages: 1})
	message, _ := initiator.Start(&msg.Operation{
		Opcode: ses.OpcodeWrite, Mode: ses.ModeRUD, Relative: true, Job: 101, PID: 2, Index: 0x00a,
		Generation: generation, Key: 0xacce5, Length: 16384,
	})

	var request msg.TxReq
	for {
		if n := initiator.Next(0, message, &request); n == 0 {
			break
		}
		_ = initiator.Handed(message, 1)
		packet := make([]byte, request.Header)
		_, payload := initiator.PutHeader(packet, request.Packet) // payload.Length bytes follow

		var arrived ses.Request
		_, _ = arrived.Decode(pds.NextRequestStd, packet)
		var d msg.Decision
		target.Receive(&arrived, msg.Arrival{Peer: 0x8001, Payload: int(payload.Length)}, &d)
		fmt.Printf("%v %d bytes at 0x%x, whole: %v\n", d.Action, d.Length, d.Address, d.Complete)

		var reply ses.Reply
		response := d.Response.AppendTo(nil)
		_, _ = reply.Decode(pds.NextResponse, response)
		var event msg.Event
		_, _ = initiator.RxRsp(0, request.Packet, pds.NextResponse, response, &event)
		fmt.Println(&reply, "->", event.Kind, event.Outcome.Status)
	}
	// Output:
	// place 4096 bytes at 0xba5eadd1, whole: false
	// UET_DEFAULT_RESPONSE RC_OK UET_EXPECTED id 1 job 101 gen 1 length 16384 -> none none
	// place 4096 bytes at 0xba5ebdd1, whole: false
	// UET_DEFAULT_RESPONSE RC_OK UET_EXPECTED id 1 job 101 gen 1 length 16384 -> none none
	// place 4096 bytes at 0xba5ecdd1, whole: false
	// UET_DEFAULT_RESPONSE RC_OK UET_EXPECTED id 1 job 101 gen 1 length 16384 -> none none
	// place 4096 bytes at 0xba5eddd1, whole: true
	// UET_DEFAULT_RESPONSE RC_OK UET_EXPECTED id 1 job 101 gen 1 length 16384 -> done ok
}
