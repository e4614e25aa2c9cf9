// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Where the header says that there is no header data it is 0.
func TestOperationHeaderDataNeedsItsFlag(t *testing.T) {
	for _, op := range []Opcode{OpcodeWrite, OpcodeDeferrableSend, OpcodeDeferrableRTR, OpcodeRendezvousSend} {
		o := walkWrite()
		o.Opcode, o.HasData, o.HeaderData = op, false, 5
		q := packetOf(o, walkMTU, 0)
		require.Zero(t, q.Request.HeaderData, op)
	}
}

// What only atomics look at means nothing elsewhere.
func TestOperationPayloadOfAWrite(t *testing.T) {
	o := walkWrite()
	o.Swap.Opcode = AtomicRead
	q := packetOf(o, walkMTU, 0)
	require.EqualValues(t, walkMTU, q.Length)
}

func TestOperationDeliveryComplete(t *testing.T) {
	for _, dc := range []bool{false, true} {
		o := walkWrite()
		o.DeliveryComplete = dc
		q := packetOf(o, walkMTU, 0)
		require.Equal(t, dc, q.Request.Flags.Has(FlagDC))
	}
}

func TestOperationValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Operation)
		want error
	}{
		{"vendor opcode", func(o *Operation) { o.Opcode = 0x30 }, ErrOperation},
		{"message error is not an operation", func(o *Operation) { o.Opcode = OpcodeMsgError }, ErrOperation},
		{"datagram over RUD", func(o *Operation) { o.Opcode = OpcodeDatagramSend }, ErrOperation},
		{"write over UUD", func(o *Operation) { o.Mode = ModeUUD }, ErrOperation},
		{"mode that is none", func(o *Operation) { o.Mode = 9 }, ErrOperation},
		{"datagram of two packets", func(o *Operation) { o.Opcode, o.Mode, o.Length = OpcodeDatagramSend, ModeUUD, 4097 }, ErrTooLong},
		{"atomic of two packets", func(o *Operation) { o.Opcode, o.Length = OpcodeAtomic, 4097 }, ErrTooLong},
		{"no-op with data", func(o *Operation) { o.Opcode = OpcodeNoOp }, ErrTooLong},
		{"no-op with a byte", func(o *Operation) { o.Opcode, o.Length = OpcodeNoOp, 1 }, ErrTooLong},
		{"job too wide", func(o *Operation) { o.Job = AnyJob }, ErrRange},
		{"process to read from too wide", func(o *Operation) { o.Opcode, o.Rendezvous.PIDonFEP = OpcodeRendezvousSend, 0x1000 }, ErrRange},
		{"index to read from too wide", func(o *Operation) { o.Opcode, o.Rendezvous.Index = OpcodeRendezvousTSend, 0x1000 }, ErrRange},
		{"small with a key", func(o *Operation) { o.Form, o.Length = FormSmall, 1 }, ErrOperation},
		{"small with data", func(o *Operation) { o.Form, o.Key, o.Length, o.HasData = FormSmall, 0, 1, true }, ErrOperation},
		{"small of two packets", func(o *Operation) { o.Form, o.Key = FormSmall, 0 }, ErrTooLong},
		{"small", func(o *Operation) { o.Form, o.Key, o.Length = FormSmall, 0, 4096 }, nil},
		{"medium with data and offset", func(o *Operation) { o.Form, o.Length, o.HasData, o.BufferOffset = FormMedium, 1, true, 1 }, ErrOperation},
		{"medium", func(o *Operation) { o.Form, o.Length, o.HasData = FormMedium, 1, true }, nil},
		{"response form", func(o *Operation) { o.Form = FormResponse }, ErrOperation},
	} {
		o := walkWrite()
		c.edit(o)
		require.Equal(t, c.want, o.Validate(4096), c.name)
		if c.want == nil {
			q := packetOf(o, 4096, 0)
			require.NoError(t, q.Request.Validate(), c.name)
		}
	}
}
