// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// inTmp makes something in the JVM's /tmp with the rights of the JVM's user. The directory stays open, so that it can be removed.
func inTmp(ctx context.Context, pid int, create func(dir *directory) error) (*directory, error) {
	p, err := findProcess(pid)
	if err != nil {
		return nil, err
	}
	var dir *directory
	_, err = p.asUser(ctx, func() (Result, error) {
		defer p.close()
		opened, err := p.openTmp()
		if err != nil {
			return Result{}, err
		}
		opened.removeLeftovers()
		if err := create(opened); err != nil {
			opened.close()
			return Result{}, err
		}
		dir = opened
		return Result{}, nil
	})
	return dir, err
}

func listen(ctx context.Context, pid int) (*Meeting, error) {
	m := &Meeting{}
	name := ourName(socketSuffix)
	dir, err := inTmp(ctx, pid, func(dir *directory) (err error) {
		m.Listener, err = dir.listen(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	m.Endpoint = "unix:///tmp/" + name
	m.remove = func() {
		_ = dir.remove(name) // the user may have done so
		dir.close()
	}
	return m, nil
}

// listen opens a socket to which only the user of this thread can connect, and to whose peers that user listens.
func (d *directory) listen(name string) (net.Listener, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }() // FileListener duplicates it
	const backlog = 16
	if err := unix.Fchmod(fd, 0o600); err != nil { // bind creates the file with this mode
		return nil, fmt.Errorf("socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/%s", d.fd, name)}); err != nil {
		return nil, fmt.Errorf("create socket /tmp/%s: %w", name, err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return nil, fmt.Errorf("socket /tmp/%s: %w", name, err)
	}
	return net.FileListener(f)
}

func createRecording(ctx context.Context, pid int) (*Recording, error) {
	r := &Recording{}
	var name string
	dir, err := inTmp(ctx, pid, func(dir *directory) (err error) {
		r.File, name, err = dir.createOurs(recordingSuffix)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.Path = "/tmp/" + name
	r.remove = func() {
		_ = dir.remove(name) // the user may have done so
		dir.close()
	}
	return r, nil
}
