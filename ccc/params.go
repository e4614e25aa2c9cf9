// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/rccc/tfc"
)

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("ccc: invalid configuration")

// Config configures the contexts of a FEP.
type Config struct {
	// NSCC configures the window, and describes the fabric for everything else. NSCC's RCCC
	// field is set from Control, ticks are nanoseconds.
	NSCC nscc.Config

	// RCCC configures the credit. A zero MaxCredit is the window's ceiling, up to 2^29, but no more than three
	// packets on a path that holds fewer. A zero MTU and RTT are the window's, an RTT of at least 100 ns. Where
	// NSCC.Unmeasured says that this is a guess, and MaxCredit is zero, the credit follows the round trip measured, see [rccc.Source.Reach].
	RCCC rccc.Config

	// TFC is transport flow control beside NSCC, or alone with ControlNone: cells of the
	// destination's buffer, of which [tfc.Config] tells (CellSize 0: none). Zero fields MTU and RTT are
	// the window's. All packets of a PDC take one path. It has the place of a context's [Algorithm],
	// and the field of RCCC, which it cannot run beside.
	TFC tfc.Config

	Entropy EntropyConfig
	Control Control
	Mode    Mode // of a new context
}

// Params is a validated [Config] with derived constants: immutable, shared by all contexts,
// safe for concurrent use.
type Params struct {
	nscc    nscc.Params
	rccc    rccc.Params
	cells   tfc.Params
	entropy EntropyParams
	mtu     int64
	window  bool // NSCC takes part
	credit  bool // RCCC takes part
	flow    bool // TFC takes part
	runs    bool // contexts take several events in one step, see Manager.Exchange
	reaches bool // the round trip is a guess, and with it W: see rccc.Source.Reach
	mode    Mode

	probeLacks int64 // ns by which a full packet takes longer than a probe on the sender's link
}

// NewParams validates c and derives the constants. Errors wrap [ErrConfig] and the error of the
// package whose part is wrong.
func NewParams(c Config) (Params, error) {
	err := cmp.Or(
		check.Range(ErrConfig, "Control", c.Control, 0, controls-1),
		check.Range(ErrConfig, "Mode", c.Mode, 0, modes-1),
	)
	if err != nil {
		return Params{}, err
	}
	if c.NSCC.Picoseconds {
		return Params{}, fmt.Errorf("%w: NSCC.Picoseconds is true, want false", ErrConfig)
	}
	p := Params{window: c.Control.nscc(), credit: c.Control.rccc(), mode: c.Mode, mtu: c.NSCC.MTU}
	c.NSCC.RCCC = p.credit
	if p.nscc, err = nscc.NewParams(c.NSCC); err == nil && !p.window { // nothing steers the window: as wide as the path
		c.NSCC.InitialCwnd = p.nscc.MaxWnd()
		p.nscc, err = nscc.NewParams(c.NSCC)
	}
	if err != nil {
		return Params{}, fmt.Errorf("%w: NSCC: %w", ErrConfig, err)
	}
	p.probeLacks = max(p.mtu-probeSize, 0) * 1e9 / c.NSCC.LinkRate
	if p.entropy, err = NewEntropyParams(c.Entropy); err != nil {
		return Params{}, err
	}
	if p.flow = c.TFC.CellSize != 0; p.flow {
		if p.credit {
			return Params{}, fmt.Errorf("%w: TFC with Control %v: both have one field for their credit", ErrConfig, c.Control)
		}
		c.TFC.MTU = cmp.Or(c.TFC.MTU, p.mtu)
		c.TFC.RTT = cmp.Or(c.TFC.RTT, p.nscc.BaseRTT())
		if p.cells, err = tfc.NewParams(c.TFC); err != nil {
			return Params{}, fmt.Errorf("%w: TFC: %w", ErrConfig, err)
		}
		return p, nil
	}
	p.runs = (!p.window || takesRuns(p.nscc.Profile())) && p.entropy.scheme != SchemeREPSLegacy
	if !p.credit {
		return p, nil
	}
	p.reaches = c.NSCC.Unmeasured && c.RCCC.MaxCredit == 0
	path := p.nscc.MaxWnd()
	if c.NSCC.Tuning.MaxWnd == 0 { // credit needs no room for acknowledgements that are late; 1: BDP is rounded down
		path = min(path, max(p.nscc.Constants().BDP*3/2+1, leastCredit*p.mtu))
	}
	c.RCCC.MaxCredit = cmp.Or(c.RCCC.MaxCredit, min(path, 1<<29))
	c.RCCC.MTU = cmp.Or(c.RCCC.MTU, p.mtu)
	c.RCCC.RTT = cmp.Or(c.RCCC.RTT, max(p.nscc.BaseRTT(), 100)) // no less is taken
	if p.rccc, err = rccc.NewParams(c.RCCC); err != nil {
		return Params{}, fmt.Errorf("%w: RCCC: %w", ErrConfig, err)
	}
	return p, nil
}

// leastCredit is the packets that an initial credit is for at least.
const leastCredit = 3

// takesRuns reports whether a window of the profile asks for room for a whole MTU for any
// packet.
func takesRuns(f nscc.Profile) bool { return f == nscc.ProfileSpec || f == nscc.ProfileAdaptive }

// NSCC returns the window's parameters.
func (p *Params) NSCC() *nscc.Params { return &p.nscc }

// RCCC returns the credit's parameters, with a MaxCredit of 0 where the contexts do not run RCCC.
func (p *Params) RCCC() *rccc.Params { return &p.rccc }

// TFC returns the parameters of transport flow control, nil where it takes no part.
func (p *Params) TFC() *tfc.Params {
	if !p.flow {
		return nil
	}
	return &p.cells
}

// Entropy returns the parameters of the path choice.
func (p *Params) Entropy() *EntropyParams { return &p.entropy }
