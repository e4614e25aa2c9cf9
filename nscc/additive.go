// SPDX-License-Identifier: Apache-2.0

package nscc

// AdditiveStep is the additive increase of a round trip in the reading with
// Base_BDP divided (150,000 bytes, the same for every link rate) by a power of
// two: 146.484375 bytes for 1024. UE Specification 1.0.x has no such function; to
// use the step, set [Tuning.Eta].
func AdditiveStep(shift uint) float64 {
	return baseBDP / float64(uint64(1)<<min(shift, 63))
}
