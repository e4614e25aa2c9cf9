// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// Where the header says that there is no header data it is 0.
func TestOperationHeaderDataNeedsItsFlag(t *testing.T) {
	for _, op := range []ses.Opcode{ses.OpcodeWrite, ses.OpcodeDeferrableSend, ses.OpcodeDeferrableRTR, ses.OpcodeRendezvousSend} {
		o := walkWrite()
		o.Opcode, o.HasData, o.HeaderData = op, false, 5
		q := packetOf(o, walkMTU, 0)
		require.Zero(t, q.Request.HeaderData, op)
	}
}

// What only atomics look at means nothing elsewhere.
func TestOperationPayloadOfAWrite(t *testing.T) {
	o := walkWrite()
	o.Swap.Opcode = ses.AtomicRead
	q := packetOf(o, walkMTU, 0)
	require.EqualValues(t, walkMTU, q.Length)
}

func TestOperationDeliveryComplete(t *testing.T) {
	for _, dc := range []bool{false, true} {
		o := walkWrite()
		o.DeliveryComplete = dc
		q := packetOf(o, walkMTU, 0)
		require.Equal(t, dc, q.Request.Flags.Has(ses.FlagDC))
	}
}

func TestOperationValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Operation)
		want error
	}{
		{"vendor opcode", func(o *Operation) { o.Opcode = 0x30 }, ses.ErrOperation},
		{"message error is not an operation", func(o *Operation) { o.Opcode = ses.OpcodeMsgError }, ses.ErrOperation},
		{"datagram over RUD", func(o *Operation) { o.Opcode = ses.OpcodeDatagramSend }, ses.ErrOperation},
		{"write over UUD", func(o *Operation) { o.Mode = ses.ModeUUD }, ses.ErrOperation},
		{"mode that is none", func(o *Operation) { o.Mode = 9 }, ses.ErrOperation},
		{"datagram of two packets", func(o *Operation) { o.Opcode, o.Mode, o.Length = ses.OpcodeDatagramSend, ses.ModeUUD, 4097 }, ses.ErrTooLong},
		{"atomic of two packets", func(o *Operation) { o.Opcode, o.Length = ses.OpcodeAtomic, 4097 }, ses.ErrTooLong},
		{"no-op with data", func(o *Operation) { o.Opcode = ses.OpcodeNoOp }, ses.ErrTooLong},
		{"no-op with a byte", func(o *Operation) { o.Opcode, o.Length = ses.OpcodeNoOp, 1 }, ses.ErrTooLong},
		{"job too wide", func(o *Operation) { o.Job = ses.AnyJob }, ses.ErrRange},
		{"process to read from too wide", func(o *Operation) { o.Opcode, o.Rendezvous.PIDonFEP = ses.OpcodeRendezvousSend, 0x1000 }, ses.ErrRange},
		{"index to read from too wide", func(o *Operation) { o.Opcode, o.Rendezvous.Index = ses.OpcodeRendezvousTSend, 0x1000 }, ses.ErrRange},
		{"small with a key", func(o *Operation) { o.Form, o.Length = pds.NextRequestSmall, 1 }, ses.ErrOperation},
		{"small with data", func(o *Operation) { o.Form, o.Key, o.Length, o.HasData = pds.NextRequestSmall, 0, 1, true }, ses.ErrOperation},
		{"small of two packets", func(o *Operation) { o.Form, o.Key = pds.NextRequestSmall, 0 }, ses.ErrTooLong},
		{"small", func(o *Operation) { o.Form, o.Key, o.Length = pds.NextRequestSmall, 0, 4096 }, nil},
		{"medium with data and offset", func(o *Operation) { o.Form, o.Length, o.HasData, o.BufferOffset = pds.NextRequestMedium, 1, true, 1 }, ses.ErrOperation},
		{"medium", func(o *Operation) { o.Form, o.Length, o.HasData = pds.NextRequestMedium, 1, true }, nil},
		{"response form", func(o *Operation) { o.Form = pds.NextResponse }, ses.ErrOperation},
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
