// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"
	"strings"
)

// inFlags puts in front of an error about the fields of a configuration the flags, as
// given, behind the fields.
func (o *options) inFlags(err error) error {
	var names []string
	add := func(value any, unit, flag string, fields ...string) {
		about := func(field string) bool { return strings.Contains(err.Error(), field) }
		if o.given[flag] && slices.ContainsFunc(fields, about) {
			names = append(names, fmt.Sprintf("-%s %v%s", flag, value, unit))
		}
	}
	add(o.speed, " Gb/s", "speed", "LinkRate", "MaxWnd")
	add(o.hop, " us", "hop", "BaseRTT", "MaxWnd")
	add(o.rtt, " us", "rtt", "BaseRTT", "MaxWnd")
	add(o.paths, "", "paths", "EntropyConfig.Values")
	add(o.cwnd, " bytes", "cwnd", "InitialCwnd")
	add(o.credit, " bytes", "first-credit", "InitialCredit", "FirstCredit")
	add(o.packet, " bytes", "packet", "MTU", "PacketBytes")
	add(o.slow, "", "slow", "SlowLinks")
	t := &o.tuning
	add(t.queue.Limit, "", "queue", "Queue.Limit", "LowLimit")
	add(t.queue.ECNMin, "", "ecn-min", "ECNMin")
	add(t.queue.ECNMax, "", "ecn-max", "ECNMax", "ECNMin")
	add(t.trimBytes, " bytes", "trim-bytes", "TrimBytes", "HeaderBytes")
	add(t.pairRTT, "", "pair-rtt", "PairRTT")
	add(t.nackRTT, "", "nack-rtt", "NoNackRTT")
	add(t.inferLoss, "", "infer-loss", "InferLoss")
	add(t.faults, "", "fail", "Faults")
	add(t.tuned, "", "tune", "Tuning.", "MaxWnd")
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", strings.Join(names, ", "), err)
}
