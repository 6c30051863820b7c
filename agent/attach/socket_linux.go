// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func (p *process) socket() string { return fmt.Sprintf(".java_pid%d", p.nspid) }

// listen makes the JVM listen on its socket, unless it already does.
func (p *process) listen(ctx context.Context, dir *directory) error {
	if listens, err := p.canListen(dir); listens || err != nil {
		return err
	}
	trigger := fmt.Sprintf(".attach_pid%d", p.nspid)
	_ = dir.remove(trigger) // left by an aborted attempt
	f, err := dir.create(trigger, 0o600)
	if err != nil {
		return fmt.Errorf("process %d: %w", p.pid, err)
	}
	_ = f.Close()                              // it is empty
	defer func() { _ = dir.remove(trigger) }() // best effort
	const again = 100                          // the JVM may miss a signal
	for i := 0; ; i++ {
		if i%again == 0 {
			if err := p.signal(unix.SIGQUIT); err != nil {
				return fmt.Errorf("process %d: %w", p.pid, err)
			}
		}
		if err := pause(ctx); err != nil {
			return err
		}
		if p.listens(dir) {
			return nil
		}
		if err := p.signal(0); err != nil {
			return fmt.Errorf("process %d: %w", p.pid, err)
		}
	}
}

// canListen reports whether the JVM already listens, or returns why it must not get a signal to do so. With -XX:+DisableAttachMechanism a JVM
// never listens, but prints a thread dump to standard output for each SIGQUIT. If it has a socket, a killed JVM with the same process ID left
// it: HotSpot removes an old socket at startup only without that flag.
func (p *process) canListen(dir *directory) (bool, error) {
	if p.has("-XX:+DisableAttachMechanism") {
		return false, fmt.Errorf("process %d: it runs with -XX:+DisableAttachMechanism; remove that flag, or use -agentpath; "+
			"or read the thread dumps that it prints to its standard output after kill -3 %[1]d", p.pid)
	}
	if p.listens(dir) {
		return true, nil
	}
	return false, p.canSignal()
}

// pause waits a moment for what the JVM does without notice.
func pause(ctx context.Context) error {
	select {
	case <-time.After(10 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listens reports whether the JVM's socket exists and belongs to the JVM's user.
func (p *process) listens(dir *directory) bool {
	stat, err := dir.stat(p.socket())
	return err == nil && stat.Mode&unix.S_IFMT == unix.S_IFSOCK && int(stat.Uid) == p.uid
}

// connect dials until the JVM's queue has room.
func (p *process) connect(ctx context.Context, dir *directory) (net.Conn, error) {
	for {
		conn, err := p.dial(dir)
		if errors.Is(err, unix.EAGAIN) {
			if err = pause(ctx); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, fmt.Errorf("process %d: connect to /tmp/%s: %w", p.pid, p.socket(), err)
		}
		return conn, nil
	}
}

// dial connects to the JVM's socket, which old versions only accept from the JVM's user. It never blocks: if the queue of the socket is
// full, the error is EAGAIN.
func (p *process) dial(dir *directory) (net.Conn, error) {
	file, err := unix.Openat(dir.fd, p.socket(), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(file) }() // nothing is written through it
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), p.socket())
	defer func() { _ = f.Close() }() // FileConn duplicates it
	// This path leads to the opened file itself, however long the path in /tmp is, and whatever has its name by now.
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d", file)}); err != nil {
		return nil, err
	}
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return nil, err
	}
	if int(peer.Pid) != p.pid {
		return nil, fmt.Errorf("process %d listens there, not the JVM; remove the file", peer.Pid)
	}
	return net.FileConn(f)
}

// command sends a command and returns the answer.
func (p *process) command(ctx context.Context, dir *directory, words ...string) (reply string, err error) {
	conn, err := p.connect(ctx, dir)
	if err != nil {
		return "", err
	}
	err = ask(ctx, conn, func(r io.Reader) error {
		const enough = 1 << 20
		all, err := io.ReadAll(io.LimitReader(r, enough))
		reply = string(all)
		return err
	}, words...)
	if err != nil {
		return "", fmt.Errorf("process %d: %w", p.pid, err)
	}
	return reply, nil
}

// ask sends a command of protocol version 1, which has three arguments, reads the answer and closes the connection.
func ask(ctx context.Context, conn net.Conn, read func(reply io.Reader) error, words ...string) error {
	defer func() { _ = conn.Close() }() // all is read
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	_, err := io.WriteString(conn, "1\x00"+strings.Join(words, "\x00")+"\x00")
	if err == nil {
		err = read(conn)
	}
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	return nil
}
