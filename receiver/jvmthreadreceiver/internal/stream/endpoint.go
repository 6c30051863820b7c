// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

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

// maxSocketPath is the length that sockaddr_un allows, without the terminating zero.
const maxSocketPath = 107

const endpointForms = "use unix:///path, tcp://host:port or host:port"

// resolve parses the endpoint, or returns the default socket if there is none. The socket mode must be valid.
func (c *Config) resolve() (confignet.AddrConfig, error) {
	if c.Endpoint != "" {
		return parseEndpoint(c.Endpoint)
	}
	mode, _ := parseSocketMode(c.SocketMode)
	return parseEndpoint(defaultPlaces().endpoint(mode))
}

// parseEndpoint parses an endpoint. Errors state the remedy.
func parseEndpoint(endpoint string) (confignet.AddrConfig, error) {
	scheme, rest, ok := strings.Cut(endpoint, "://")
	if !ok {
		scheme, rest = "tcp", endpoint
	}
	address := confignet.NewDefaultAddrConfig()
	address.Endpoint = rest
	switch scheme {
	case "unix":
		address.Transport = confignet.TransportTypeUnix
		return address, checkSocketPath(rest)
	case "tcp":
		address.Transport = confignet.TransportTypeTCP
		return address, checkHostPort(endpoint, rest)
	}
	return address, fmt.Errorf("%q has unknown scheme %q; %s", endpoint, scheme, endpointForms)
}

func isUnix(address confignet.AddrConfig) bool {
	return address.Transport == confignet.TransportTypeUnix
}

func checkSocketPath(path string) error {
	switch {
	case !filepath.IsAbs(path):
		return fmt.Errorf("socket path %q is not absolute; use three slashes, as in unix:///tmp/weft.sock", path)
	case len(path) > maxSocketPath:
		return fmt.Errorf("socket path has %d bytes, the limit is %d; use a shorter one, such as unix:///tmp/weft.sock", len(path), maxSocketPath)
	}
	return nil
}

func checkHostPort(endpoint, hostPort string) error {
	_, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return fmt.Errorf("%q is not a host and port; %s", endpoint, endpointForms)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q lacks a port from 0 to 65535; %s", endpoint, endpointForms)
	}
	return nil
}

// parseSocketMode parses the mode of a socket. Connecting requires write permission, which the owner always has.
func parseSocketMode(mode string) (fs.FileMode, error) {
	const owner, all = 0o600, 0o666
	bits, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || bits&^all != 0 || bits&owner != owner {
		return 0, fmt.Errorf(`%q is not a valid socket mode; use "0600" (the collector's user), "0660" (also the socket's group) or "0666" (all users)`, mode)
	}
	return fs.FileMode(bits), nil
}

// listen opens the listener. The mode applies to a Unix socket; a stale socket is replaced, one in use is not.
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
		return nil, fmt.Errorf("the folder of socket %s does not exist; create it or use another path: %w", address.Endpoint, err)
	case isUnix(address) && errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("no permission to create socket %s; use a folder that the collector's user can write to: %w", address.Endpoint, err)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use; stop the process using it or use another port: %w", address.Endpoint, err)
	case err != nil:
		return nil, err
	}
	if !isUnix(address) {
		return listener, nil
	}
	if err := setSocketMode(address.Endpoint, mode); err != nil {
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
		return fmt.Errorf("%s exists and is not a socket; remove it or use another path", path)
	}
	if uid := owner(info); uid != os.Geteuid() {
		return fmt.Errorf("socket %s belongs to user %d, not to the collector's user %d; stop the process using it and remove it, or use another path",
			path, uid, os.Geteuid())
	}
	conn, err := address.Dial(ctx)
	if err == nil {
		return errors.Join(fmt.Errorf("socket %s is in use; stop the process using it or use another path", path), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("cannot check whether socket %s is in use; remove it or use another path: %w", path, err)
	}
	return os.Remove(path)
}
