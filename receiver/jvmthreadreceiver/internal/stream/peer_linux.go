// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"net"
	"syscall"
)

// userName returns the user of the process that connected.
func userName(conn net.Conn) string {
	var cred *syscall.Ucred
	if raw, err := socketOf(conn); err == nil {
		_ = raw.Control(func(fd uintptr) { // fails only if the connection is closed; then its peer does not matter
			if got, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
				cred = got
			}
		})
	}
	if cred == nil {
		return "unknown user"
	}
	return fmt.Sprintf("user %d", cred.Uid)
}

func socketOf(conn net.Conn) (syscall.RawConn, error) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return nil, syscall.ENOTSOCK
	}
	return socket.SyscallConn()
}
