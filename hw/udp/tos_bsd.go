// SPDX-License-Identifier: Apache-2.0

//go:build darwin || freebsd

package udp

import (
	"encoding/binary"
	"errors"
	"net"

	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/hw/port"
)

// prepare asks for the TOS byte of incoming packets.
func prepare(c *net.UDPConn, four bool) {
	if four {
		setOption(c, unix.IPPROTO_IP, unix.IP_RECVTOS, 1)
	} else {
		setOption(c, unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS, 1)
	}
}

// setTOS sets the TOS byte of packets sent.
func setTOS(c *net.UDPConn, four bool, tos int) {
	if four {
		setOption(c, unix.IPPROTO_IP, unix.IP_TOS, tos)
	} else {
		setOption(c, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, tos)
	}
}

func setOption(c *net.UDPConn, level, name, value int) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), level, name, value) })
	}
}

// tosOf finds the TOS byte in the control messages of a packet.
func tosOf(b []byte) (tos uint8, told bool) {
	messages, _ := unix.ParseSocketControlMessage(b)
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && (m.Header.Type == unix.IP_TOS || m.Header.Type == unix.IP_RECVTOS) && len(m.Data) > 0:
			return m.Data[0], true
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_TCLASS && len(m.Data) >= 4:
			return uint8(binary.NativeEndian.Uint32(m.Data)), true
		}
	}
	return 0, false
}

// faultError is the port's name for an error of the system.
func faultError(err error) error {
	for _, x := range []struct{ from, to error }{
		{unix.ECONNREFUSED, port.ErrRefused}, {unix.EHOSTUNREACH, port.ErrUnreachable}, {unix.ENETUNREACH, port.ErrUnreachable},
		{unix.EMSGSIZE, port.ErrTooLong}, {unix.EPERM, port.ErrForbidden}, {unix.EACCES, port.ErrForbidden},
	} {
		if errors.Is(err, x.from) {
			return x.to
		}
	}
	return err
}
