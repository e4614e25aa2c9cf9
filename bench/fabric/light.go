// SPDX-License-Identifier: Apache-2.0

package fabric

import "github.com/uetcc/uetcc/ccc"

// light is the light transport on the wires, and the transfers of either kind of node.
type light struct {
	wires
	params ccc.Params

	nics        []nic
	senders     []sender
	algorithms  []ownAlgorithm // by connection; nil without Config.Algorithm
	waited      []waited       // by connection; nil without Config.Held
	infer       []inference    // by connection; nil without Config.InferLoss
	lastRequest []int64        // by connection, ps, 0: none yet; nil where requests take no PSNs
	receivers   []receiver
	asked       []asked       // by connection; the same
	credits     []creditPort  // by host; nil without receiver credits
	slowsCredit bool          // where the fabric is the bottleneck
	records     rings[record] // of all senders
	bitmaps     rings[uint64] // of all receivers
	side        []uint64      // of all entropy schemes
	psnRange    uint32        // of the longest connection; of endpoints that of Config
	rto         int64         // ps
	mem         *memory       // behind one host; nil: none
	restored    int64         // windows that a slow memory gave back

	app       *app // nil: the matrix is not an application's
	transfers []transfer
	order     []uint32 // transfers, those of a connection together, as they were started
	triggers  map[int64]*triggerState
	done      int
}
