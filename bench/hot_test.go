// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A demand is what a hot function must keep, beyond that nothing in it may escape
// or move to the heap.
type demand uint8

const (
	inlines  demand = 1 << iota // into its callers
	noBounds                    // no bounds check is left in it
)

// hot is every function that a packet may run through: one line each. The names
// are the compiler's. A function that is inlined into another one is looked at
// there too, so helpers are listed only where they must inline or are too large
// to.
var hot = []struct {
	pkg, name string
	must      demand
}{
	{"pds/frame", "(*Parser).UDP", inlines},
	{"pds/frame", "(*Parser).IP", inlines},
	{"pds/frame", "(*Parser).Ethernet", 0},
	{"pds/frame", "(*Parser).anyFrame", 0},
	{"pds/frame", "(*Parser).ip", 0},
	{"pds/frame", "(*Parser).configured", 0},
	{"pds/frame", "(*plainHead).isPlain", inlines | noBounds},
	{"pds/frame", "(*Frame).plain", inlines | noBounds},
	{"pds/frame", "(*Frame).addresses4", inlines | noBounds},
	{"pds/frame", "(*Parser).decode", noBounds},
	{"pds/frame", "(*Parser).decodeAny", 0},
	{"pds/frame", "(*Packet).standard", inlines},
	{"pds/frame", "(*Packet).header", 0},
	{"pds/frame", "(*Packet).decodeSES", 0},
	{"pds/frame", "(*Packet).place", inlines},
	{"pds/frame", "(*Packet).AppendTo", 0},
	{"pds/frame", "(*Frame).AppendTo", 0},
	{"pds/frame", "(*Frame).putPlain", noBounds},
	{"pds/frame", "(*Frame).putIP4", inlines},
	{"pds/frame", "(*Frame).sumIP4", inlines},
	{"pds/frame", "(*Frame).putTransport", inlines},

	{".", "(*Endpoint).Receive", 0},
	{".", "(*Endpoint).receiveEdge", 0},
	{".", "(*Endpoint).receiveByHeader", 0},
	{".", "(*receiver).arrived", inlines},
	{".", "(*receiver).receiveGeneral", 0},
	{".", "prepare", 0},
	{".", "(*source).followUp", inlines},
	{".", "(*receiver).control", inlines},
	{".", "(*Endpoint).Prefetch", 0},
	{".", "(*loader).prefetchBatch", 0},
	{".", "(*loader).prefetchSenders", 0},
	{".", "(*loader).prefetchPDC", 0},
	{".", "(*loader).prefetchRest", 0},
	{".", "(*loader).prefetchACK", 0},
	{".", "(*loader).lookAhead", 0},
	{".", "(*loader).setAhead", 0},
	{".", "(*loader).loadAhead", 0},
	{".", "(*source).drain", 0},
	{".", "(*Endpoint).Transmit", 0},
	{".", "(*Endpoint).TransmitBatch", 0},
	{".", "(*Endpoint).transmitRun", 0},
	{".", "(*lead).sent", inlines | noBounds},
	{".", "(*Endpoint).transmitAny", 0},
	{".", "(*Endpoint).describeEdges", 0},
	{".", "(*source).describeOwn", 0},
	{".", "(*Endpoint).Exchange", 0},
	{".", "(*Endpoint).ExchangeBatch", 0},
	{".", "(*Endpoint).exchangeRun", 0},
	{".", "(*Endpoint).exchange", 0},
	{".", "alike", 0},
	{".", "longEnough", inlines | noBounds},
	{".", "samePDC", inlines | noBounds},
	{".", "responseOf", inlines},
	{".", "acknowledged", inlines | noBounds},
	{".", "(*Endpoint).idle", inlines | noBounds},
	{".", "(*Endpoint).describeMiddles", 0},
	{".", "roomy", inlines | noBounds},
	{".", "(*Endpoint).receiveACK", 0},
	{".", "(*Endpoint).takeACK", 0},
	{".", "(*receiver).receiveGeneralACK", 0},
	{".", "(*receiver).confirmAny", 0},
	{".", "(*receiver).onResponse", 0},
	{".", "(*Endpoint).describe", 0},
	{".", "(*Endpoint).WriteBatch", 0},
	{".", "(*loader).prefetchWrite", 0},
	{".", "(*source).start", 0},
	{".", "(*source).begin", 0},
	{".", "(*source).dispatch", 0},
	{".", "(*source).attach", 0},
	{".", "(*source).startRun", 0},
	{".", "(*completion).tell", 0},
	{".", "(*completions).first", inlines},
	{".", "(*completions).drop", inlines | noBounds},
	{".", "(*source).finish", 0},
	{".", "(*source).pump", 0},
	{".", "(*source).submit", 0},
	{".", "(*source).settled", 0},

	{"nscc", "(*Window).CanSend", inlines | noBounds},
	{"nscc", "(*Window).OnSend", inlines | noBounds},
	{"nscc", "(*Window).Full", inlines | noBounds},
	{"nscc", "(*Window).AckRequest", inlines | noBounds},
	{"nscc", "(*Window).OnACK", noBounds},
	{"nscc", "(*Window).onACK", noBounds},
	{"nscc", "(*Window).OnPlainACK", inlines | noBounds},
	{"nscc", "MakePlainAck", inlines | noBounds},
	{"nscc", "(*Window).count", inlines | noBounds},
	{"nscc", "(*Window).unusual", noBounds},
	{"nscc", "(*Window).held", inlines | noBounds},
	{"nscc", "(*Window).streak", inlines | noBounds},
	{"nscc", "(*Window).average", inlines | noBounds},
	{"nscc", "(*quadrant).sample", inlines | noBounds},
	{"nscc", "(*Window).fastIncrease", inlines | noBounds},
	{"nscc", "(*Window).decrease", inlines | noBounds},
	{"nscc", "(*Window).fulfil", inlines | noBounds},
	{"nscc", "(*Window).quickAdapt", inlines | noBounds},
	{"nscc", "(*Window).openPeriod", inlines | noBounds},
	{"nscc", "(*Window).penalise", inlines | noBounds},
	{"nscc", "(*Window).OnNACK", noBounds},
	{"nscc", "(*Window).OnInferredLoss", inlines | noBounds},
	{"nscc", "(*Window).OnUnmark", inlines | noBounds},
	{"nscc", "(*Window).SampleBase", inlines | noBounds},
	{"nscc", "(*Window).Cwnd", inlines | noBounds},
	{"nscc", "(*Window).Inflight", inlines | noBounds},
	{"nscc", "(*RcvdBytes).Add", inlines | noBounds},
	{"nscc", "(*RcvdBytes).Units", inlines | noBounds},
	{"nscc", "(*RcvdTracker).Advance", inlines | noBounds},
	{"nscc", "RTT", inlines | noBounds},

	{"pds", "(*Prologue).Decode", inlines | noBounds},
	{"pds", "(*Request).Decode", noBounds},
	{"pds", "(*Request).DecodeRest", inlines | noBounds},
	{"pds", "(*Request).DecodeRestCC", inlines | noBounds},
	{"pds", "(*Request).AppendTo", 0},
	{"internal/view", "(*Request).Plain", inlines | noBounds},
	{"internal/view", "(*Request).PlainCC", inlines | noBounds},
	{"internal/view", "(*Request).Flags", inlines | noBounds},
	{"internal/view", "(*Request).ClearOffset", inlines | noBounds},
	{"internal/view", "(*Request).ClearPSN", inlines | noBounds},
	{"internal/view", "(*Request).PSN", inlines | noBounds},
	{"internal/view", "(*Request).SPDCID", inlines | noBounds},
	{"internal/view", "(*Request).DPDCID", inlines | noBounds},
	{"internal/view", "PutRequest", inlines | noBounds},
	{"pds", "(*Ack).Decode", noBounds},
	{"pds", "(*Ack).get", inlines},
	{"pds", "(*Ack).put", inlines},
	{"pds", "(*Ack).AppendTo", 0},
	{"pds", "(*AckCC).Decode", inlines | noBounds},
	{"pds", "(*AckCC).AppendTo", 0},
	{"pds", "(*AckCC).NSCC", inlines | noBounds},
	{"pds", "(*AckCC).Credit", inlines | noBounds},
	{"internal/view", "(*AckCC).SetAck", inlines | noBounds},
	{"internal/view", "(*AckCC).SetPDCs", inlines | noBounds},
	{"internal/view", "(*AckCC).SetAnswered", inlines | noBounds},
	{"internal/view", "(*AckCC).SetSACK", inlines | noBounds},
	{"internal/view", "(*AckCC).SetNSCC", inlines | noBounds},
	{"internal/view", "(*AckCC).SetCredit", inlines | noBounds},
	{"internal/view", "(*AckCC).Plain", inlines | noBounds},
	{"internal/view", "(*AckCC).Cumulative", inlines | noBounds},
	{"internal/view", "(*AckCC).Like", inlines | noBounds},
	{"internal/view", "(*AckCC).Flags", inlines | noBounds},
	{"internal/view", "(*AckCC).AckPSN", inlines | noBounds},
	{"internal/view", "(*AckCC).SPDCID", inlines | noBounds},
	{"internal/view", "(*AckCC).DPDCID", inlines | noBounds},
	{"internal/view", "(*AckCC).MPR", inlines | noBounds},
	{"internal/view", "(*AckCC).SACKBase", inlines | noBounds},
	{"internal/view", "(*AckCC).Bitmap", inlines | noBounds},
	{"internal/view", "(*AckCC).ServiceTime", inlines | noBounds},
	{"internal/view", "(*AckCC).RcvdBytes", inlines | noBounds},
	{"pds", "(*SACK).get", inlines},
	{"pds", "(*SACK).put", inlines},
	{"pds", "(*NSCCState).get", inlines | noBounds},
	{"pds", "(*NSCCState).put", inlines | noBounds},
	{"pds", "(*CreditState).get", inlines | noBounds},
	{"pds", "(*CreditState).put", inlines | noBounds},
	{"pds", "(*Nack).Decode", noBounds},
	{"pds", "(*Nack).put", inlines},
	{"pds", "(*Nack).AppendTo", 0},
	{"pds", "(*Control).Decode", noBounds},
	{"pds", "(*Entropy).Decode", inlines | noBounds},
	{"pds", "PSN.Diff", inlines | noBounds},
	{"pds", "PSN.After", inlines | noBounds},
	{"pds", "PSN.Add", inlines | noBounds},
	{"pds", "PeekType", inlines | noBounds},
	{"pds", "PatchRetx", inlines | noBounds},
	{"pds", "PatchClearPSN", 0},

	{"internal/pdc", "(*recvWindow).Classify", noBounds},
	{"internal/pdc", "(*recvWindow).Accept", inlines | noBounds},
	{"internal/pdc", "(*recvWindow).acceptAt", noBounds},
	{"internal/pdc", "(*recvWindow).advance", noBounds},
	{"internal/pdc", "(*recvWindow).pull", noBounds},
	{"internal/pdc", "(*recvWindow).CACK", inlines | noBounds},
	{"internal/pdc", "(*recvWindow).SACK", inlines | noBounds},
	{"internal/pdc", "(*recvWindow).sackFrom", noBounds},
	{"internal/pdc", "(*recvWindow).SACKBase", inlines | noBounds},
	{"internal/pdc", "(*recvWindow).Clear", inlines | noBounds},
	{"internal/pdc", "(*sendWindow).OnACK", 0},
	{"internal/pdc", "(*sendWindow).ackOne", 0},
	{"internal/pdc", "(*sendWindow).releaseTo", 0},
	{"internal/pdc", "(*row).arrivedOnce", inlines | noBounds},
	{"internal/pdc", "(*sendWindow).merge", 0},
	{"internal/pdc", "(*sendWindow).arrived", 0},
	{"internal/pdc", "(*sendWindow).sent", 0},
	{"internal/pdc", "(*sendWindow).push", 0},
	{"internal/pdc", "(*sendWindow).more", 0},
	{"internal/pdc", "(*sendWindow).tell", 0},
	{"internal/pdc", "(*sendWindow).drop", 0},
	{"internal/pdc", "(*sendWindow).settleBase", 0},
	{"internal/pdc", "(*queue).push", inlines},
	{"internal/pdc", "(*queue).pop", inlines},
	{"internal/pdc", "(*queue).first", inlines},
	{"internal/pdc", "(*sendWindow).mayStart", inlines},
	{"internal/pdc", "(*sendWindow).inPeerWindow", inlines},
	{"internal/pdc", "(*Table).ByID", inlines},
	{"internal/pdc", "(*Table).Match", 0},
	{"internal/pdc", "(*Table).Target", 0},
	{"internal/pdc", "(*memory).takeChunk", inlines},
	{"internal/pdc", "(*memory).handle", inlines},
	{"internal/pdc", "(*memory).told", inlines},
	{"internal/pdc", "(*memory).submitted", 0},
	{"internal/pdc", "(*row).fits", inlines | noBounds},
	{"internal/pdc", "(*memory).putChunk", inlines},
	{"internal/pdc", "(*Manager).Receive", 0},
	{"internal/pdc", "(*Manager).receiveRequest", 0},
	{"internal/pdc", "(*target).expect", 0},
	{"internal/pdc", "(*FastPath).Take", noBounds},
	{"internal/pdc", "(*target).takeAhead", 0},
	{"internal/pdc", "(*target).takeExpected", 0},
	{"internal/pdc", "(*PDC).suits", inlines | noBounds},
	{"internal/pdc", "(*target).isUsual", inlines | noBounds},
	{"internal/pdc", "(*memory).isOpen", inlines | noBounds},
	{"internal/pdc", "(*target).taken", inlines | noBounds},
	{"internal/pdc", "(*FastPath).Named", inlines | noBounds},
	{"internal/pdc", "(*Taken).echo", inlines | noBounds},
	{"internal/pdc", "(*recvWindow).inOrder", inlines | noBounds},
	{"internal/pdc", "(*recvWindow).isFar", inlines | noBounds},
	{"internal/pdc", "far.bits", noBounds},
	{"internal/pdc", "far.bit", inlines | noBounds},
	{"internal/pdc", "(*recvWindow).first", inlines | noBounds},
	{"internal/pdc", "(*recvWindow).released", inlines | noBounds},
	{"internal/pdc", "(*PDC).rcvdUnits", inlines | noBounds},
	{"internal/pdc", "penalty", inlines | noBounds},
	{"internal/pdc", "(*PDC).count", inlines | noBounds},
	{"internal/pdc", "(*Result).follow", inlines | noBounds},
	{"internal/pdc", "(*recvWindow).fresh", inlines | noBounds},
	{"internal/pdc", "(*FastPath).Lines", inlines},
	{"internal/pdc", "(*FastPath).EndLines", inlines},
	{"internal/pdc", "(*FastPath).Ends", inlines},
	{"internal/pdc", "(*FastPath).PacketLines", 0},
	{"internal/pdc", "(*FastPath).SubmitLines", 0},
	{"internal/pdc", "(*FastPath).TakeACK", 0},
	{"internal/pdc", "(*source).feedAny", 0},
	{"internal/pdc", "(*PDC).takeOne", 0},
	{"internal/pdc", "(*sendWindow).arrivedAll", 0},
	{"internal/pdc", "(*sendWindow).inWindow", inlines},
	{"internal/pdc", "(*sendWindow).pass", inlines},
	{"internal/pdc", "(*sendWindow).leaveChunks", 0},
	{"internal/pdc", "(*FastPath).TransmitRun", 0},
	{"internal/pdc", "(*source).sentRun", 0},
	{"internal/pdc", "(*packet).news", inlines | noBounds},
	{"internal/pdc", "(*sendWindow).alike", inlines | noBounds},
	{"internal/pdc", "(*FastPath).Joins", 0},
	{"internal/pdc", "(*FastPath).Room", 0},
	{"internal/pdc", "(*FastPath).SubmitBatch", 0},
	{"internal/pdc", "(*Manager).submit", 0},
	{"internal/pdc", "(*FastPath).Exchange", 0},
	{"internal/pdc", "(*Manager).learn", 0},
	{"internal/pdc", "(*Run).begin", inlines | noBounds},
	{"internal/pdc", "(*Run).alone", 0},
	{"internal/pdc", "(*Run).Path", inlines | noBounds},
	{"internal/pdc", "(*PDC).tookLate", 0},
	{"internal/pdc", "(*Manager).Idle", inlines | noBounds},
	{"internal/pdc", "(*source).acked", 0},
	{"internal/pdc", "(*sendWindow).acknowledged", 0},
	{"internal/pdc", "span", inlines},
	{"internal/pdc", "(*PDC).waitsToSend", inlines | noBounds},
	{"internal/pdc", "(*row).flying", inlines | noBounds},
	{"internal/pdc", "(*Run).PutHeader", inlines | noBounds},
	{"internal/pdc", "(*Run).HandleOf", inlines | noBounds},
	{"internal/view", "(*Run).Put", inlines | noBounds},
	{"internal/pdc", "(*Run).HasTarget", inlines | noBounds},
	{"internal/pdc", "(*Run).PutTarget", inlines | noBounds},
	{"internal/view", "(*Run).PutTarget", inlines | noBounds},
	{"internal/pdc", "(*credits).take", 0},
	{"internal/pdc", "(*FastPath).exchangeCredit", 0},
	{"internal/pdc", "(*Manager).aim", 0},
	{"internal/pdc", "(*FastPath).ReceiveACK", 0},
	{"internal/pdc", "(*Manager).receiveACK", 0},
	{"internal/pdc", "(*Manager).receiveNACK", 0},
	{"internal/pdc", "(*target).accept", 0},
	{"internal/pdc", "(*Manager).Transmit", 0},
	{"internal/pdc", "(*Manager).transmitData", 0},
	{"internal/pdc", "(*scheduler).takeTurns", 0},
	{"internal/pdc", "(*scheduler).park", inlines},
	{"internal/pdc", "(*Manager).putRequest", 0},
	{"internal/pdc", "(*answers).putACK", 0},
	{"internal/pdc", "(*answers).writeACK", 0},
	{"internal/pdc", "(*Manager).respondDefault", 0},
	{"internal/pdc", "(*Manager).SubmitRun", 0},
	{"internal/pdc", "(*source).afterACK", 0},
	{"internal/pdc", "(*source).infers", 0},
	{"internal/pdc", "(*timers).moveProbe", 0},
	{"internal/pdc", "(*source).lookForLosses", 0},
	{"internal/pdc", "(*source).mayResend", 0},
	{"internal/pdc", "(*timers).probeDelay", inlines},
	{"internal/pdc", "knownOOO", inlines},
	{"internal/pdc", "(*Manager).Tick", 0},
	{"internal/pdc", "(*Manager).NextDeadline", 0},
	{"internal/pdc", "(*target).byID", inlines},
	{"internal/pdc", "(*life).arm", 0},

	{"ses", "(*Request).Decode", noBounds},
	{"ses", "(*Request).decode", 0},
	{"ses", "(*Request).decodeStandard", noBounds},
	{"ses", "(*Request).AppendTo", 0},
	{"ses", "(*Standard).Decode", inlines | noBounds},
	{"ses", "(*Request).decodeMedium", noBounds},
	{"ses", "(*Request).decodeSmall", noBounds},
	{"ses", "(*Response).Decode", noBounds},
	{"ses", "(*Response).AppendTo", 0},
	{"ses", "(*Common).get", inlines | noBounds},
	{"ses", "(*Common).mustFit", inlines | noBounds},
	{"ses", "(*Common).put", inlines | noBounds},
	{"ses", "(*Verdict).get", inlines | noBounds},
	{"internal/msg", "(*Initiator).PutHeader", 0},
	{"internal/msg", "(*Initiator).PutStandard", 0},
	{"internal/msg", "(*Operation).put", noBounds},
	{"internal/msg", "(*Initiator).Confirm", 0},
	{"internal/msg", "(*Initiator).Middle", 0},
	{"internal/msg", "(*Initiator).Passing", inlines},
	{"internal/msg", "(*Middle).Range", inlines | noBounds},
	{"internal/msg", "(*Middle).Confirmed", inlines | noBounds},
	{"internal/msg", "(*Middle).Put", inlines | noBounds},
	{"internal/msg", "(*Middle).Offset", inlines | noBounds},
	{"internal/msg", "(*Target).Receive", noBounds},
	{"internal/msg", "(*Target).Follow", 0},
	{"internal/msg", "(*Record).differs", inlines | noBounds},
	{"internal/msg", "(*Record).Place", inlines | noBounds},
	{"internal/msg", "(*Target).Expect", 0},
	{"internal/msg", "(*Target).expectLater", 0},
	{"internal/msg", "(*Target).Take", 0},
	{"internal/msg", "(*Target).grantAt", inlines},
	{"internal/msg", "(*Target).allow", 0},
	{"internal/msg", "(*StandardView).isWhole", inlines | noBounds},
	{"internal/msg", "(*StandardView).IsEdge", inlines | noBounds},
	{"internal/msg", "(*StandardView).data", inlines | noBounds},
	{"internal/msg", "(*Decision).IsDefault", inlines | noBounds},
	{"internal/msg", "PutDefault", inlines | noBounds},
	{"internal/msg", "(*StandardView).PayloadLength", inlines | noBounds},
	{"internal/msg", "(*StandardView).MessageOffset", inlines | noBounds},
	{"internal/msg", "(*StandardView).head", inlines | noBounds},
	{"internal/msg", "(*StandardView).at", inlines | noBounds},
	{"internal/msg", "(*Target).Line", inlines},
	{"internal/msg", "(*Initiator).Line", inlines},
	{"internal/msg", "(*Target).whole", noBounds},
	{"internal/msg", "(*Target).fragment", noBounds},
	{"internal/msg", "(*Target).check", 0},
	{"internal/msg", "(*Target).locate", 0},
	{"internal/msg", "(*Target).commit", 0},
	{"internal/msg", "(*Target).find", 0},
	{"internal/msg", "(*Initiator).Next", 0},
	{"internal/msg", "(*Initiator).Handed", 0},
	{"internal/msg", "(*Initiator).of", inlines},
	{"internal/msg", "(*message).describe", 0},
	{"internal/msg", "(*Initiator).take", inlines | noBounds},
	{"internal/msg", "(*Initiator).Whole", 0},
	{"internal/msg", "(*Initiator).name", 0},
	{"internal/msg", "(*Initiator).unname", inlines},
	{"internal/msg", "(*Whole).Address", inlines | noBounds},
	{"internal/msg", "(*Whole).Place", inlines | noBounds},
	{"internal/msg", "(*message).opening", inlines},
	{"internal/msg", "(*Initiator).RxRsp", 0},
	{"internal/msg", "(*Initiator).RxAck", 0},
	{"internal/msg", "(*Initiator).answered", 0},

	{"ccc", "(*Context).OnNewData", noBounds},
	{"ccc", "(*Context).OnSend", noBounds},
	{"ccc", "(*Context).OnACK", inlines | noBounds},
	{"ccc", "(*Context).onACK", noBounds},
	{"ccc", "(*Context).OnNACK", noBounds},
	{"ccc", "(*Context).OnInferredLoss", noBounds},
	{"ccc", "(*Context).lose", noBounds},
	{"ccc", "(*Context).OnCreditUpdate", noBounds},
	{"ccc", "(*Context).Admits", inlines | noBounds},
	{"ccc", "(*Context).Decide", noBounds},
	{"ccc", "(*Context).bound", noBounds},
	{"ccc", "(*Context).objection", inlines | noBounds},
	{"ccc", "(*Context).consent", inlines | noBounds},
	{"ccc", "(*Context).windowRoom", inlines | noBounds},
	{"ccc", "(*Context).creditRoom", inlines | noBounds},
	{"ccc", "(*Context).evaluate", noBounds},
	{"ccc", "(*Context).unmark", noBounds},
	{"ccc", "(*Context).plainState", inlines | noBounds},
	{"ccc", "(*Manager).Exchange", 0},
	{"ccc", "(*Manager).exchangeAny", 0},
	{"ccc", "(*Manager).take", 0},
	{"ccc", "(*Context).believes", inlines | noBounds},
	{"ccc", "(*Manager).takeAny", 0},
	{"ccc", "(*Manager).CreditTargets", 0},
	{"ccc", "(*Context).credited", noBounds},
	{"ccc", "(*Context).lent", inlines | noBounds},
	{"ccc", "(*Context).charge", inlines | noBounds},
	{"ccc", "(*Manager).choose", 0},
	{"ccc", "(*Manager).become", 0},
	{"ccc", "(*Manager).arrange", 0},
	{"ccc", "(*Manager).ask", 0},
	{"ccc", "(*Manager).spend", 0},
	{"ccc", "(*Context).allowed", inlines},
	{"ccc", "(*Context).refusal", 0},
	{"ccc", "(*Manager).turn", inlines},
	{"ccc", "(*Manager).seatAt", inlines},
	{"nscc", "PlainAck.Marks", inlines | noBounds},
	{".", "(*Endpoint).transmitOne", 0},
	{"internal/pdc", "(*FastPath).NextSender", inlines},
	{"internal/pdc", "goesOn", inlines},
	{"nscc", "(*Window).OnSendRun", inlines | noBounds},
	{"ccc", "(*Manager).OnNewData", 0},
	{"ccc", "(*Manager).OnSend", 0},
	{"ccc", "(*Manager).OnACK", 0},
	{"ccc", "(*Manager).OnNACK", 0},
	{"ccc", "(*Manager).OnInferredLoss", 0},
	{"ccc", "(*Manager).OnCreditUpdate", 0},
	{"ccc", "(*Manager).Send", 0},
	{"ccc", "(*Manager).ContextLines", inlines},
	{"ccc", "(*Manager).Prefetch", 0},
	{"ccc", "(*Manager).Tick", 0},
	{"ccc", "(*Manager).Post", 0},
	{"ccc", "(*Manager).Drain", 0},
	{"ccc", "(*Manager).settle", 0},
	{"ccc", "(*Manager).live", inlines},
	{"ccc", "tallyOf", inlines | noBounds},
	{"ccc", "(*Manager).count", inlines | noBounds},
	{"ccc", "(*Manager).carryTally", 0},
	{"ccc", "(*member).count", inlines | noBounds},
	{"ccc", "(*member).cut", noBounds},
	{"ccc", "(*Context).fly", inlines | noBounds},
	{"ccc", "(*member).hear", inlines | noBounds},
	{"ccc", "(*record).wait", inlines | noBounds},
	{"ccc", "(*Manager).path", 0},
	{"ccc", "(*Entropy).advance", inlines | noBounds},
	{"ccc", "(*Manager).Refresh", inlines},
	{"ccc", "(*Gate).TryReserve", inlines | noBounds},
	{"ccc", "(*Gate).GiveBack", inlines | noBounds},
	{"ccc", "(*Manager).apply", 0},
	{"ccc", "cellsOf", inlines},
	{"ccc", "(*inbox).push", 0},
	{"ccc", "(*inbox).reserve", noBounds},
	{"ccc", "(*inbox).fill", 0},
	{"ccc", "(*inbox).take", inlines},
	{"ccc", "(*inbox).turn", inlines},
	{"ccc", "(*inbox).release", inlines},
	{"ccc", "(*Entropy).Next", 0},
	{"ccc", "(*Entropy).Feedback", 0},
	{"ccc", "(*Entropy).nextREPS", 0},
	{"ccc", "(*Entropy).feedREPS", 0},
	{"ccc", "(*Entropy).nextUnpenalised", 0},
	{"ccc", "(*Table).Lookup", 0},
	{"ccc", "(*Table).ByID", 0},

	{"rccc", "(*Source).CanSend", inlines | noBounds},
	{"rccc", "(*Source).OnSend", inlines | noBounds},
	{"rccc", "(*Source).OnACK", inlines | noBounds},
	{"rccc", "(*Source).OnLoss", noBounds},
	{"rccc", "(*Source).OnNoPDC", noBounds},
	{"rccc", "(*Source).OnCreditUpdate", noBounds},
	{"rccc", "(*Source).Target", noBounds},
	{"rccc", "(*Receiver).OnArrival", 0},
	{"rccc", "(*Receiver).Deadline", inlines},
	{"rccc", "(*Receiver).Poll", 0},
	{"rccc", "(*Receiver).Target", inlines},
	{"rccc", "(*pullPolicy).Update", 0},
	{"rccc", "(*pullPolicy).Next", 0},
	{"rccc", "(*slicePolicy).Update", 0},
	{"rccc", "(*slicePolicy).Next", 0},
	{"rccc", "(*Senders).pushBack", inlines},
	{"rccc", "(*Senders).unlink", inlines},
	{"rccc", "Quanta.Extend", inlines},

	{"rccc/tfc", "(*Source).CanSend", inlines | noBounds},
	{"rccc/tfc", "(*Source).OnSend", inlines | noBounds},
	{"rccc/tfc", "(*Source).OnCreditUpdate", inlines | noBounds},
	{"rccc/tfc", "(*Destination).Accept", noBounds},
	{"rccc/tfc", "(*Destination).Release", noBounds},
	{"rccc/tfc", "(*Destination).Credit", inlines | noBounds},

	{"internal/table", "(*Map).Lookup", 0},
	{"internal/table", "(*Map).beyond", 0},
	{"internal/table", "(*Map).Insert", 0},
	{"internal/table", "(*Map).claim", 0},
	{"internal/table", "(*Map).Delete", 0},
	{"internal/table", "(*Hasher).Sum", inlines | noBounds},
	{"internal/table", "(*Key).Set", 0},
	{"internal/table", "matches", inlines | noBounds},
	{"internal/table", "(*slot).holds", inlines | noBounds},
	{"internal/table", "(*slot).load", inlines | noBounds},
	{"internal/table", "(*Slots).Load", inlines},
	{"internal/table", "(*Pool).Live", inlines},
	{"internal/table", "(*Pool).Claim", 0},
	{"internal/table", "(*Pool).Release", 0},

	{"internal/timerwheel", "(*Wheel).Arm", inlines},
	{"internal/timerwheel", "(*Wheel).Cancel", inlines},
	{"internal/timerwheel", "(*Wheel).link", 0},
	{"internal/timerwheel", "(*Wheel).unlink", inlines},
	{"internal/timerwheel", "(*Wheel).Armed", inlines},
	{"internal/timerwheel", "(*Wheel).Next", 0},
	{"internal/timerwheel", "(*Wheel).Expire", 0},
	{"internal/timerwheel", "(*Wheel).cascade", 0},

	{"hw", "(*Context).SetCwnd", inlines | noBounds},
	{"hw", "(*Context).SetCredit", inlines | noBounds},
	{"hw", "(*Doorbell).Ring", noBounds},
	{"hw", "(*Ring).Drain", 0},
	{"hw", "(*Event).setHead", inlines | noBounds},
	{"hw", "(*Event).setRest", inlines | noBounds},
	{"hw", "(*SoftDevice).Post", 0},
	{"hw", "(*SoftDevice).mark", 0},
	{"hw", "(*softRing).fill", 0},
	{"hw", "(*Memory).Load64", inlines},
	{"hw", "(*Memory).Store64", inlines},

	{"hw/cbfc", "(*Tx).CanSend", inlines | noBounds},
	{"hw/cbfc", "(*Tx).OnSend", inlines | noBounds},
	{"hw/cbfc", "(*Tx).OnFlowControl", inlines | noBounds},
	{"hw/cbfc", "(*Rx).Receive", inlines | noBounds},
	{"hw/cbfc", "(*Rx).FCCL", inlines | noBounds},
	{"hw/cbfc", "(*Sender).CanSend", inlines},
	{"hw/cbfc", "(*Sender).OnSend", inlines},
	{"hw/cbfc", "(*Sender).OnCFUpdate", inlines},
	{"hw/cbfc", "(*Receiver).OnFrame", inlines | noBounds},
	{"hw/cbfc", "(*Receiver).OnCCUpdate", inlines | noBounds},
	{"hw/cbfc", "Cost.Credits", inlines},

	{"hw/pcc", "(*Template).OnEvent", noBounds},
	{"hw/pcc", "(*Template).onRTT", noBounds},
	{"hw/pcc", "(*Template).next", noBounds},
	{"hw/pcc", "(*ZTR).OnEvent", noBounds},
	{"hw/pcc", "(*ZTR).onRTT", noBounds},
	{"hw/pcc", "(*ZTR).next", noBounds},
	{"hw/pcc", "(*ZTR).expected", inlines | noBounds},
	{"hw/pcc", "Stamps.Network", inlines | noBounds},

	{"hw/switchq", "(*Queue).Enqueue", 0},
	{"hw/switchq", "(*Queue).Dequeue", 0},
	{"hw/switchq", "(*Queue).overflow", 0},
	{"hw/switchq", "(*Queue).trim", 0},
	{"hw/switchq", "(*Queue).marks", 0},
	{"hw/switchq", "(*Queue).left", inlines},
	{"hw/switchq", "(*lane).pop", inlines},
	{"hw/switchq", "(*Ingress).Arrive", inlines | noBounds},
	{"hw/switchq", "(*Ingress).Leave", inlines | noBounds},
	{"hw/switchq", "Uplink", inlines | noBounds},
}

