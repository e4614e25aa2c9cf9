// SPDX-License-Identifier: Apache-2.0

package ses

// opsTarget are the opcodes a Target can serve.
const opsTarget = kindMemoryOps | kindQueueOps | 1<<OpcodeNoOp | 1<<OpcodeMsgError

// A plan is the result of a request's validation.
type plan struct {
	extent
	base   uint64 // address of the message's first byte
	cookie uint64
	limit  uint32 // bytes of the message that fit the buffer
	entry  uint32 // resource index
	region Handle // 0 for a receive buffer
	recv   uint32 // receive buffer to consume, slot + 1

	pending Handle // deferred send owning recv
	gen     Generation
}

// An extent is the part of the message a packet is about.
type extent struct {
	off, n uint32
}

// check makes the checks from [checkOpcode] to [checkAtomic] in order and returns the first
// failure. m is the message's record, or nil. Nothing changes but p.
func (t *Target) check(r *Request, a *Arrival, m *Record, p *plan) (Check, ReturnCode) {
	if !a.Mode.carries(r.Opcode) || !r.Opcode.in(opsOfForm[r.Form]&t.ops) {
		return checkOpcode, RCUnsupportedOp
	}
	if r.Opcode == OpcodeNoOp {
		if !r.Flags.Has(flagsOnly) {
			return checkLengths, RCOpViolation
		}
		return CheckNone, RCOK
	}
	if why, code := t.locate(r, m, p); why != CheckNone {
		return why, code
	}
	var ok bool
	if p.extent, ok = t.extentOf(r, a.Payload); !ok || m != nil && !m.admits(r, p.extent) {
		return checkLengths, RCOpViolation
	}
	if r.Flags&FlagIE != 0 {
		return checkInitiator, RCInitiatorError
	}
	if r.Opcode.in(kindQueueOps) {
		return t.checkQueue(r, a, m, p)
	}
	return t.checkMemory(r, a.Mode, m, p)
}

// locate follows the address to the resource index and checks the opcode there: the checks
// from [checkFEP] to [checkGeneration].
func (t *Target) locate(r *Request, m *Record, p *plan) (Check, ReturnCode) {
	i, ok := t.processes.find(Process{r.JobID, r.PIDonFEP, r.Flags&FlagRel == 0}.pair())
	if !ok {
		return t.notFound(r)
	}
	if int(r.Index) >= t.perProcess {
		return checkIndex, RCBadIndex
	}
	p.entry = i*uint32(t.perProcess) + uint32(r.Index)
	e := &t.entries[p.entry]
	p.gen = e.gen
	switch {
	case e.state == IndexInvalid:
		return checkIndex, RCBadIndex
	case !r.Opcode.in(kindOps[e.kind]):
		return checkOpcode, RCUnsupportedOp
	case e.state == IndexDisabled:
		return checkEnabled, RCDisabled
	case e.state == IndexGenDisabled:
		return checkGenEnabled, RCDisabledGen
	case e.gen != r.Generation:
		return checkGeneration, RCBadGeneration
	case m != nil && m.head.opcode() != r.Opcode:
		return checkSameBuffer, RCPermViolation
	}
	return CheckNone, RCOK
}

// notFound returns the error of an address without a process.
func (t *Target) notFound(r *Request) (Check, ReturnCode) {
	if t.processes.used == 0 {
		return checkFEP, RCUndeliverable
	}
	if _, ok := t.jobs.find(pair{a: uint64(r.JobID)}); r.Flags&FlagRel != 0 && !ok {
		return checkJob, RCBadJobID
	}
	return checkPID, RCBadPID
}

