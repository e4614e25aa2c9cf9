// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The fields of an Ack as the slots of a table, in the order that wastes no bytes.
const flatFields = 10

// flatPut builds the table of a, as generated code does.
func flatPut(fb *flatbuffers.Builder, a *Ack) []byte {
	fb.Reset()
	fb.StartObject(flatFields)
	fb.PrependUint64Slot(0, a.State, 0)
	fb.PrependUint64Slot(1, a.Bitmap, 0)
	fb.PrependUint32Slot(2, a.CACK, 0)
	for i, v := range [...]uint16{a.Prologue, a.Offset, a.SPDCID, a.DPDCID, a.SACKOffset} {
		fb.PrependUint16Slot(3+i, v, 0)
	}
	fb.PrependByteSlot(8, a.CC, 0)
	fb.PrependByteSlot(9, a.MPR, 0)
	fb.Finish(fb.EndObject())
	return fb.FinishedBytes()
}

// flatGet reads every field of the table once. A slot lies two bytes behind the one
// before it in the table's index, which begins with four bytes of its own.
func flatGet(b []byte, a *Ack) {
	t := flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
	a.State, a.Bitmap, a.CACK = t.GetUint64Slot(4, 0), t.GetUint64Slot(6, 0), t.GetUint32Slot(8, 0)
	a.Prologue, a.Offset, a.SPDCID = t.GetUint16Slot(10, 0), t.GetUint16Slot(12, 0), t.GetUint16Slot(14, 0)
	a.DPDCID, a.SACKOffset = t.GetUint16Slot(16, 0), t.GetUint16Slot(18, 0)
	a.CC, a.MPR = t.GetByteSlot(20, 0), t.GetByteSlot(22, 0)
}

func TestFlatbuffersKeepAll(t *testing.T) {
	var a Ack
	if flatGet(flatPut(flatbuffers.NewBuilder(256), &sample.Ack), &a); a != sample.Ack {
		t.Errorf("%+v", a)
	}
}

func benchFlatbuffers(b *testing.B) {
	fb, a := flatbuffers.NewBuilder(256), sample.Ack
	wire := bytes.Clone(flatPut(fb, &a))
	b.Run("get/flatbuffers", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			flatGet(wire, &a)
			sink += a.State
		}
	})
	b.Run("put/flatbuffers", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink += uint64(len(flatPut(fb, &a)))
		}
	})
}