// TestHotFunctions fails when a function of the list allocates, stops inlining, or
// gets a bounds check that it did not have. Nothing is timed. Functions named
// Append grow the caller's slice if they must; that one allocation is theirs.
func TestHotFunctions(t *testing.T) {
	root := sourceTree()
	if root == "" {
		t.Skip("needs the go command and the source of the library")
	}
	var packages []string
	for _, h := range hot {
		if !slices.Contains(packages, h.pkg) {
			packages = append(packages, h.pkg)
		}
	}
	d, err := diagnose(root, packages)
	require.NoError(t, err)
	for _, h := range hot {
		f := d[h.pkg+" "+h.name]
		if f == nil {
			t.Errorf("%s: no such function in package %q: rename it in this list too", h.name, h.pkg)
			continue
		}
		for _, complaint := range f.complaints(h.name, h.must) {
			t.Errorf("%s %s: %s", h.pkg, h.name, complaint)
		}
	}
	if t.Failed() {
		t.Logf("compiled by %s for %s", runtime.Version(), runtime.GOARCH)
	}
}

// complaints are the demands that f does not meet. Bounds checks differ between
// compilers and processors, so they count for those this was written with only.
func (f *function) complaints(name string, must demand) (all []string) {
	for _, h := range f.heap {
		if !strings.HasSuffix(h, ": append escapes to heap") || !strings.Contains(strings.ToLower(name), "append") {
			all = append(all, h)
		}
	}
	if must&inlines != 0 && !f.inlines {
		all = append(all, "does not inline: "+f.whyNot)
	}
	known := strings.HasPrefix(version.Lang(runtime.Version()), "go1.26") && slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH)
	if must&noBounds != 0 && known && len(f.bounds) > 0 {
		all = append(all, "bounds checks at "+strings.Join(f.bounds, ", "))
	}
	return all
}

