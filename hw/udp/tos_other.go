// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin && !freebsd

package udp

import (
	"net"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// prepare does nothing: marks on incoming packets are not known here.
func prepare(*net.UDPConn, bool) {}

// setTOS sets the TOS byte of packets sent, where the system lets it.
func setTOS(c *net.UDPConn, four bool, tos int) {
	if four {
		_ = ipv4.NewConn(c).SetTOS(tos)
	} else {
		_ = ipv6.NewConn(c).SetTrafficClass(tos)
	}
}

func tosOf([]byte) (tos uint8, told bool) { return 0, false }

func faultError(err error) error { return err }
