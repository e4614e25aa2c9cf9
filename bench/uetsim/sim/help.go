// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/uetcc/uetcc/bench/internal/cli"
)

// help writes the text of -h, if err is from -h: behind -scenario only the flags with an effect
// there, otherwise all.
func (o *options) help(f *flag.FlagSet, err error, all io.Reader, w io.Writer) error {
	if !errors.Is(err, flag.ErrHelp) {
		return err
	}
	f.Visit(func(g *flag.Flag) { o.given[g.Name] = true })
	if !o.given["scenario"] {
		_, wrong := io.Copy(w, all)
		return errors.Join(err, wrong)
	}
	chosen, wrong := findScenario(o.scenario)
	if wrong != nil {
		return wrong
	}
	o.chosen = chosen
	own := flag.NewFlagSet(o.scenario, flag.ContinueOnError)
	f.VisitAll(func(g *flag.Flag) {
		if o.applies(g.Name) == nil && !slices.Contains([]string{"scenario", "matrix", "list", "version"}, g.Name) {
			own.Var(g.Value, g.Name, g.Usage)
			own.Lookup(g.Name).DefValue = g.DefValue
		}
	})
	return cli.Parse(own, []string{"-h"}, fmt.Sprintf("uetsim -scenario %s [flags]: %s", o.scenario, chosen.about), w)
}
