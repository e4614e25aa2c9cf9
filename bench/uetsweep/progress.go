// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progressTo shows the progress of the sweep and the time left on a terminal only, from two
// seconds on. The returned function ends the display.
func (c *campaign) progressTo(stderr io.Writer) (end func()) {
	f, ok := stderr.(*os.File)
	if !ok {
		return func() {}
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(2 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				fmt.Fprintf(f, "\r%s\x1b[K\r", c.progress(time.Since(c.began)))
			}
		}
	}()
	return func() {
		close(over)
		<-ended
		fmt.Fprint(f, "\r\x1b[K")
	}
}

// progress is a line about the first part of the sweep, done in the time took.
func (c *campaign) progress(took time.Duration) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := fmt.Sprintf("%d of %d jobs done", c.all-len(c.todo)+c.fresh, c.all)
	if c.fresh > 0 {
		left := took / time.Duration(c.fresh) * time.Duration(max(0, len(c.todo)-c.fresh))
		line += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	if len(c.failed) > 0 {
		line += fmt.Sprintf(", %d failed", len(c.failed))
	}
	return line
}
