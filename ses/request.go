package ses

// A Request is what any request header says, extension included, in the terms of
// the standard form. A small or medium request lacks a message_id and is one
// packet, so there MessageID, PayloadLength and MessageOffset are 0.
//
// Use it where any form may arrive, and the single headers where the form is
// known.
type Request struct {
	Form Form
	Standard
	Token      RestartToken // deferrable sends (then BufferOffset is 0) and ready to restart (Key is 0)
	Rendezvous Rendezvous   // when Opcode.IsRendezvous and the form is standard
	Swap       CompareSwap  // when Opcode.IsAtomic; without its operands unless Swap.Opcode.IsSwap
}

// Decode reads the request header of form f that b starts with; n is the length
// of header and extension. Extension fields that the opcode does not have keep
// their values.
//
// Errors: [ErrForm] when f is not a request form, [ErrTruncated]; they leave the
// request as it was.
func (r *Request) Decode(f Form, b []byte) (n int, err error) {
	if f == FormStandard && len(b) >= StandardLen && Opcode(b[0]&opcodeMask).IsPlain() {
		r.Form = f
		return r.Standard.Decode(b)
	}
	return r.decode(f, b)
}

// decode is Decode for all but the plain standard header, which most packets
// have.
func (r *Request) decode(f Form, b []byte) (n int, err error) {
	if !f.IsRequest() {
		return 0, ErrForm
	}
	base := f.base()
	if len(b) < base {
		return 0, ErrTruncated
	}
	if n = base; Opcode(b[0] & opcodeMask).in(opsExtended) {
		n += extensionLen(f, base, b)
	}
	if len(b) < n {
		return 0, ErrTruncated
	}
	r.Form = f
	switch f {
	case FormSmall:
		r.decodeSmall(b)
	case FormMedium:
		r.decodeMedium(b)
	default:
		r.decodeStandard(b)
	}
	if n > base {
		r.decodeExtension(b[base:n])
	}
	return n, nil
}

func (r *Request) decodeSmall(b []byte) {
	var h Small
	_, _ = h.Decode(b)
	s := &r.Standard
	s.Common, s.BufferOffset, s.RequestLength = h.Common, h.BufferOffset, uint32(h.RequestLength)
	s.Initiator, s.Key, s.HeaderData = 0, 0, 0
	s.MessageID, s.PayloadLength, s.MessageOffset = 0, 0, 0
}

func (r *Request) decodeMedium(b []byte) {
	var h Medium
	_, _ = h.Decode(b)
	s := &r.Standard
	s.Common, s.BufferOffset, s.RequestLength = h.Common, h.BufferOffset, uint32(h.RequestLength)
	s.Initiator, s.Key, s.HeaderData = h.Initiator, h.Key, h.HeaderData
	s.MessageID, s.PayloadLength, s.MessageOffset = 0, 0, 0
}

func (r *Request) decodeStandard(b []byte) {
	switch op := Opcode(b[0] & opcodeMask); {
	case op.IsDeferrable():
		var h Deferrable
		_, _ = h.Decode(b)
		r.Token = h.Token
		r.Standard = Standard{
			Common: h.Common, MessageID: h.MessageID, PayloadLength: h.PayloadLength, MessageOffset: h.MessageOffset,
			Initiator: h.Initiator, Key: h.MatchBits, HeaderData: h.HeaderData, RequestLength: h.RequestLength,
		}
	case op == OpcodeDeferrableRTR:
		var h ReadyToRestart
		_, _ = h.Decode(b)
		r.Token = h.Token
		r.Standard = Standard{
			Common: h.Common, MessageID: h.MessageID, Initiator: h.Initiator,
			BufferOffset: h.BufferOffset, HeaderData: h.HeaderData, RequestLength: h.RequestLength,
		}
	default:
		_, _ = r.Standard.Decode(b)
	}
}

