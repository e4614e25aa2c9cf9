// SPDX-License-Identifier: Apache-2.0

package nscc

import "github.com/uetcc/uetcc/internal/enum"

// Action is an event's effect on the window, for observers.
type Action uint8

// The actions. The actions of the four cases of mark and delay follow in the
// order of the cases.
const (
	ActionNone         Action = iota // nothing, or counters only
	ActionProportional               // increase in proportion to the delay's slack
	ActionFair                       // constant increase
	ActionHold                       // marked at low delay, or increase held: penalty, unused window
	ActionConsidered                 // decrease considered, not due
	ActionDecrease                   // multiplicative decrease
	ActionFast                       // fast increase
	ActionQuickAdapt                 // window set to the bytes acknowledged
	ActionIgnore                     // mark from before a quick adapt
	ActionReduce                     // window reduced by a lost or trimmed packet
)

var actionNames = [...]string{"none", "proportional", "fair", "hold", "considered", "decrease", "fast",
	"quick-adapt", "ignore", "reduce"}

// String is a word, such as fair or quick-adapt.
func (a Action) String() string { return enum.Name(actionNames[:], a) }
