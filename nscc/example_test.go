package nscc_test

import (
	"fmt"

	"github.com/uetcc/uetcc/nscc"
)

// A sender that uses the window alone.
func Example() {
	params, err := nscc.NewParams(nscc.Config{
		LinkRate: 100e9 / 8, // bytes a second
		BaseRTT:  12_000,    // ns
		MTU:      4096,
		Trimming: true,
	})
	if err != nil {
		panic(err)
	}
	now := int64(1_000_000)
	var w nscc.Window
	w.Init(&params, now)
	for w.CanSend(&params, 4096) {
		w.OnSend(4096) // and transmit
	}
	fmt.Println("in flight:", w.Inflight(), "of", w.Cwnd())

	// The queue is far above target, and the switch marks.
	for range 60 {
		now += 400
		w.OnACK(&params, now, nscc.Ack{Bytes: 4096, RTT: 12_000 + 40_000, ECN: true})
	}
	fmt.Println("window:", w.Cwnd(), "last action:", w.Snapshot().Action)

	// Output:
	// in flight: 221184 of 225000
	// window: 171038 last action: considered
}