// extentOf returns the part of the message named by r, false if lengths or payload contradict
// each other. Reads bring no payload.
func (t *Target) extentOf(r *Request, payload int) (x extent, ok bool) {
	all := r.carried()
	switch {
	case all > r.RequestLength, r.Opcode == OpcodeDatagramSend && r.MessageID != 0:
		return x, false
	case r.Flags.Has(flagsOnly):
		x.n = all
		return x, r.Opcode == OpcodeRead || all <= t.mtu && r.hasAll(payload)
	case r.Form != FormStandard || r.Opcode.in(opsAtomic|1<<OpcodeDatagramSend):
		return x, false
	case r.Flags&FlagSOM != 0:
		x.n = uint32(payload)
		if r.Opcode == OpcodeRead {
			x.n = r.firstRead(t.mtu)
		}
		return x, x.n <= t.mtu && all > x.n && checkMTU("", x.n) == nil
	}
	x.off, x.n = r.MessageOffset, uint32(r.PayloadLength)
	end := uint64(x.off) + uint64(x.n)
	fits := x.n-1 < t.mtu && end <= uint64(all) && (end == uint64(all)) == (r.Flags&FlagEOM != 0)
	return x, fits && (r.Opcode == OpcodeRead || int(x.n) <= payload)
}

// firstRead returns the length requested by the first of several packets of a read. Only
// initiators of package ses give the length, in place of header data; all other initiators
// must use mtu.
func (r *Request) firstRead(mtu uint32) uint32 {
	if n := r.HeaderData >> 32; r.Flags&FlagHD == 0 && n != 0 {
		return uint32(n)
	}
	return mtu
}

// hasAll reports whether the payload of a message of one packet is complete. The operands of
// some atomics are not in the payload.
func (r *Request) hasAll(payload int) bool {
	return payload >= int(r.carried()) || r.Opcode.IsAtomic() && r.Swap.Opcode.noPayload()
}

// checkMemory makes the checks from [checkKey] to [checkAtomic] for operations on a region.
func (t *Target) checkMemory(r *Request, mode Mode, m *Record, p *plan) (Check, ReturnCode) {
	i, ok := t.keys.find(pair{uint64(p.entry), r.Key})
	if !ok {
		return checkKey, RCBadMKey
	}
	g := &t.regions[i]
	p.region, p.cookie = t.regionSlots.handle(i), g.Cookie
	p.base, p.limit = g.Base+r.BufferOffset, r.RequestLength
	if why, code := g.check(r, p.extent); why != CheckNone {
		return why, code
	}
	switch {
	case m != nil && (m.region != p.region || m.base != p.base || m.gen != p.gen):
		return checkSameBuffer, RCPermViolation
	case mode == ModeRUDI && !g.Idempotent:
		return checkIdempotent, RCOpViolation
	case r.Opcode.IsAtomic():
		return t.checkAtomic(r, p)
	}
	return CheckNone, RCOK
}

// check returns the reason against r, or part x of the message, in the region: the checks
// from [checkJobAllowed] to [checkPacketEnd].
func (g *region) check(r *Request, x extent) (Check, ReturnCode) {
	if r.Opcode.IsAtomic() {
		x.n = max(x.n, uint32(r.Swap.Type.Size()))
	}
	switch {
	case g.Job != AnyJob && g.Job != r.JobID:
		return checkJobAllowed, RCBadJobID
	case g.Rights&rightFor(r.Opcode) == 0:
		return checkRights, RCPermViolation
	case r.BufferOffset > g.Length || uint64(r.carried()) > g.Length-r.BufferOffset:
		return checkMessageSize, RCUnsupportedSize
	case uint64(x.off)+uint64(x.n) > g.Length-r.BufferOffset:
		return checkPacketEnd, RCBadAddr
	}
	return CheckNone, RCOK
}

func rightFor(o Opcode) Rights {
	switch o {
	case OpcodeRead:
		return RightRead
	case OpcodeWrite:
		return RightWrite
	}
	return RightAtomic
}

