// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// opsTarget are the opcodes a Target can serve.
const opsTarget = kindMemoryOps | kindQueueOps | 1<<ses.OpcodeNoOp | 1<<ses.OpcodeMsgError

// A plan is the result of a request's validation.
type plan struct {
	extent
	base   uint64 // address of the message's first byte
	cookie uint64
	limit  uint32     // bytes of the message that fit the buffer
	entry  uint32     // resource index
	region ses.Handle // 0 for a receive buffer
	recv   uint32     // receive buffer to consume, slot + 1

	pending ses.Handle // deferred send owning recv
	gen     ses.Generation
}

// An extent is the part of the message a packet is about.
type extent struct {
	off, n uint32
	all    uint32 // bytes in the packets of the whole message
}

// check makes the checks from [step.Opcode] to [step.Atomic] in order and returns the first
// failure. m is the message's record, or nil. Nothing changes but p.
//
//uetcc:hot
func (t *Target) check(r *ses.Request, a *Arrival, m *Record, p *plan) (ses.Check, ses.ReturnCode) {
	if !carries(a.Mode, r.Opcode) || !among(r.Opcode, opsOfForm[r.Form]&t.ops) {
		return step.Opcode, ses.RCUnsupportedOp
	}
	if r.Opcode == ses.OpcodeNoOp {
		if !r.Flags.Has(flagsOnly) {
			return step.Lengths, ses.RCOpViolation
		}
		return step.None, ses.RCOK
	}
	if why, code := t.locate(r, m, p); code != ses.RCOK {
		return why, code
	}
	var ok bool
	if p.extent, ok = t.extentOf(r, a.Payload); !ok || m != nil && !m.admits(p.extent) {
		return step.Lengths, ses.RCOpViolation
	}
	if r.Flags&ses.FlagIE != 0 {
		return step.Initiator, ses.RCInitiatorError
	}
	if among(r.Opcode, kindQueueOps) {
		return t.checkQueue(r, a, m, p)
	}
	return t.checkMemory(r, a.Mode, m, p)
}

// locate follows the address to the resource index and checks the opcode there: the checks
// from [step.FEP] to [step.Generation].
//
//uetcc:hot
func (t *Target) locate(r *ses.Request, m *Record, p *plan) (ses.Check, ses.ReturnCode) {
	i, ok := t.processes.find(pairOf(ses.Process{Job: r.JobID, PID: r.PIDonFEP, Absolute: r.Flags&ses.FlagRel == 0}))
	if !ok {
		return t.notFound(r)
	}
	if int(r.Index) >= t.perProcess {
		return step.Index, ses.RCBadIndex
	}
	p.entry = i*uint32(t.perProcess) + uint32(r.Index)
	e := &t.entries[p.entry]
	p.gen = e.gen
	switch {
	case e.state == ses.IndexInvalid:
		return step.Index, ses.RCBadIndex
	case !among(r.Opcode, kindOps[e.kind]):
		return step.Opcode, ses.RCUnsupportedOp
	case e.state == ses.IndexDisabled:
		return step.Enabled, ses.RCDisabled
	case e.state == ses.IndexGenDisabled:
		return step.GenEnabled, ses.RCDisabledGen
	case e.gen != r.Generation:
		return step.Generation, ses.RCBadGeneration
	case m != nil && m.head.opcode() != r.Opcode:
		return step.SameBuffer, ses.RCPermViolation
	}
	return step.None, ses.RCOK
}

// notFound returns the error of an address without a process.
func (t *Target) notFound(r *ses.Request) (ses.Check, ses.ReturnCode) {
	if t.processes.used == 0 {
		return step.FEP, ses.RCUndeliverable
	}
	if _, ok := t.jobs.find(pair{a: uint64(r.JobID)}); r.Flags&ses.FlagRel != 0 && !ok {
		return step.Job, ses.RCBadJobID
	}
	return step.PID, ses.RCBadPID
}

