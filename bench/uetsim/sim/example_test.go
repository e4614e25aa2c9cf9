// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/uetcc/uetcc/bench/uetsim/sim"
	"github.com/uetcc/uetcc/ccc"
)

// half is a congestion control of one's own: half of NSCC's first window, always.
type half struct{}

func (half) OnSend(now, size int64, rtx bool)     {}
func (half) OnACK(now int64, a ccc.Ack)           {}
func (half) OnNACK(now int64, n ccc.Nack)         {}
func (half) OnInferredLoss(now int64, l ccc.Loss) {}
func (half) Allow(now int64, s ccc.Standing) (bytes, notBefore int64) {
	return s.Cwnd/2 - s.Inflight, 0
}

// A uetsim that knows one more word for -cc; its main would hand over os.Args[1:] and exit with
// the status.
func ExampleMain() {
	own := sim.Baselines()
	own["half"] = func(src, dst int) ccc.Algorithm { return half{} }
	var out strings.Builder
	if status := sim.Main([]string{"-matrix", "../../fabric/testdata/one.cm", "-cc", "nscc,half,swift", "-json"}, own, &out, os.Stderr); status != 0 {
		log.Fatal(status)
	}
	var report struct {
		Runs []struct {
			Name   string
			Result struct{ Unfinished int }
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil {
		log.Fatal(err)
	}
	for _, r := range report.Runs {
		fmt.Println(r.Name, r.Result.Unfinished)
	}
	// Output:
	// nscc 0
	// half 0
	// swift 0
}
