// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"github.com/uetcc/uetcc/bench/uetpcap"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// The file that users copy is what the codecs say now.
func TestScriptIsCurrent(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, write(&b))
	old, err := os.ReadFile("uet.lua")
	require.NoError(t, err)
	require.True(t, b.String() == string(old), "go run ./bench/dissector > bench/dissector/uet.lua")
}

//go:embed mock.lua
var mock string

// load is the dissector in an interpreter.
func load(t testing.TB) *lua.LState {
	l := lua.NewState()
	t.Cleanup(l.Close)
	l.SetGlobal("bits", l.NewFunction(func(l *lua.LState) int {
		b, at, n := []byte(l.CheckString(1)), l.CheckInt(2), l.CheckInt(3)
		v := uint64(0)
		for i := at; i < at+n; i++ {
			v = v<<1 | uint64(b[i/8]>>(7-i%8)&1)
		}
		if n > 32 {
			l.Push(lua.LString(strconv.FormatUint(v, 10))) // as Wireshark has a type of its own
		} else {
			l.Push(lua.LNumber(v))
		}
		return 1
	}))
	require.NoError(t, l.DoString(mock))
	require.NoError(t, l.DoFile("uet.lua"))
	return l
}

// dissect is what the dissector shows of a packet: values by layout and field.
func dissect(t testing.TB, l *lua.LState, wire []byte, native bool) (shown map[string]string, info string) {
	require.NoError(t, l.CallByParam(lua.P{Fn: l.GetGlobal("dissect"), NRet: 2, Protect: true}, lua.LString(wire), lua.LBool(native)))
	shown = map[string]string{}
	l.Get(-2).(*lua.LTable).ForEach(func(_, line lua.LValue) {
		name, value, _ := strings.Cut(line.String(), " ")
		shown[strings.TrimPrefix(name, "uetcc.")] = value
	})
	info = lua.LVAsString(l.Get(-1))
	l.Pop(2)
	return shown, info
}

// fieldsOf are the fields of each layout.
var fieldsOf = func() map[string][]field {
	all := map[string][]field{}
	for _, l := range slices.Concat(pdsLayouts, sesLayouts) {
		all[l.name], _ = l.fields()
	}
	return all
}()

// expected is what a packet has by the codecs: the values of the layouts that are shown, each read where it lies.
func expected(t *testing.T, p *frame.Packet, wire []byte, shown map[string]string) map[string]string {
	want := map[string]string{}
	for _, l := range slices.Concat(pdsLayouts, sesLayouts) {
		if !slices.ContainsFunc(keys(shown), func(k string) bool { return strings.HasPrefix(k, l.name+".") }) {
			continue
		}
		at := 0
		switch {
		case l.name == "nscc" || l.name == "credit":
			at = 24
		case slices.Contains([]string{"atomic", "swap", "rendezvous"}, l.name):
			at = p.Payload - l.len
		case slices.ContainsFunc(sesLayouts, func(x layout) bool { return x.name == l.name }):
			at = p.SES
		}
		b := append(slices.Clone(wire[at:]), make([]byte, 64)...)
		fields := fieldsOf[l.name]
		for _, v := range flatten(l.read(b)) {
			i := slices.IndexFunc(fields, func(f field) bool { return f.name == v.name })
			if i < 0 {
				continue
			}
			s := strconv.FormatUint(v.bits, 10)
			switch f := &fields[i]; {
			case f.bits == 1:
				s = strconv.FormatBool(v.bits != 0)
			case f.signed:
				s = strconv.Itoa(int(int16(v.bits)))
			}
			want[l.name+"."+v.name] = s
		}
	}
	return want
}

func keys(m map[string]string) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

// layoutsOf are those that the codecs use for a packet, as far as the packet names them.
func layoutsOf(p *frame.Packet) (all []string) {
	syn := func(f pds.Flags, name string) string {
		if f&pds.FlagSYN != 0 {
			return name + "_syn"
		}
		return name
	}
	switch {
	case p.Type.IsRequest() && p.Req.HasCC():
		all = append(all, syn(p.Req.Flags, "request_cc"))
	case p.Type.IsRequest():
		all = append(all, syn(p.Req.Flags, "request"))
	case p.Type == pds.TypeACKCC:
		all = append(all, "ack_cc")
		var n pds.NSCCState
		var c pds.CreditState
		if p.Ack.NSCC(&n) {
			all = append(all, "nscc")
		}
		if p.Ack.Credit(&c) {
			all = append(all, "credit")
		}
	case p.Type == pds.TypeACKCCX:
		all = append(all, "ack_ccx")
	case p.Type == pds.TypeNACK, p.Type == pds.TypeNACKCCX:
		all = append(all, "nack")
	case p.Type == pds.TypeCP:
		all = append(all, syn(p.Control.Flags, "control"))
	}
	switch {
	case !p.Form.IsRequest():
	case p.Request.Opcode.IsAtomic() && p.Request.Swap.Opcode.IsSwap():
		all = append(all, "swap")
	case p.Request.Opcode.IsAtomic():
		all = append(all, "atomic")
	case p.Request.Opcode.IsRendezvous() && p.Payload-p.SES > 44:
		all = append(all, "rendezvous")
	}
	return all
}

