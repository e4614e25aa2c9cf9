// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"testing"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// fuzzSES checks of any bytes that a header which decodes is no longer than
// them, encodes to a fixed point into a dirty buffer, and formats itself; and
// that an error leaves the value untouched.
func fuzzSES[T comparable](f *testing.F, codec func(*T) sesCodec) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, in []byte) {
		var h, again, untouched T
		n, err := codec(&h).Decode(in)
		if err != nil {
			if h != untouched || n != 0 {
				t.Fatalf("%x: error %v, but n = %d and %+v", in, err, n, h)
			}
			return
		}
		if n > len(in) {
			t.Fatalf("%x: %d bytes used of %d", in, n, len(in))
		}
		dirty := bytes.Repeat([]byte{0xff}, 128)
		out := codec(&h).AppendTo(dirty[:0])
		if m, err := codec(&again).Decode(out); err != nil || m != len(out) || m != n || again != h {
			t.Fatalf("%x decodes to %+v, encodes to %x, which decodes to %+v, %v", in, h, out, again, err)
		}
		if twice := codec(&again).AppendTo(nil); !bytes.Equal(out, twice) {
			t.Fatalf("%x encodes to %x and again to %x", in, out, twice)
		}
		_ = codec(&h).Validate()
		if s := codec(&h).String(); s == "" || bytes.ContainsRune([]byte(s), '\n') {
			t.Fatalf("%x formats as %q", in, s)
		}
	})
}

// sesSeeds returns the recorded headers of one kind.
func sesSeeds(f *testing.F, kind string) (seeds [][]byte) {
	f.Helper()
	for _, v := range readVectors[vector](f, "ses.jsonl") {
		if v.Name == kind {
			seeds = append(seeds, unhex(f, v.Hex))
		}
	}
	return seeds
}

// A sesWalked header takes its form from the first byte of the input, as from a
// PDS header.
type sesWalkedRequest struct{ ses.Request }

func (r *sesWalkedRequest) Decode(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, ses.ErrTruncated
	}
	n, err := r.Request.Decode(pds.NextHdr(b[0]), b[1:])
	if err != nil {
		return 0, err
	}
	return n + 1, nil
}

func (r *sesWalkedRequest) AppendTo(b []byte) []byte {
	return r.Request.AppendTo(append(b, byte(r.Form)))
}

type sesWalkedReply struct{ ses.Reply }

func (r *sesWalkedReply) Decode(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, ses.ErrTruncated
	}
	n, err := r.Reply.Decode(pds.NextHdr(b[0]), b[1:])
	if err != nil {
		return 0, err
	}
	return n + 1, nil
}

func (r *sesWalkedReply) AppendTo(b []byte) []byte {
	return r.Reply.AppendTo(append(b, byte(r.Form)))
}

// addForms seeds f with every recorded header of the kinds behind its form.
func addForms(f *testing.F, forms map[string]pds.NextHdr) {
	for kind, form := range forms {
		for _, seed := range sesSeeds(f, kind) {
			f.Add(append([]byte{byte(form)}, seed...))
		}
	}
}

func FuzzSESRequest(f *testing.F) {
	addForms(f, map[string]pds.NextHdr{
		"req_std_som1": pds.NextRequestStd, "req_std_som0": pds.NextRequestStd, "req_std_atomic": pds.NextRequestStd,
		"req_std_cswap": pds.NextRequestStd, "req_std_rendezvous": pds.NextRequestStd, "defer_send": pds.NextRequestStd,
		"defer_tsend": pds.NextRequestStd, "rtr": pds.NextRequestStd,
		"req_small": pds.NextRequestSmall, "req_small_atomic": pds.NextRequestSmall, "req_small_cswap": pds.NextRequestSmall,
		"req_medium": pds.NextRequestMedium, "req_medium_atomic": pds.NextRequestMedium, "req_medium_cswap": pds.NextRequestMedium,
	})
	fuzzSES(f, func(h *sesWalkedRequest) sesCodec { return h })
}

func FuzzSESReply(f *testing.F) {
	addForms(f, map[string]pds.NextHdr{
		"rsp": pds.NextResponse, "rsp_default": pds.NextResponse, "rsp_none": pds.NextResponse,
		"rsp_data": pds.NextResponseData, "rsp_data_small": pds.NextResponseDataSmall,
	})
	fuzzSES(f, func(h *sesWalkedReply) sesCodec { return h })
}
