// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func attach(ctx context.Context, r Request) (Result, error) {
	p, err := findProcess(r.PID)
	if err != nil {
		return Result{}, err
	}
	library, err := p.provide(r.Library)
	if err != nil {
		return Result{}, err
	}
	report := fmt.Sprintf("/tmp/.weft-report-%d-%d", p.nspid, time.Now().UnixNano())
	if err := p.create(p.root+report, nil, 0o600); err != nil {
		return Result{}, fmt.Errorf("create the file for the agent's report: %w", err)
	}
	defer func() { _ = os.Remove(p.root + report) }() // best effort
	options := strings.Join(append([]string{"reply=" + report}, r.Options...), ",")
	for _, argument := range []string{library, options} {
		if len(argument) >= maxArgument {
			return Result{}, fmt.Errorf("argument %.40q... has %d bytes, more than HotSpot's limit of %d; give fewer options at a time", argument, len(argument), maxArgument-1)
		}
	}
	if err := p.listen(ctx); err != nil {
		return Result{}, err
	}
	reply, err := p.command(ctx, "load", library, "true", options)
	if err != nil {
		return Result{}, err
	}
	answer, err := readReport(p.root + report)
	if err != nil {
		return Result{}, fmt.Errorf("read the agent's report: %w", err)
	}
	if len(answer) > 0 {
		return parseReport(string(answer)) // more precise than the code
	}
	if err := checkReply(reply); err != nil {
		return Result{}, fmt.Errorf("process %d: %w", r.PID, err)
	}
	return Result{}, fmt.Errorf("process %d: the agent sent no report; check that the JVM's user can write to /tmp", r.PID)
}

// provide returns the path of the library for the JVM, after copying it into the JVM's root if necessary. The copy stays, because the JVM
// maps it until it exits.
func (p *process) provide(library string) (string, error) {
	path, err := filepath.Abs(library)
	if err != nil {
		return "", fmt.Errorf("agent library: %w", err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", fmt.Errorf("agent library: %w; specify its path", err)
	}
	mine, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("agent library: %w", err)
	}
	if theirs, err := os.Stat(p.root + path); err == nil && os.SameFile(mine, theirs) {
		return path, nil
	}
	to := fmt.Sprintf("/tmp/libweft-%d-%d.so", mine.ModTime().Unix(), mine.Size())
	if theirs, err := os.Lstat(p.root + to); err == nil && theirs.Mode().IsRegular() && theirs.Size() == mine.Size() && owner(theirs) == p.uid {
		return to, nil // from an earlier attach
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("agent library: %w", err)
	}
	if err := p.create(p.root+to, content, 0o500); err != nil {
		return "", fmt.Errorf("the JVM does not see %s, and copying it failed: %w", path, err)
	}
	return to, nil
}

// maxReport exceeds the size of any report, in bytes.
const maxReport = 64 << 10

// readReport reads a file in a world-writable folder: another user may have replaced it.
func readReport(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read only
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: it was replaced", path)
	}
	return io.ReadAll(io.LimitReader(f, maxReport))
}

// create creates a file owned by the JVM's user. The file must not exist, because /tmp is world-writable.
func (p *process) create(path string, content []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if os.Geteuid() == 0 {
		err = errors.Join(err, f.Chown(p.uid, p.gid))
	}
	return errors.Join(err, f.Chmod(mode), f.Close())
}

// listen makes the JVM listen on its socket, unless it already does.
func (p *process) listen(ctx context.Context) error {
	if p.listens() {
		return nil
	}
	if err := p.canSignal(); err != nil {
		return err
	}
	trigger := fmt.Sprintf("%s/tmp/.attach_pid%d", p.root, p.nspid)
	_ = os.Remove(trigger) // left by an aborted attempt
	if err := p.create(trigger, nil, 0o600); err != nil {
		return fmt.Errorf("process %d: %w", p.pid, err)
	}
	defer func() { _ = os.Remove(trigger) }() // best effort
	const again = 100                         // the JVM may miss a signal
	for i := 0; ; i++ {
		if i%again == 0 {
			if err := syscall.Kill(p.pid, syscall.SIGQUIT); err != nil {
				return fmt.Errorf("process %d: %w: %w", p.pid, ErrPermission, err)
			}
		}
		if err := pause(ctx); err != nil {
			return err
		}
		if p.listens() {
			return nil
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.pid)); err != nil {
			return fmt.Errorf("process %d: %w: it has ended", p.pid, ErrNoProcess)
		}
	}
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

func (p *process) socket() string { return fmt.Sprintf("%s/tmp/.java_pid%d", p.root, p.nspid) }

// listens reports whether the JVM's socket exists and belongs to the JVM's user.
func (p *process) listens() bool {
	info, err := os.Lstat(p.socket())
	return err == nil && info.Mode()&fs.ModeSocket != 0 && owner(info) == p.uid
}

// connect dials until the JVM's queue has room.
func (p *process) connect(ctx context.Context) (net.Conn, error) {
	for {
		f, err := p.dial()
		if !errors.Is(err, syscall.EAGAIN) {
			return f, err
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// command sends a command of protocol version 1 and returns the answer.
func (p *process) command(ctx context.Context, words ...string) (string, error) {
	f, err := p.connect(ctx)
	if err != nil {
		return "", fmt.Errorf("process %d: connect to %s: %w", p.pid, p.socket(), err)
	}
	defer func() { _ = f.Close() }() // all is read
	stop := context.AfterFunc(ctx, func() { _ = f.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(f, "1\x00"+strings.Join(words, "\x00")+"\x00"); err != nil {
		return "", errors.Join(ctx.Err(), fmt.Errorf("process %d: %w", p.pid, err))
	}
	const enough = 1 << 20
	reply, err := io.ReadAll(io.LimitReader(f, enough))
	if err != nil {
		return "", errors.Join(ctx.Err(), fmt.Errorf("process %d: %w", p.pid, err))
	}
	return string(reply), nil
}

func owner(info fs.FileInfo) int {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return int(stat.Uid)
}
