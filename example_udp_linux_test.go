// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"log"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// A udpHost is the host of the package's example on a UDP socket.
type udpHost struct {
	*host
	conn        *net.UDPConn
	began       time.Time
	packet, oob [9000]byte
}

// listen opens the socket of a host, at a port of the kernel's choice if it is 0. Packets go
// as ECN-capable, and of those that come the kernel tells the TOS byte.
func listen(address string, port int, memory []byte) *udpHost {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(address), Port: port})
	if err != nil {
		log.Fatal(err)
	}
	u := &udpHost{host: newHost(address, memory), conn: conn, began: time.Now()}
	u.set(syscall.IP_TOS, int(pds.TOS(0, pds.ECNECT0)))
	u.set(syscall.IP_RECVTOS, 1)
	return u
}

// set sets an option of the socket at the level of IP.
func (u *udpHost) set(option, value int) {
	raw, err := u.conn.SyscallConn()
	if err != nil {
		log.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, option, value) })
}

func (u *udpHost) now() int64 { return int64(time.Since(u.began)) }

func (u *udpHost) addr() netip.AddrPort { return u.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// send gives a packet to the kernel. Lost ones are the endpoint's business, and so is one
// that the kernel refuses.
func (u *udpHost) send(d *uetcc.Datagram) {
	_, _ = u.conn.WriteToUDPAddrPort(d.Packet, netip.AddrPortFrom(d.Dst.Netip(), u.addr().Port()))
}

// step sends what may go, and takes in all that comes before the endpoint has something to do
// or a millisecond is over. Only when nothing more is there does it do what is due: an
// acknowledgement that waits in the socket is not overdue.
func (u *udpHost) step() {
	for _, d := range u.transmit(u.now()) {
		u.send(&d)
	}
	wait := time.Millisecond
	if at, ok := u.NextDeadline(); ok {
		wait = min(wait, time.Duration(at-u.now()))
	}
	const look = 50 * time.Microsecond // a read whose time is over does not look into the socket
	for range 64 {
		_ = u.conn.SetReadDeadline(time.Now().Add(max(wait, look)))
		if u.take() != nil {
			break
		}
		wait = 0
	}
	u.Tick(u.now())
}

// take takes a packet in, and answers it.
func (u *udpHost) take() error {
	n, oob, _, from, err := u.conn.ReadMsgUDPAddrPort(u.packet[:], u.oob[:])
	if err != nil {
		return err
	}
	reply := u.receive(u.now(), uetcc.Datagram{
		Packet: u.packet[:n], Src: pdc.AddrFrom(from.Addr()), Dst: pdc.AddrFrom(u.addr().Addr()), CE: isMarked(u.oob[:oob]),
	})
	if len(reply.Packet) > 0 {
		u.send(&reply)
	}
	return nil
}

// isMarked looks for the TOS byte in what the kernel says of a packet.
func isMarked(oob []byte) bool {
	messages, _ := syscall.ParseSocketControlMessage(oob)
	for _, m := range messages {
		if m.Header.Type == syscall.IP_TOS && len(m.Data) > 0 {
			_, ecn := pds.SplitTOS(m.Data[0])
			return ecn == pds.ECNCE
		}
	}
	return false
}

// transfer writes all of the memory of u into that of peer.
func (u *udpHost) transfer(peer *udpHost) uetcc.Event {
	_, err := u.Write(u.now(), &uetcc.Message{
		To:     uetcc.Destination{Address: peer.addr().Addr(), Job: 1, PID: 2, Index: 5, Generation: peer.open()},
		Length: uint32(len(u.memory)),
	})
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // an endpoint has one owner
		for {
			select {
			case <-done:
				return
			default:
				peer.step()
			}
		}
	}()
	for {
		u.step()
		if event, ok := u.Poll(); ok {
			done <- struct{}{}
			return event
		}
	}
}

// A megabyte through two sockets and the kernel.
func ExampleEndpoint_udp() {
	a := listen("127.0.0.1", 0, make([]byte, 1<<20))
	b := listen("127.0.0.2", int(a.addr().Port()), make([]byte, 1<<20))
	defer a.conn.Close()
	defer b.conn.Close()
	copy(a.memory[1<<20-7:], "the end")
	event := a.transfer(b)
	fmt.Println(event.Outcome.Status, event.Outcome.Length)
	fmt.Printf("%s\n", b.memory[1<<20-7:])
	// Output:
	// ok 1048576
	// the end
}
