// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"go.opentelemetry.io/collector/config/confignet"
)

// maxSocketPath is what sockaddr_un has room for, without the terminating zero.
const maxSocketPath = 107

const endpointForms = "give unix:///path, tcp://host:port or host:port"

// parseEndpoint takes an endpoint apart. Errors say what to do.
func parseEndpoint(endpoint string) (confignet.AddrConfig, error) {
	scheme, rest, ok := strings.Cut(endpoint, "://")
	if !ok {
		scheme, rest = "tcp", endpoint
	}
	address := confignet.NewDefaultAddrConfig()
	address.Endpoint = rest
	switch {
	case endpoint == "":
		return address, errors.New("is empty; " + endpointForms)
	case scheme == "unix":
		address.Transport = confignet.TransportTypeUnix
		return address, checkSocketPath(rest)
	case scheme == "tcp":
		address.Transport = confignet.TransportTypeTCP
		return address, checkHostPort(endpoint, rest)
	}
	return address, fmt.Errorf("%q has the unknown scheme %q; %s", endpoint, scheme, endpointForms)
}

func isUnix(address confignet.AddrConfig) bool {
	return address.Transport == confignet.TransportTypeUnix
}

func checkSocketPath(path string) error {
	switch {
	case !filepath.IsAbs(path):
		return fmt.Errorf("the path %q of the socket is not absolute; write three slashes, as in unix:///tmp/weft.sock", path)
	case len(path) > maxSocketPath:
		return fmt.Errorf("the path of the socket has %d bytes, the system takes %d; give a shorter one, such as unix:///tmp/weft.sock", len(path), maxSocketPath)
	}
	return nil
}

func checkHostPort(endpoint, hostPort string) error {
	_, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return fmt.Errorf("%q is no host and port; %s", endpoint, endpointForms)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q has no port from 0 to 65535; %s", endpoint, endpointForms)
	}
	return nil
}

// parseSocketMode reads the mode of a socket: to connect takes the right to write, and the owner has it always.
func parseSocketMode(mode string) (fs.FileMode, error) {
	const owner, all = 0o600, 0o666
	bits, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || bits&^all != 0 || bits&owner != owner {
		return 0, fmt.Errorf(`%q is no mode of a socket; give "0600" (the collector's user), "0660" (the socket's group, too) or "0666" (all users)`, mode)
	}
	return fs.FileMode(bits), nil
}

// listen opens the listener; the mode is that of a socket. A socket that a dead listener left behind is taken away, one in use is not.
func listen(ctx context.Context, address confignet.AddrConfig, mode fs.FileMode) (net.Listener, error) {
	listener, err := address.Listen(ctx)
	if isUnix(address) && errors.Is(err, syscall.EADDRINUSE) {
		if err := removeStale(ctx, address); err != nil {
			return nil, err
		}
		listener, err = address.Listen(ctx)
	}
	switch {
	case isUnix(address) && errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the folder of the socket %s is not there; make it, or give another path: %w", address.Endpoint, err)
	case isUnix(address) && errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("the socket %s may not be made by this user; give a path in a folder of its own: %w", address.Endpoint, err)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use; stop who listens there, or give another port: %w", address.Endpoint, err)
	case err != nil:
		return nil, err
	}
	if !isUnix(address) {
		return listener, nil
	}
	if err := os.Chmod(address.Endpoint, mode); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

func removeStale(ctx context.Context, address confignet.AddrConfig) error {
	path := address.Endpoint
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there and is no socket; remove it, or give another path", path)
	}
	conn, err := address.Dial(ctx)
	if err == nil {
		return errors.Join(fmt.Errorf("the socket %s is in use; stop who listens there, or give another path", path), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("the socket %s is there and cannot be looked at; remove it, or give another path: %w", path, err)
	}
	return os.Remove(path)
}
