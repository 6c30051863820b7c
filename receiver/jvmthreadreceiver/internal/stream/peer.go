// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"net"
	"net/netip"
)

// peerName returns whose connection it is, so that one peer cannot take what all need: the user of a process that connects to a Unix
// socket, or the address of a host. An IPv6 peer is its /64, which is what one host gets.
func peerName(conn net.Conn) string {
	switch address := conn.RemoteAddr().(type) {
	case *net.TCPAddr:
		ip := address.AddrPort().Addr().Unmap().WithZone("")
		if ip.Is6() && !ip.IsLoopback() {
			const network = 64
			if prefix, err := ip.Prefix(network); err == nil {
				return prefix.String()
			}
		}
		return ip.String()
	case *net.UnixAddr:
		return userName(conn)
	}
	return netip.Addr{}.String()
}