// TestHotFunctionsSeesRegressions plants one of each and looks for the complaint.
func TestHotFunctionsSeesRegressions(t *testing.T) {
	if sourceTree() == "" {
		t.Skip("needs the go command")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module planted\n\ngo 1.26\n"), 0o666))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "p"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p", "p.go"), []byte(planted), 0o666))
	d, err := diagnose(dir, []string{"p"})
	require.NoError(t, err)

	for _, c := range []struct {
		name string
		must demand
		want string // "" is no complaint
	}{
		{"T.Clean", inlines | noBounds, ""},
		{"(*T).Moves", 0, "moved to heap: v"},
		{"(*T).Escapes", 0, "escapes to heap"},
		{"Calls", 0, "escapes to heap"},
		{"(*T).Grows", 0, "append escapes to heap"},
		{"(*T).AppendTo", 0, ""},
		{"(*T).Large", inlines, "does not inline: function too complex"},
		{"(*T).Large", 0, ""},
		{"(*T).Checked", noBounds, "bounds checks at p/p.go:"},
		{"(*T).Panics", 0, ""},
		{"Generic", inlines, ""},
	} {
		f := d["p "+c.name]
		require.NotNil(t, f, c.name)
		got := strings.Join(f.complaints(c.name, c.must), "; ")
		if c.want == "" {
			require.Empty(t, got, c.name)
		}
		require.Contains(t, got, c.want, c.name)
	}
}

const planted = `package p

type T struct {
	a [8]int
	s []int
}

var sink *int
var box any

func (t T) Clean(i int) int { return t.a[i&7] }

func (t *T) Moves() {
	v := 1
	sink = &v
}

func (t *T) Escapes(n int) { box = n }

func helper(n int) any { return n }

func Calls(n int) { box = helper(n) }

func (t *T) Grows(n int) { t.s = append(t.s, n) }

func (t *T) AppendTo(b []byte) []byte { return append(b, 1) }

func (t *T) Large(n int) (s int) {
	for i := range n {
		for j := range n {
			for k := range n {
				s += i*j + j*k + k*i + i/(j+1) + j/(k+1) + k/(i+1) + n%(i+1) + n%(j+1) + n%(k+1)
				s ^= i<<1 | j<<2 | k<<3
				s -= (i - j) * (j - k) * (k - i) * (i + j) * (j + k) * (k + i)
			}
		}
	}
	return s
}

func (t *T) Checked(i int) int { return t.a[i] }

func (t *T) Panics() {
	if t.s == nil {
		panic("p: no slice")
	}
}

func Generic[E int | int64](a, b E) E { return max(a, b) }

var _, _ = Generic(1, 2), Generic(int64(1), 2)
`
