// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/pds"
)

// ErrConfig is wrapped by every error about a configuration; the text names the field and
// the limit.
var ErrConfig = errors.New("pdc: invalid configuration")

// Config holds the PDS parameters of UE Specification 1.0.x, section 3.5, and
// the sizes of a [Manager]'s memory. A zero field means the default in the field's comment; times
// are nanoseconds.
//
// The specification's defaults of times suit paths of microseconds, so on longer ones the
// default is a multiple of BaseRTT, given in the comment too: queues may add five before dropping
// (section 3.6.17), and a shorter timer fires for nothing.
//
// The specification allows a NACK_Retx_Time for each code. Here one NACK_Retx_Time serves all
// codes, by the reaction: a lost packet (TRIMMED, RCVR_INFER_LOSS, PKT_NOT_RCVD) goes at once, an
// initiator without a PDC at the target (NO_PDC_AVAIL and the like) waits twice as long each
// time, all other packets wait NACK_Retx_Time.
//
// Two parts of 1.0.3 public by name only are not here: Syn_Retx_Safety_Time, replaced by the
// quarantine of [TableConfig], and the negotiation of congestion control on a PDC (on_off). Both
// ends have to be configured alike; a NEGOTIATION goes to the layer above, see
// [Manager.Negotiate].
type Config struct {
	// Range is how many PSNs are tracked in each direction, 1 to [MaxRange] (default
	// 1024). The mpr of an ACK_CC announces it in units of 128, rounded up, see OverrideMPRZero. It should be no
	// less than what peers have as DefaultMPR: of a SYN packet beyond it nothing can be kept.
	// A path is filled by as many packets as it takes in a round trip. Each PDC has 12 bytes
	// for 64 PSNs, in memory that is not touched before it is used.
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
	// 16, also the most for a peer known only by SYN packets); see [MemoryConfig].LongResponses.
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
	// their bytes and has to call [Manager.Replay] after each packet: without that the PDC
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
	// by RTOInit: with 5 retries a peer is given up whose first answer takes 63 times as long.
	RTOInit int64

	// MaxRTORetx is Max_RTO_Retx_Cnt, how often a packet is sent again on time before its PDC fails:
	// 1 to 15, 15 for ever (default 5). While the peer answers other packets, or the probes of
	// InferLoss, the packet is sent again with the longest timeout, up to 63 times: others keep a
	// queue full that both come to.
	MaxRTORetx int

	NackRetxTime int64 // NACK_Retx_Time: from a NACK to the resend, up to 8 s (default 1 ms or 8 BaseRTT)

	// MaxNackRetx is Max_NACK_Retx_Cnt, the number of retransmissions of a packet due to NACKs
	// before the PDC fails: 1 to 31, 31 for ever (default 5). A packet refused for want of memory
	// (NO_PKT_BUFFER, NO_GTD_DEL_AVAIL, NO_SES_MSG_AVAIL, NO_RESOURCE) is sent again for as long
	// as other packets of the PDC get through, else twice as often, at most 30 times, and each
	// time after twice the pause, a second in all by default. Then the packet and the message
	// fail, but not the PDC.
	MaxNackRetx int

	// InferLoss concludes losses from SACK and probes for them, in fabrics that do not trim.
	InferLoss    bool
	TargetQDelay int64 // of probes (default BaseRTT, as in NSCC without trimming)
	TailLossTime int64 // Tail_Loss_Time: the longest silence before a probe, up to 8 s (default 1 ms or 8 BaseRTT)

	// MaxTailLossRetx is Max_Tail_Loss_Retx: answers to probes in a row without news, and so resends of
	// the missing packets, 1 to 15 in each time-out (default 5). While no probe is answered more follow,
	// 16 in each time-out, until the packets have timed out as often as allowed.
	MaxTailLossRetx int

	// KnownSources means that nobody can forge a source address, by care of the network or a
	// lower layer. Then data asked for in a peer's first packets is sent at once, at any length,
	// and floods are only a matter of TableConfig.PerSource. Otherwise a peer first proves that
	// it receives, see [Manager.Doubts].
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
	// packet (default 4 s, or the largest timeout).
	IdleTime int64
}