// checkQueue makes the checks from [checkKey] to [checkAtomic] for sends. A message keeps the
// first packet's buffer.
func (t *Target) checkQueue(r *Request, a *Arrival, m *Record, p *plan) (Check, ReturnCode) {
	e := &t.entries[p.entry]
	var b *receive
	if m != nil {
		p.base, p.cookie, p.limit = m.base, m.cookie, m.limit
	} else if b = t.bufferFor(r, e, p); b == nil {
		return checkKey, RCNoMatch
	}
	switch {
	case !e.admits(r.JobID):
		return checkJobAllowed, RCBadJobID
	case m == nil && p.limit == 0 && r.RequestLength > 0:
		// An answer of 0 bytes would be read as the whole length.
		return checkMessageSize, RCTooLong
	case r.Opcode.IsRendezvous() && r.RequestLength > MaxMessage: // no read says so much, and the sender would wait for one
		return checkMessageSize, RCTooLong
	case m != nil && (m.entry != p.entry || m.gen != p.gen):
		return checkSameBuffer, RCPermViolation
	case r.Opcode.IsAtomic():
		return t.checkTaggedAtomic(r, b, p)
	case r.Opcode.IsRendezvous() && !t.pullable(r, a, p):
		return CheckRecord, RCNull
	}
	return CheckNone, RCOK
}

// bufferFor plans for a new message with the matching receive buffer, nil if none.
func (t *Target) bufferFor(r *Request, e *entry, p *plan) *receive {
	i, ok := t.restarted(r, p)
	if ok {
		i, p.pending = t.pendings[i].recv-1, Handle(r.Token.Target)
	} else if i, ok = t.match(p.entry, r); !ok {
		return nil
	}
	b := &t.receives[i]
	p.recv, p.base, p.cookie, p.limit = i+1, b.Base, b.Cookie, min(b.Length, r.RequestLength)
	return b
}

// checkTaggedAtomic makes [checkPacketEnd] and [checkAtomic] for an atomic on the matching
// buffer b. Such an atomic has one packet, and uses the buffer up like a send.
func (t *Target) checkTaggedAtomic(r *Request, b *receive, p *plan) (Check, ReturnCode) {
	n := max(uint64(r.carried()), uint64(r.Swap.Type.Size()))
	if r.BufferOffset > uint64(b.Length) || n > uint64(b.Length)-r.BufferOffset {
		return checkPacketEnd, RCBadAddr
	}
	p.base, p.limit = b.Base+r.BufferOffset, r.RequestLength
	return t.checkAtomic(r, p)
}

// checkAtomic makes the check of the same name.
func (t *Target) checkAtomic(r *Request, p *plan) (Check, ReturnCode) {
	op, typ := r.Swap.Opcode, r.Swap.Type
	size, n := uint32(typ.Size()), r.carried()
	switch {
	case op > AtomicInvalidate || t.atomicOps>>op&1 == 0:
		return checkAtomic, RCAMOUnsupportedOp
	case size == 0 || t.atomicTypes>>typ&1 == 0 || !op.takes(typ):
		return checkAtomic, RCAMOUnsupportedDT
	case n == 0 || n%size != 0 || op.IsSwap() && n != size:
		return checkAtomic, RCAMOUnsupportedSize
	case p.base%uint64(size) != 0:
		return checkAtomic, RCAMOUnaligned
	}
	return CheckNone, RCOK
}

// takes reports whether the operation is defined for the type: operations on bits are for
// integers, and complex numbers have no order.
func (o AtomicOpcode) takes(t AtomicType) bool {
	const (
		bitwise = 1<<AtomicBitOr | 1<<AtomicBitAnd | 1<<AtomicBitXor | 1<<AtomicMaskedSwap
		ordered = 1<<AtomicMin | 1<<AtomicMax |
			1<<AtomicSwapLessEq | 1<<AtomicSwapLess | 1<<AtomicSwapGreatEq | 1<<AtomicSwapGreater

		complexes = 1<<TypeFloatComplex | 1<<TypeDoubleComplex | 1<<TypeLongDoubleComplex
	)
	switch {
	case bitwise>>o&1 != 0:
		return t <= TypeUint128
	case ordered>>o&1 != 0:
		return complexes>>t&1 == 0
	}
	return true
}
