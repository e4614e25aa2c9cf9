// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"cmp"

	"github.com/uetcc/uetcc/internal/check"
)

// What NewSpacing takes for 0.
const (
	defaultCFMin    = 6400       // bytes of line time between CF_Updates, at least
	defaultCFMax    = 262144     // bytes of line time between CF_Updates, at most
	defaultCCPeriod = 256 * 1000 // nanoseconds between CC_Updates
)

// Spacing decides when messages leave: CF_Updates by line time, counted in
// bytes, CC_Updates by the clock. Single writer.
type Spacing struct {
	cfMin, cfMax int64
	ccPeriod     int64
	cfAt         int64 // line time of the last CF_Update
	ccAt         int64 // time of the last CC_Update
}

// NewSpacing returns a spacing that starts at line time 0 and time 0. cfMin is at
// least 800 B, cfMax 16 KiB to 1 MiB in steps of 16 KiB and not below cfMin,
// ccPeriod 1 us to 250 ms; 0 is 6,400 B, 256 KiB and 256 us. The error wraps
// [ErrConfig].
func NewSpacing(cfMin, cfMax, ccPeriod int64) (Spacing, error) {
	const us = 1000
	cfMin, cfMax, ccPeriod = cmp.Or(cfMin, defaultCFMin), cmp.Or(cfMax, defaultCFMax), cmp.Or(ccPeriod, defaultCCPeriod)
	err := cmp.Or(
		check.Range(ErrConfig, "cfMin", cfMin, 800, cfMax),
		check.Range(ErrConfig, "cfMax", cfMax, 16<<10, 1<<20),
		check.Range(ErrConfig, "cfMax modulo 16 KiB", cfMax%(16<<10), 0, 0),
		check.Range(ErrConfig, "ccPeriod", ccPeriod, us, 250_000*us),
	)
	if err != nil {
		return Spacing{}, err
	}
	return Spacing{cfMin: cfMin, cfMax: cfMax, ccPeriod: ccPeriod}, nil
}

// CFUpdate reports whether a CF_Update leaves at the given line time. changed
// says whether R_CF moved since the last CF_Update: without news the next waits
// for the maximum spacing.
func (s *Spacing) CFUpdate(line int64, changed bool) bool {
	gap := line - s.cfAt
	if gap < s.cfMin || !changed && gap < s.cfMax {
		return false
	}
	s.cfAt = line
	return true
}

// CCUpdate reports whether a CC_Update leaves at time now (nanoseconds).
func (s *Spacing) CCUpdate(now int64) bool {
	if now-s.ccAt < s.ccPeriod {
		return false
	}
	s.ccAt = now
	return true
}
