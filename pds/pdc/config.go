// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/internal/enum"

// MaxRange is the largest number of PSNs that a window spans: the largest mpr stands for it.
const MaxRange = 255 * 128

// Config is how packets are delivered: windows, acknowledgement, retransmission and the life of
// PDCs, by the PDS parameters of UE Specification 1.0.x, section 3.5. A zero field means the default
// in the field's comment; times are nanoseconds.
//
// The specification's defaults of times suit paths of microseconds, so on longer ones the
// default is a multiple of BaseRTT, given in the comment too: queues may add five before dropping
// (section 3.6.17), and a shorter timer fires for nothing.
//
// The specification allows a NACK_Retx_Time for each code. Here one NACK_Retx_Time serves all
// codes, by the reaction: a lost packet (TRIMMED, RCVR_INFER_LOSS, PKT_NOT_RCVD) goes at once, an
// initiator without a PDC at the target (NO_PDC_AVAIL and the like) waits twice as long each
// time, all other packets wait NACK_Retx_Time, but requests for data refused for want of memory only
// until an answer shows that there is room, and packets out of the peer's range until the range is there.
//
// Two parts of 1.0.3 public by name only are not here: Syn_Retx_Safety_Time, which follows from the
// quarantine of [TableConfig], see MaxRTORetx, and the negotiation of congestion control on a PDC (on_off). Both
// ends have to be configured alike; a NEGOTIATION is acknowledged, without effect.
type Config struct {
	// Range is how many PSNs are tracked in each direction, 1 to [MaxRange] (default
	// 1024). The mpr of an ACK_CC announces it in units of 128, rounded up, and as many are tracked of what comes in, see
	// OverrideMPRZero. It should be no less than what peers have as DefaultMPR: of a SYN packet beyond it nothing can be kept.
	// A path is filled by as many packets as it takes in a round trip. Each PDC has 16 bytes
	// for 64 PSNs, in memory that is not touched before it is used. Behind a full
	// window up to 64 packets more are taken, and wait.
	Range int

	// DefaultMPR is the peer's range until an ACK_CC announces a new range or the peer refuses a
	// PSN as out of range, 1 to 255 units of 128 PSNs (default 8). Reference providers have 1.
	DefaultMPR int

	// OverrideMPRZero is Override_MPR_Zero_Value, how many PSNs an mpr of 0 stands for, 1 to
	// [MaxRange] (default 128). Where it is set on both ends a Range of less than 128, and no less
	// than it, is announced as 0. The unit is not public: it is single PSNs here.
	OverrideMPRZero int

	// BaseRTT is config_base_rtt, a full packet's round trip on the longest path when idle, up to
	// 60 s (default 12 us).
	BaseRTT int64

	// Acknowledgements of a target.
	AckTrigger   int64 // ACK_Gen_Trigger: bytes that cause an ACK, up to 32 KiB (default 16 KiB)
	AckMinPktAdd int64 // ACK_Gen_Min_Pkt_Add: the least count of a packet, up to 2 KiB (default 1 KiB)
	AckPerPacket bool  // Enb_ACK_Per_Pkt
	NoAckOnECN   bool  // turns ACK_On_ECN off
	NoAckCC      bool  // send ACK in place of ACK_CC: no SACK and no congestion state

	// MaxAckData is Max_ACK_Data_Size, the most read data in an ACK, bytes up to 8192 (default
	// 16, also the most for a peer known only by SYN packets); see [MemoryConfig].LongResponses. A
	// fetching atomic of more is refused with RC_AMO_UNSUPPORTED_SIZE.
	MaxAckData int

	// RcvrInferLoss has a target of RUD say once (RCVR_INFER_LOSS) that the lowest missing packet is
	// lost, when one has come that is so many PSNs behind it, up to [MaxRange]: in fabrics that do
	// not trim the source learns of a loss a probe earlier. Above what paths reorder; when is left to
	// implementers (default 0: never).
	RcvrInferLoss int

	// NackMissing has a ROD_OOO name the packet that is missing where 1.0.3 names the one that came
	// too early, as a reference provider needs it that sends again what nack_psn says. The payload
	// is Expected_PSN either way.
	NackMissing bool

	// BufferROD keeps packets of an ordered PDC that arrive ahead of a gap. The caller keeps
	// their bytes and has to call Endpoint.Replay after each packet: without that the PDC
	// stands still behind its first gap, and its peer hears RCVD_SES_PROCG.
	BufferROD bool

	// SprayROD has packets of ordered PDCs take all paths, as others do, where every peer has a
	// reorder buffer (BufferROD): nothing on the wire names such peers. UE Specification 1.0.x
	// section 3.5.9.
	SprayROD bool

	// Retransmission of lost packets.
	//
	// RTOInit is RTO_Init_Time, the first timeout of a packet, BaseRTT to 8 s (default 1 ms or 8
	// BaseRTT). A PDC whose answers take longer learns from them to wait for longer: their mean and
	// four times the mean deviation, as in RFC 6298, and at least twice the mean, up to the longest
	// timeout, RTOInit x 2^MaxRTORetx (32 ms by default), or a quarter of IdleTime. Its first packets, and RUDI packets, go
	// by RTOInit: with 5 retries a peer is given up whose first answer takes 63 times as long. Each further
	// timeout of a packet is twice the one before, and up to a quarter more, different for each PDC, since
	// packets dropped at one time by a full queue would fill the queue again at one time.
	RTOInit int64

	// MaxRTORetx is Max_RTO_Retx_Cnt, how often a packet is sent again on time before its PDC fails:
	// 1 to 15, 15 for ever (default 5). While the peer answers other packets, or the probes of
	// InferLoss, the packet is sent again with the longest timeout, up to 63 times: others keep a
	// queue full that both come to. A PDC whose SYN packets have no answer fails after these
	// timeouts and half of TableConfig.Quarantine at the latest, whatever held the packets up. With
	// 15 a PDC has no such end, and requests are handed up once only if each silence is shorter
	// than a peer's IdleTime and quarantine.
	MaxRTORetx int

	NackRetxTime int64 // NACK_Retx_Time: from a NACK to the resend, up to 8 s (default 1 ms or 8 BaseRTT)

	// MaxNackRetx is Max_NACK_Retx_Cnt, the number of retransmissions of a packet due to NACKs
	// before the PDC fails: 1 to 31, 31 for ever (default 5). A packet refused for want of memory
	// (NO_PKT_BUFFER, NO_GTD_DEL_AVAIL, NO_SES_MSG_AVAIL, NO_RESOURCE) is sent again for as long
	// as other packets of the PDC get through, else twice as often, at most 30 times, and each
	// time after twice the pause, a second in all by default. Then the packet and the message
	// fail, but not the PDC. A packet that switches trim again and again, or that is dropped after
	// each ROD_OOO, goes on after pauses that double, too, as its peer is there. A RUDI packet refused
	// for want of a PDC (NO_PDC_AVAIL) is sent again as often and as late.
	MaxNackRetx int

	// InferLoss concludes losses from SACK and probes for them, in fabrics that do not trim. The first packet of a PDC,
	// with few behind it, goes again after some round trips of silence, twice before RTOInit: no probe can name the PDC yet.
	InferLoss    bool
	TargetQDelay int64 // of probes (default BaseRTT, as in NSCC without trimming)
	TailLossTime int64 // Tail_Loss_Time: the longest silence before a probe, BaseRTT to 8 s (default 1 ms or 8 BaseRTT)

	// MaxTailLossRetx is Max_Tail_Loss_Retx: answers to probes in a row without news, and so resends of
	// the missing packets, 1 to 15 in each time-out (default 5). While no probe is answered more follow,
	// 16 in each time-out, until the packets have timed out as often as allowed.
	MaxTailLossRetx int

	// KnownSources means that nobody can forge a source address, by care of the network or a
	// lower layer. Then data asked for in a peer's first packets is sent at once, at any length,
	// and floods are only a matter of TableConfig.PerSource. Otherwise a peer first proves that
	// it receives.
	KnownSources bool

	// The life of a PDC.
	Start         StartMethod // the Start_PSNs that a target takes
	NewPDCTime    int64       // New_PDC_Time: life of a PENDING PDC (default 5 ms or 40 BaseRTT)
	CloseThresh   int         // Close_Thresh: PDCs left open before any is closed (default: all)
	LimitPSNRange bool        // Limit_PSN_Range: close a PDC before the use of 2^31 PSNs; for PDCs under TSS

	// FreshKey means that all packets are sealed (package pds/tss), under a key that has opened
	// nothing before the manager began. An unknown initiator then starts at 0 RTT too, if
	// StartExpected0RTT finds the Start_PSN at or after the Expected_PSN of the secure domain, 0
	// at first. When 2^31 PSNs have gone by under the key StartRandom1RTT takes over.
	FreshKey bool

	// ClearTime is PDS_Clear_Time, the idle time before a CLEAR_CMD (default 1 ms or 8 BaseRTT,
	// and at most half of RTOInit). CACK waits for the CLEAR_CMD behind a guaranteed response,
	// and packets waiting for CACK time out after RTOInit: in vain, were both times as long as by
	// default.
	ClearTime int64

	// PendTimeout is Pend_Timeout, how long a message may wait for a PDC: up to 800 s
	// (default 100 ms or 800 BaseRTT).
	PendTimeout int64

	// CloseReqTime is Close_REQ_Time, the silence until a CLOSE_CMD asked for: at
	// least the largest timeout of a packet (default 1 ms or 8 BaseRTT).
	CloseReqTime int64

	// IdleTime is the idle time of a PDC before being closed: at least the largest timeout of a
	// packet (default 4 s, or the largest timeout). A target asks a silent peer an eighth later, and
	// closes after twice IdleTime.
	IdleTime int64
}