// extentOf returns the part of the message named by r, false if lengths or payload contradict
// each other. Reads bring no payload, nor do some atomics.
func (t *Target) extentOf(r *ses.Request, payload int) (x extent, ok bool) {
	all := carried(r)
	x.all = all
	switch {
	case all > r.RequestLength, r.Opcode == ses.OpcodeDatagramSend && r.MessageID != 0:
		return x, false
	case r.Flags.Has(flagsOnly):
		x.n = all
		return x, r.Opcode == ses.OpcodeRead || all <= t.mtu && (payload >= int(all) || r.Opcode.IsAtomic() && noPayload(r.Swap.Opcode))
	case r.Form != pds.NextRequestStd || r.Opcode.IsAtomic() || r.Opcode == ses.OpcodeDatagramSend:
		return x, false
	case r.Flags&ses.FlagSOM != 0:
		x.n = uint32(payload)
		if r.Opcode == ses.OpcodeRead {
			// Only initiators of package ses give the length, in place of header data; all other initiators must use mtu.
			if x.n = t.mtu; r.Flags&ses.FlagHD == 0 && r.HeaderData>>32 != 0 {
				x.n = uint32(r.HeaderData >> 32)
			}
		}
		return x, x.n <= t.mtu && all > x.n && isMTU(x.n)
	}
	x.off, x.n = r.MessageOffset, uint32(r.PayloadLength)
	end := uint64(x.off) + uint64(x.n)
	fits := x.n-1 < t.mtu && end <= uint64(all) && (end == uint64(all)) == (r.Flags&ses.FlagEOM != 0)
	return x, fits && (r.Opcode == ses.OpcodeRead || int(x.n) <= payload)
}

// checkMemory makes the checks from [step.Key] to [step.Atomic] for operations on a region.
func (t *Target) checkMemory(r *ses.Request, mode ses.Mode, m *Record, p *plan) (ses.Check, ses.ReturnCode) {
	i, ok := t.keys.find(pair{uint64(p.entry), r.Key})
	if !ok {
		return step.Key, ses.RCBadMKey
	}
	g := &t.regions[i]
	p.region, p.cookie = t.regionSlots.handle(i), g.Cookie
	p.base, p.limit = g.Base+r.BufferOffset, r.RequestLength
	if why, code := g.check(r, p.extent); code != ses.RCOK {
		return why, code
	}
	switch {
	case m != nil && (m.region != p.region || m.base != p.base || m.gen != p.gen):
		return step.SameBuffer, ses.RCPermViolation
	case mode == ses.ModeRUDI && !g.Idempotent:
		return step.Idempotent, ses.RCOpViolation
	case r.Opcode.IsAtomic():
		return t.checkAtomic(r, p)
	}
	return step.None, ses.RCOK
}

// check returns the reason against r, or part x of the message, in the region: the checks
// from [step.JobAllowed] to [step.PacketEnd].
func (g *region) check(r *ses.Request, x extent) (ses.Check, ses.ReturnCode) {
	if r.Opcode.IsAtomic() {
		x.n = max(x.n, uint32(r.Swap.Type.Size()))
	}
	switch {
	case g.Job != ses.AnyJob && g.Job != r.JobID:
		return step.JobAllowed, ses.RCBadJobID
	case g.Rights&rightFor(r.Opcode) == 0:
		return step.Rights, ses.RCPermViolation
	case r.BufferOffset > g.Length || uint64(x.all) > g.Length-r.BufferOffset:
		return step.MessageSize, ses.RCUnsupportedSize
	case uint64(x.off)+uint64(x.n) > g.Length-r.BufferOffset:
		return step.PacketEnd, ses.RCBadAddr
	}
	return step.None, ses.RCOK
}

func rightFor(o ses.Opcode) ses.Rights {
	switch o {
	case ses.OpcodeRead:
		return ses.RightRead
	case ses.OpcodeWrite:
		return ses.RightWrite
	}
	return ses.RightAtomic
}

