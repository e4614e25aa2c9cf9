package ses

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a model made of the target's rules found, by name.

// The short forms are for messages of one packet: they have no message_id that could tell
// several apart. A part of one is refused, and leaves no record behind.
func TestTargetShortFormIsOnePacket(t *testing.T) {
	for _, form := range []Form{FormSmall, FormMedium} {
		for _, mode := range []Mode{ModeRUD, ModeROD, ModeRUDI} {
			s := newWalkTarget(t, func(r *Region) { r.Key, r.Idempotent = 0, true })
			for _, flags := range []Flags{FlagSOM, FlagEOM, 0} {
				r, a := walkPacket(0)
				r.Form, r.MessageID, r.Key, r.Flags, r.RequestLength = form, 0, 0, FlagRel|flags, 2*walkMTU
				a.Mode = mode
				var d Decision
				s.Receive(&r, a, &d)
				require.Equal(t, CheckLengths, d.Check, "%v %v %v", form, mode, flags)
				require.Equal(t, RCOpViolation, d.Response.ReturnCode)
				require.Zero(t, s.Messages())
			}
		}
	}
}

// Buffers that were kept for deferred sends of a PDC that has gone are back in the queue in
// the order in which they were posted, and none goes to another send of that PDC.
func TestKeptBuffersComeBackInOrder(t *testing.T) {
	tg, err := NewTarget(TargetConfig{MTU: 1024, Processes: 1, Indices: 1, Receives: 8, Messages: 4, Pending: 4})
	require.NoError(t, err)
	ep, err := tg.AddProcess(Process{Job: 1, PID: 2})
	require.NoError(t, err)
	_, err = tg.OpenIndex(0, ep, 0, Index{Kind: IndexQueue, Job: AnyJob})
	require.NoError(t, err)
	send := func(peer uint64, op Opcode) Decision {
		r := Request{Form: FormStandard, Standard: Standard{
			Common:    Common{Opcode: op, Flags: flagsOnly | FlagRel, JobID: 1, PIDonFEP: 2},
			MessageID: 1, RequestLength: 10,
		}}
		var d Decision
		tg.Receive(&r, Arrival{Peer: peer, Payload: 10}, &d)
		return d
	}
	post := func(cookie uint64) {
		_, err := tg.PostReceive(ep, 0, Receive{Base: 0x1000, Length: 10, Cookie: cookie})
		require.NoError(t, err)
	}
	for range 4 {
		require.Equal(t, ListOverflow, send(7, OpcodeDeferrableSend).Response.List)
	}
	for cookie := range uint64(3) {
		post(cookie) // kept for the first three
	}
	tg.ClosePeer(7, nil)
	require.Zero(t, tg.Pending())
	post(3)
	for cookie := range uint64(4) {
		require.Equal(t, cookie, send(8, OpcodeSend).Cookie)
	}
}