// decodeExtension reads ext, which extensionLen has cut to size.
func (r *Request) decodeExtension(ext []byte) {
	switch len(ext) {
	case CompareSwapLen:
		_, _ = r.Swap.Decode(ext)
	case AtomicLen:
		_, _ = r.Swap.Atomic.Decode(ext)
	case RendezvousLen:
		_, _ = r.Rendezvous.Decode(ext)
	}
}

// AppendTo appends header and extension to b, in the form r.Form. It panics when
// that is not a request form.
func (r *Request) AppendTo(b []byte) []byte {
	if r.Form == FormStandard && r.Opcode.IsPlain() {
		return r.Standard.AppendTo(b)
	}
	return r.appendTo(b)
}

// appendTo is AppendTo for all but the plain standard header.
func (r *Request) appendTo(b []byte) []byte {
	switch r.Form {
	case FormSmall:
		h := Small{Common: r.Common, RequestLength: r.shortLength(), BufferOffset: r.BufferOffset}
		b = h.AppendTo(b)
	case FormMedium:
		h := Medium{
			Common: r.Common, RequestLength: r.shortLength(), Initiator: r.Initiator,
			HeaderData: r.HeaderData, BufferOffset: r.BufferOffset, Key: r.Key,
		}
		b = h.AppendTo(b)
	case FormStandard:
		b = r.appendStandard(b)
	default:
		panic("ses: Request.AppendTo: " + r.Form.String() + " is no request form")
	}
	switch {
	case r.Opcode.IsAtomic() && r.Swap.Opcode.IsSwap():
		return r.Swap.AppendTo(b)
	case r.Opcode.IsAtomic():
		return r.Swap.Atomic.AppendTo(b)
	case r.Opcode.IsRendezvous() && r.Form == FormStandard:
		return r.Rendezvous.AppendTo(b)
	}
	return b
}

func (r *Request) shortLength() uint16 {
	if r.RequestLength > maxLength14 {
		panic("ses: request_length wider than the 14 bits of a small or medium request")
	}
	return uint16(r.RequestLength)
}

func (r *Request) appendStandard(b []byte) []byte {
	switch {
	case r.Opcode.IsDeferrable():
		h := Deferrable{
			Common: r.Common, MessageID: r.MessageID, PayloadLength: r.PayloadLength, MessageOffset: r.MessageOffset,
			Initiator: r.Initiator, MatchBits: r.Key, Token: r.Token, HeaderData: r.HeaderData, RequestLength: r.RequestLength,
		}
		return h.AppendTo(b)
	case r.Opcode == OpcodeDeferrableRTR:
		h := ReadyToRestart{
			Common: r.Common, MessageID: r.MessageID, Initiator: r.Initiator, Token: r.Token,
			BufferOffset: r.BufferOffset, HeaderData: r.HeaderData, RequestLength: r.RequestLength,
		}
		return h.AppendTo(b)
	}
	return r.Standard.AppendTo(b)
}

// Validate reports what the Validate of the form and of the extension would.
func (r *Request) Validate() error {
	var err error
	switch r.Form {
	case FormSmall:
		err = r.validateOne(opsSmall)
	case FormMedium:
		err = r.validateOne(opsMedium)
	default:
		err = r.Standard.Validate()
	}
	if err == nil && r.Opcode.IsAtomic() {
		err = r.Swap.Atomic.Validate()
	}
	return err
}

// String formats header and extension on one line.
func (r *Request) String() string {
	s := r.Standard.String()
	switch {
	case r.Form == FormSmall:
		s = "small " + s
	case r.Form == FormMedium:
		s = "medium " + s
	}
	switch {
	case r.Opcode.IsAtomic() && r.Swap.Opcode.IsSwap():
		s += " " + r.Swap.String()
	case r.Opcode.IsAtomic():
		s += " " + r.Swap.Atomic.String()
	case r.Opcode.IsRendezvous():
		s += " " + r.Rendezvous.String()
	}
	return s
}