// random is a packet of a type with a semantic header that may follow it.
func random(r *rand.Rand) []byte {
	b := make([]byte, 16+r.IntN(120))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	t := pds.Type(1 + r.IntN(14))
	next := uint16(r.IntN(16))
	if t != pds.TypeCP && r.IntN(4) != 0 {
		for !t.Allows(pds.NextHdr(next)) && t != pds.TypeTSS {
			next = uint16(r.IntN(7))
		}
	}
	binary.BigEndian.PutUint16(b, uint16(t)<<11|next<<7|uint16(r.IntN(128)))
	return b
}

// For each packet that the parser takes the dissector shows the layouts that the parser has chosen, and in each the
// values of the codecs; bytes that are no packet break nothing.
func TestDissectorAgreesWithTheCodecs(t *testing.T) {
	l, r, layouts := load(t), rand.New(rand.NewPCG(1, 2)), map[string]int{}
	for range 6_000 {
		wire := random(r)
		shown, info := dissect(t, l, wire, false)
		var p frame.Packet
		if (&frame.Parser{}).UDP(wire, &p) != nil {
			continue
		}
		require.Contains(t, info, p.Type.String())
		want := expected(t, &p, wire, shown)
		require.Equal(t, want, shown, "%x", wire)
		for _, name := range layoutsOf(&p) {
			require.True(t, slices.ContainsFunc(keys(shown), func(k string) bool { return strings.HasPrefix(k, name+".") }), "%s is missing: %x", name, wire)
		}
		for k := range shown {
			name, _, _ := strings.Cut(k, ".")
			layouts[name]++
		}
	}
	for _, x := range slices.Concat(pdsLayouts, sesLayouts) {
		if x.name != "entropy" {
			require.NotZero(t, layouts[x.name], x.name)
		}
	}
}

// Over IP the entropy header comes first.
func TestDissectorNative(t *testing.T) {
	p := frame.Packet{Type: pds.TypeACK}
	p.Ack.Ack = pds.Ack{CACK: 77, SPDCID: 1, DPDCID: 2}
	shown, info := dissect(t, load(t), p.AppendTo([]byte{0x12, 0x34, 0, 0}), true)
	require.Equal(t, "4660", shown["entropy.value"])
	require.Equal(t, "77", shown["ack.cack"])
	require.Equal(t, "ACK CACK 77 1>2", info)
}

// The lengths of headers are those of the parser.
func TestFieldsFit(t *testing.T) {
	for _, l := range slices.Concat(pdsLayouts, sesLayouts) {
		fields, err := l.fields()
		require.NoError(t, err)
		require.NotEmpty(t, fields, l.name)
		used := make([]uint64, 8)
		for _, f := range fields {
			require.LessOrEqual(t, f.at+f.bits, 8*l.len)
			for i := f.at; i < f.at+f.bits; i++ {
				used[i/64] |= 1 << (i % 64)
			}
		}
		sum := 0
		for _, w := range used {
			sum += bits.OnesCount64(w)
		}
		require.LessOrEqual(t, sum, 8*l.len)
	}
}

// A released tshark takes the file, and finds in a capture what was written.
func TestTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed here; TestDissectorAgreesWithTheCodecs runs the same file in another interpreter")
	}
	file := filepath.Join(t.TempDir(), "c.pcap")
	out, err := os.Create(file)
	require.NoError(t, err)
	defer out.Close()
	w, err := uetpcap.NewWriter(out)
	require.NoError(t, err)
	for _, native := range []bool{false, true} {
		f := frame.Frame{Native: native}
		f.Src, f.Dst = [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}, [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 2}
		f.Type = pds.TypeACKCC
		f.Ack.CACK, f.Ack.SPDCID, f.Ack.DPDCID, f.Ack.Bitmap = 77, 1, 2, 5
		f.Ack.SetNSCC(&pds.NSCCState{CwndPend: 9, RcvdBytes: 1234})
		require.NoError(t, w.Write(0, &f, 0))
	}
	c := exec.Command(tshark, "-X", "lua_script:uet.lua", "-r", file, "-T", "fields", "-e", "uetcc.ack_cc.cack",
		"-e", "uetcc.ack_cc.bitmap", "-e", "uetcc.nscc.cwnd_pend", "-e", "uetcc.nscc.rcvd_bytes", "-e", "_ws.col.Protocol")
	var errs bytes.Buffer
	c.Stderr = &errs
	text, err := c.Output()
	require.NoError(t, err, errs.String())
	line := "77\t0x0000000000000005\t9\t1234\tUET\n"
	require.Equal(t, line+line, string(text), errs.String())
}
