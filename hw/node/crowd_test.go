// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// A crowd is a port behind which one endpoint stands for as many peers as there are addresses.
type crowd struct {
	port.Port // of nothing: what is not here is not called
	mu        sync.Mutex
	ep        *uetcc.Endpoint
	began     time.Time
	queue     []port.Packet
	bell      chan struct{}
	closed    bool
}

const crowdAddress = "10.0.0.1:4793"

func newCrowd(t *testing.T, pdcs int) *crowd {
	e, err := uetcc.NewEndpoint(uetcc.Config{
		Address: netip.MustParseAddr("10.1.0.0"), MTU: 1024, PDCs: pdc.TableConfig{General: pdcs}, Contexts: 2,
		Memory: pdc.MemoryConfig{Chunks: 1 << 12, Responses: 1 << 12},
	})
	require.NoError(t, err)
	process, err := e.Target().AddProcess(ses.Process{Job: 1})
	require.NoError(t, err)
	_, err = e.Target().OpenIndex(0, process, 0, ses.Index{})
	require.NoError(t, err)
	_, err = e.Target().Register(process, 0, ses.Region{Length: 1 << 20, Job: 1, Rights: ses.RightWrite})
	require.NoError(t, err)
	return &crowd{ep: e, began: time.Now(), bell: make(chan struct{}, 1)}
}

func (c *crowd) Local() netip.AddrPort   { return netip.MustParseAddrPort(crowdAddress) }
func (c *crowd) LinkMTU() int            { return 1500 }
func (c *crowd) Stats() port.Stats       { return port.Stats{} }
func (c *crowd) Faults([]port.Fault) int { return 0 }
func (c *crowd) Close() error            { c.closed = true; c.Wake(); return nil }
func (c *crowd) answer(d *uetcc.Datagram) {
	if len(d.Packet) > 0 {
		c.queue = append(c.queue, port.Packet{Peer: netip.AddrPortFrom(d.Src.Netip(), 4793), Data: append([]byte(nil), d.Packet...)})
	}
}

func (c *crowd) Wake() {
	select {
	case c.bell <- struct{}{}:
	default:
	}
}

func (c *crowd) Send(packets []port.Packet) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, self := int64(time.Since(c.began)), pdc.AddrFrom(c.Local().Addr())
	reply := uetcc.Datagram{Packet: make([]byte, 0, c.ep.ReplyMax())}
	var r uetcc.Received
	for _, p := range packets {
		in := uetcc.Datagram{Packet: append(append([]byte(nil), p.Data...), p.Tail...), Src: self, Dst: pdc.AddrFrom(p.Peer.Addr())}
		c.ep.Receive(now, &in, &reply, &r)
		reply.Src = in.Dst
		c.answer(&reply)
	}
	c.ep.Tick(now)
	for c.ep.Transmit(now, &reply) {
		c.answer(&reply)
	}
	if len(c.queue) > 0 {
		c.Wake()
	}
	return len(packets), nil
}

func (c *crowd) Receive(packets []port.Packet) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	n := copy(packets, c.queue)
	c.queue = c.queue[n:]
	return n, nil
}

func (c *crowd) More() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue) > 0
}

func (c *crowd) Wait(timeout int64, _ bool) error {
	c.mu.Lock()
	some := len(c.queue) > 0
	c.mu.Unlock()
	if some {
		return nil
	}
	var over <-chan time.Time
	if timeout >= 0 {
		over = time.After(time.Duration(timeout))
	}
	select {
	case <-c.bell:
	case <-over:
	}
	return nil
}

// A hundred thousand peers that were written to, and are idle since, cost no wake-up.
func TestIdleCrowd(t *testing.T) {
	peers := 100_000
	if testing.Short() {
		peers = 20_000
	}
	c := newCrowd(t, 65_000)
	a := listen(t, "10.0.0.1", node.Options{Port: c, Paths: 1, Peers: 30_000, Operations: 256, Endpoint: func(e *uetcc.Config) {
		e.Memory = pdc.MemoryConfig{Chunks: 1 << 12, Responses: 1 << 12}
	}})
	ctx := t.Context() // most of the time PDCIDs rest: no deadline
	var all sync.WaitGroup
	began := time.Now()
	for worker := range 64 {
		all.Go(func() {
			for i := worker; i < peers; i += 64 {
				var b [4]byte
				binary.BigEndian.PutUint32(b[:], 10<<24|2<<16+uint32(i))
				if err := a.Write(ctx, netip.AddrPortFrom(netip.AddrFrom4(b), 4793), node.At{}, b[:]); err != nil {
					t.Error(i, err)
					return
				}
			}
		})
	}
	all.Wait()
	t.Logf("%v, %d wake-ups, %+v", time.Since(began), a.Stats().Wakeups, a.Stats().Endpoints[0].Usage)
	for before := uint64(0); ; { // what the last ones have left to do is soon done
		after := a.Stats().Wakeups
		if after == before {
			break
		}
		before = after
		time.Sleep(300 * time.Millisecond)
	}
}