// checkQueue makes the checks from [step.Key] to [step.Atomic] for sends. A message keeps the
// first packet's buffer.
func (t *Target) checkQueue(r *ses.Request, a *Arrival, m *Record, p *plan) (ses.Check, ses.ReturnCode) {
	e := &t.entries[p.entry]
	var b *receive
	if m != nil {
		p.base, p.cookie, p.limit = m.base, m.cookie, m.limit
	} else if b = t.bufferFor(r, p); b == nil {
		return step.Key, ses.RCNoMatch
	}
	switch {
	case !e.admits(r.JobID):
		return step.JobAllowed, ses.RCBadJobID
	case m == nil && p.limit == 0 && r.RequestLength > 0:
		// An answer of 0 bytes would be read as the whole length.
		return step.MessageSize, ses.RCTooLong
	case r.Opcode.IsRendezvous() && r.RequestLength > ses.MaxMessage: // no read says so much, and the sender would wait for one
		return step.MessageSize, ses.RCTooLong
	case m != nil && (m.entry != p.entry || m.gen != p.gen):
		return step.SameBuffer, ses.RCPermViolation
	case r.Opcode.IsAtomic():
		return t.checkTaggedAtomic(r, b, p)
	case r.Opcode.IsRendezvous() && !t.pullable(r, a, p):
		return step.Record, ses.RCNull
	}
	return step.None, ses.RCOK
}

// bufferFor plans for a new message with the matching receive buffer, nil if none.
func (t *Target) bufferFor(r *ses.Request, p *plan) *receive {
	i, ok := t.restarted(r, p)
	if ok {
		i, p.pending = t.pendings[i].recv-1, ses.Handle(r.Token.Target)
	} else if i, ok = t.match(p.entry, r); !ok {
		return nil
	}
	b := &t.receives[i]
	p.recv, p.base, p.cookie, p.limit = i+1, b.Base, b.Cookie, min(b.Length, r.RequestLength)
	return b
}

// checkTaggedAtomic makes [step.PacketEnd] and [step.Atomic] for an atomic on the matching
// buffer b. Such an atomic has one packet, and uses the buffer up like a send.
func (t *Target) checkTaggedAtomic(r *ses.Request, b *receive, p *plan) (ses.Check, ses.ReturnCode) {
	n := max(uint64(p.all), uint64(r.Swap.Type.Size()))
	if r.BufferOffset > uint64(b.Length) || n > uint64(b.Length)-r.BufferOffset {
		return step.PacketEnd, ses.RCBadAddr
	}
	p.base, p.limit = b.Base+r.BufferOffset, r.RequestLength
	return t.checkAtomic(r, p)
}

// checkAtomic makes the check of the same name.
func (t *Target) checkAtomic(r *ses.Request, p *plan) (ses.Check, ses.ReturnCode) {
	op, typ := r.Swap.Opcode, r.Swap.Type
	size, n := uint32(typ.Size()), p.all
	switch {
	case op > ses.AtomicInvalidate || t.atomicOps>>op&1 == 0:
		return step.Atomic, ses.RCAMOUnsupportedOp
	case size == 0 || t.atomicTypes>>typ&1 == 0 || !defined(op, typ):
		return step.Atomic, ses.RCAMOUnsupportedDT
	case n == 0 || n%size != 0 || op.IsSwap() && n != size:
		return step.Atomic, ses.RCAMOUnsupportedSize
	case p.base%uint64(size) != 0:
		return step.Atomic, ses.RCAMOUnaligned
	}
	return step.None, ses.RCOK
}

// defined reports whether the operation is defined for the type: operations on bits are for
// integers, and complex numbers have no order.
func defined(o ses.AtomicOpcode, t ses.AtomicType) bool {
	const (
		bitwise = 1<<ses.AtomicBitOr | 1<<ses.AtomicBitAnd | 1<<ses.AtomicBitXor | 1<<ses.AtomicMaskedSwap
		ordered = 1<<ses.AtomicMin | 1<<ses.AtomicMax |
			1<<ses.AtomicSwapLessEq | 1<<ses.AtomicSwapLess | 1<<ses.AtomicSwapGreatEq | 1<<ses.AtomicSwapGreater

		complexes = 1<<ses.TypeFloatComplex | 1<<ses.TypeDoubleComplex | 1<<ses.TypeLongDoubleComplex
	)
	switch {
	case bitwise>>o&1 != 0:
		return t <= ses.TypeUint128
	case ordered>>o&1 != 0:
		return complexes>>t&1 == 0
	}
	return true
}