// NewParams checks c and fills in the defaults. Errors wrap [ErrConfig] and name the
// field.
func NewParams(c Config) (Params, error) {
	if err := fill("BaseRTT", &c.BaseRTT, 12_000, 60_000_000_000); err != nil {
		return Params{}, err
	}
	rtts := func(n, least, limit int64) int64 { return min(max(n*c.BaseRTT, least), limit) }
	err := cmp.Or(
		fill("AckTrigger", &c.AckTrigger, 16<<10, 32<<10),
		fill("AckMinPktAdd", &c.AckMinPktAdd, 1<<10, 2<<10),
		fill("RTOInit", &c.RTOInit, rtts(8, 1_000_000, rtoMax), rtoMax),
		fill("NackRetxTime", &c.NackRetxTime, rtts(8, 1_000_000, rtoMax), rtoMax),
		fill("ClearTime", &c.ClearTime, max(rtts(8, 1_000_000, c.RTOInit/2), 1), rtoMax),
		fill("CloseReqTime", &c.CloseReqTime, rtts(8, 1_000_000, lapseMax), lapseMax),
		fill("NewPDCTime", &c.NewPDCTime, rtts(40, 5_000_000, lapseMax), lapseMax),
		fill("PendTimeout", &c.PendTimeout, rtts(800, 100_000_000, 100*rtoMax), 100*rtoMax),
		fill("TargetQDelay", &c.TargetQDelay, min(c.BaseRTT, rtoMax), rtoMax),
		fill("TailLossTime", &c.TailLossTime, rtts(8, 1_000_000, rtoMax), rtoMax),
		check.Range(ErrConfig, "IdleTime", c.IdleTime, 0, math.MaxInt64/4),
		fill("Range", &c.Range, defaultRange, MaxRange),
		fill("DefaultMPR", &c.DefaultMPR, 8, 255),
		check.Range(ErrConfig, "OverrideMPRZero", c.OverrideMPRZero, 0, MaxRange),
		check.Range(ErrConfig, "RcvrInferLoss", c.RcvrInferLoss, 0, MaxRange),
		fill("MaxAckData", &c.MaxAckData, 16, 8192),
		fill("MaxRTORetx", &c.MaxRTORetx, 5, rtoForever),
		fill("MaxNackRetx", &c.MaxNackRetx, 5, nackForever),
		fill("MaxTailLossRetx", &c.MaxTailLossRetx, 5, 15),
		fill("CloseThresh", &c.CloseThresh, MaxPDCs, MaxPDCs),
	)
	if err != nil {
		return Params{}, err
	}
	return derive(c)
}

// fill gives *v the default and checks the range 1 to limit.
func fill[T int | int64](name string, v *T, def, limit T) error {
	*v = cmp.Or(*v, def)
	return check.Range(ErrConfig, name, *v, 1, limit)
}

// derive checks conditions beyond ranges and computes the rest.
func derive(c Config) (Params, error) {
	if c.Start > StartExpected0RTT {
		return Params{}, fmt.Errorf("%w: Start is %d, want at most %d", ErrConfig, c.Start, StartExpected0RTT)
	}
	p := Params{c: c, ranges: uint32(c.Range), mpr: uint8((c.Range + mprUnit - 1) / mprUnit), ackAll: c.AckTrigger}
	if n := c.OverrideMPRZero; n != 0 && n <= c.Range && c.Range < mprUnit {
		p.mpr = 0
	}
	p.c.OverrideMPRZero = cmp.Or(c.OverrideMPRZero, mprUnit)
	for mpr := range p.limits {
		p.limits[mpr] = uint16(min(cmp.Or(mpr*mprUnit, p.c.OverrideMPRZero), c.Range))
	}
	p.maxRTOs, p.maxNacks = retries(c.MaxRTORetx, rtoForever), retries(c.MaxNackRetx, nackForever)
	if p.maxShort = forever; p.maxNacks != forever {
		p.maxShort = min(2*p.maxNacks, nackForever-1)
	}
	p.responseMax = max(ResponseMax, dataHeaderLen+c.MaxAckData)
	p.replyMax = pds.AckCCLen + p.responseMax
	if c.AckPerPacket {
		p.ackAll = 0
	}
	if c.RTOInit < min(c.BaseRTT, rtoMax) {
		const text = "%w: RTOInit is %d, want at least BaseRTT, %d: no answer comes in less"
		return Params{}, fmt.Errorf(text, ErrConfig, c.RTOInit, c.BaseRTT)
	}
	longest := p.longestRTO()
	p.c.IdleTime = cmp.Or(c.IdleTime, max(4_000_000_000, longest))
	if p.c.IdleTime < longest {
		const text = "%w: IdleTime is %d, want at least %d, the longest timeout by RTOInit and MaxRTORetx"
		return Params{}, fmt.Errorf(text, ErrConfig, p.c.IdleTime, longest)
	}
	return p, nil
}

// retries is a number of retransmissions, where the value unlimited means no limit.
func retries(n, unlimited int) int {
	if n == unlimited {
		return forever
	}
	return n
}
