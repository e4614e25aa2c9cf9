// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"sync"
	"time"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/bench/uetpcap"
)

// A capture is the file of -pcap.
type capture struct {
	file    *cli.File
	buffer  *bufio.Writer
	mu      sync.Mutex // guards packets, since each flow and shard has a goroutine
	packets *uetpcap.Writer
}

func newCapture(path string) (*capture, error) {
	f, err := cli.Create(path)
	if err != nil {
		return nil, err
	}
	c := &capture{file: f, buffer: bufio.NewWriter(f)}
	if c.packets, err = uetpcap.NewWriter(c.buffer); err != nil {
		return nil, f.Settle(err)
	}
	return c, nil
}

// now writes a packet with the time of day: the nodes of several flows began at several times.
func (c *capture) now(_ int64, sent bool, d uetcc.Datagram) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.packets.Tap(time.Now().UnixNano(), sent, d)
}

// end gives the file its name, unless the run or the file has failed.
func (c *capture) end(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.file.Settle(cmp.Or(err, c.packets.Err(), c.buffer.Flush()))
}
