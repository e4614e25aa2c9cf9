package nscc

// AdditiveStep is the additive increase of a round trip in the reading that
// divides Base_BDP (150,000 bytes, the same for every link rate) by a power of
// two: 146.484375 bytes for 1024. It is not a function of UE Specification 1.0.x;
// to use it, set [Tuning.Eta] to it.
func AdditiveStep(shift uint) float64 {
	return baseBDP / float64(uint64(1)<<min(shift, 63))
}
