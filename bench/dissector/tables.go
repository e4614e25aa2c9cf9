// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

//go:embed dissector.lua
var template string

// script is the dissector: the template with the tables.
func script() (string, error) {
	var b strings.Builder
	for _, l := range slices.Concat(pdsLayouts, sesLayouts) {
		fields, err := l.fields()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "lens.%s = %d\nlayouts.%s = {\n", l.name, l.len, l.name)
		for _, f := range fields {
			fmt.Fprintf(&b, "  { name = %q, at = %d, bits = %d%s },\n", f.name, f.at, f.bits, f.more())
		}
		b.WriteString("}\n")
	}
	for _, t := range facts() {
		fmt.Fprintf(&b, "%s = %s\n", t.name, t.value)
	}
	return strings.Replace(template, "--TABLES--", b.String(), 1), nil
}

// more is the data of a field beside the place.
func (f *field) more() (s string) {
	if f.signed {
		s += ", signed = true"
	}
	if f.bits == 64 || strings.HasPrefix(f.name, "token") {
		s += ", hex = true"
	}
	if len(f.values) > 0 {
		s += ", values = " + list(len(f.values), func(i int) string { return quoted(f.values[i]) })
	}
	return s
}

// A fact is a table for the dissector beside the layouts.
type fact struct{ name, value string }

func facts() []fact {
	types := func(f func(pds.Type) string) string { return list(32, func(i int) string { return f(pds.Type(i)) }) }
	opcodes := func(is func(ses.Opcode) bool) string {
		return list(64, func(i int) string { return set(is(ses.Opcode(i))) })
	}
	return []fact{
		{"names.port", fmt.Sprint(pds.UDPPort)},
		{"names.protocol", fmt.Sprint(pds.IPProtocol)},
		{"names.tss", fmt.Sprint(uint8(pds.TypeTSS))},
		{"names.cp", fmt.Sprint(uint8(pds.TypeCP))},
		{"names.medium", fmt.Sprint(uint8(pds.NextRequestMedium))},
		{"names.standard", fmt.Sprint(uint8(pds.NextRequestStd))},
		{"names.response", fmt.Sprint(uint8(pds.NextResponse))},
		{"names.rtr", fmt.Sprint(uint8(ses.OpcodeDeferrableRTR))},
		{"names.type", types(func(t pds.Type) string { return quoted(nameOf(t)) })},
		{"names.size", types(func(t pds.Type) string { return fmt.Sprint(t.HeaderLen()) })},
		{"names.class", types(func(t pds.Type) string { return quoted(classes[t]) })},
		{"names.with_cc", types(func(t pds.Type) string { return set(t == pds.TypeRUDCCReq || t == pds.TypeRODCCReq) })},
		{"names.ack_cc", types(func(t pds.Type) string {
			return quoted(map[pds.Type]string{pds.TypeACKCC: "ack_cc", pds.TypeACKCCX: "ack_ccx"}[t])
		})},
		{"names.forms", types(func(t pds.Type) string {
			return list(16, func(i int) string { return set(t.Allows(pds.NextHdr(i))) })
		})},
		{"names.cc_state", fmt.Sprintf(`{ [%d] = "nscc", [%d] = "credit" }`, pds.CCNSCC, pds.CCCredit)},
		{"names.control", fmt.Sprintf(`{ [%d] = "control_credit", [%d] = "control_credit_req" }`, pds.CtlCredit, pds.CtlCreditReq)},
		{"names.ctl", list(16, func(i int) string { return quoted(nameOf(pds.CtlType(i))) })},
		{"names.nack_code", list(256, func(i int) string { return quoted(nameOf(pds.NackCode(i))) })},
		{"names.opcode", list(64, func(i int) string { return quoted(nameOf(ses.Opcode(i))) })},
		{"names.return_code", list(64, func(i int) string { return quoted(nameOf(ses.ReturnCode(i))) })},
		{"extension.atomic", opcodes(ses.Opcode.IsAtomic)},
		{"extension.rendezvous", opcodes(ses.Opcode.IsRendezvous)},
		{"extension.deferrable", opcodes(ses.Opcode.IsDeferrable)},
		{"extension.swap", list(256, func(i int) string { return set(ses.AtomicOpcode(i).IsSwap()) })},
	}
}

// classes are the packet types by the packets with the same flags.
var classes = map[pds.Type]string{
	pds.TypeRUDReq: "request", pds.TypeRODReq: "request", pds.TypeRUDCCReq: "request", pds.TypeRODCCReq: "request",
	pds.TypeRUDIReq: "rudi", pds.TypeRUDIResp: "rudi", pds.TypeUUDReq: "uud",
	pds.TypeACK: "ack", pds.TypeACKCC: "ack", pds.TypeACKCCX: "ack", pds.TypeNACK: "nack", pds.TypeNACKCCX: "nack",
}

// nameOf is the name of a value of the wire, "" if only a number.
func nameOf(v fmt.Stringer) string {
	if s := v.String(); !strings.HasSuffix(s, ")") { // as in NackCode(200)
		return s
	}
	return ""
}

// list is a Lua table of the entries that are not empty, by number from 0 on.
func list(n int, of func(int) string) string {
	var all []string
	for i := range n {
		if s := of(i); s != "" {
			all = append(all, fmt.Sprintf("[%d] = %s", i, s))
		}
	}
	return "{ " + strings.Join(all, ", ") + " }"
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("%q", s)
}

func set(is bool) string {
	if is {
		return "true"
	}
	return ""
}