// MemoryConfig sizes the memory shared by the PDCs of an endpoint: records of packets sent, stored
// responses, and the events for the layer above, allocated once.
type MemoryConfig struct {
	// Chunks is records of sent packets in units of 16, each 576 bytes, up to 2^24; 0 means 1 for
	// each PDC, at most 16,384, and at least enough for two PDCs with a full window of
	// Config.Range and what waits behind. A sixteenth more is for the packets that close PDCs, and a 64th
	// each for requests of reads, and for the data that peers read.
	Chunks    int
	Responses int // stored responses besides one for each PDC alone, up to 2^24; 0 means 1 for each PDC, 4,096 to 16,384
	Events    int // room for events beyond a single packet's, up to 2^24; 0 means 1024

	// Where Config.MaxAckData is more than the default, LongResponses of the stored
	// responses may be as long as that, up to 65,535 (default: one for each
	// PDC, at most 256).
	LongResponses int

	// With Config.BufferROD, Buffers is the most packets of ordered PDCs buffered, up to
	// 65,535 (default: 2048). The caller keeps the packets; here each takes one more
	// response. A PDC gets one more buffer, or one more of Responses, only while more are
	// free than the PDC has. So with the default a single PDC may have a whole window.
	Buffers int
}

// A StartMethod is the choice of Start_PSNs that a target takes from an initiator opening a PDC,
// against replayed packets of an earlier PDC. If the initiator's choice is refused, the first data
// costs one more round trip.
//
// Under each method, a target begins to ask for a different Start_PSN when PDCs of peers not
// proven to receive hold a fifth of the PDCIDs open to such PDCs. As with the cookies of TCP and
// the Retry of QUIC, the target keeps no state of the asked peer. So a flood of SYN packets with
// false sources takes no PDCID needed by an honest peer.
//
// Source: UE Specification 1.0.x section 3.5, PDCs that TSS secures.
type StartMethod uint8

const (
	// StartAny: the initiator's choice.
	StartAny StartMethod = iota

	// StartRandom1RTT (RANDOM_1RTT_START): drawn by the target.
	StartRandom1RTT

	// StartExpected0RTT (EXPECTED_0RTT_START): the initiator's choice, if at or after the
	// Expected_PSN, the successor of the last PSN on a PDC with the same address and PDCID of the
	// initiator. For other initiators like StartRandom1RTT, unless [Config.FreshKey]. As an
	// initiator, a manager with this method counts on from the last PSN of a PDCID.
	StartExpected0RTT
)

var startNames = [...]string{"ANY", "RANDOM_1RTT_START", "EXPECTED_0RTT_START"}

// String returns the specification's name.
func (s StartMethod) String() string { return enum.Name(startNames[:], s) }
