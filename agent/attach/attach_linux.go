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
	report, err := p.newReport()
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = os.Remove(report.here) }() // nobody misses it
	options := strings.Join(append([]string{"reply=" + report.there}, r.Options...), ",")
	for _, argument := range []string{library, options} {
		if len(argument) >= maxArgument {
			return Result{}, fmt.Errorf("%.40q... has %d bytes; HotSpot takes up to %d, so give less options at a time", argument, len(argument), maxArgument-1)
		}
	}
	if err := p.listen(ctx); err != nil {
		return Result{}, err
	}
	reply, err := p.command(ctx, "load", library, "true", options)
	if err != nil {
		return Result{}, err
	}
	answer, err := readReport(report.here)
	if err != nil {
		return Result{}, fmt.Errorf("read the agent's report: %w", err)
	}
	if len(answer) > 0 {
		return parseReport(string(answer)) // it has more to tell than the code
	}
	if err := checkReply(reply); err != nil {
		return Result{}, fmt.Errorf("process %d: %w", r.PID, err)
	}
	return Result{}, fmt.Errorf("process %d: the agent gave no report; does the JVM's user have no access to /tmp?", r.PID)
}

// place is a file as it is called here and inside the JVM's own root.
type place struct{ here, there string }

func (p *process) place(path string) place { return place{here: p.root + path, there: path} }

// provide returns a path by which the JVM sees the library, which may have to be copied into its root first. The copy stays: the JVM
// has it mapped for the rest of its life.
func (p *process) provide(library string) (string, error) {
	path, err := filepath.Abs(library)
	if err != nil {
		return "", fmt.Errorf("agent library: %w", err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", fmt.Errorf("agent library: %w; give its path", err)
	}
	mine, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("agent library: %w", err)
	}
	if theirs, err := os.Stat(p.root + path); err == nil && os.SameFile(mine, theirs) {
		return path, nil
	}
	to := p.place(fmt.Sprintf("/tmp/libweft-%d-%d.so", mine.ModTime().Unix(), mine.Size()))
	if theirs, err := os.Lstat(to.here); err == nil && theirs.Mode().IsRegular() && theirs.Size() == mine.Size() && owner(theirs) == p.uid {
		return to.there, nil // of an attach before
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("agent library: %w", err)
	}
	if err := p.create(to.here, content, 0o500); err != nil {
		return "", fmt.Errorf("the JVM does not see %s, and it cannot be copied: %w", path, err)
	}
	return to.there, nil
}

func (p *process) newReport() (place, error) {
	to := p.place(fmt.Sprintf("/tmp/.weft-report-%d-%d", p.nspid, time.Now().UnixNano()))
	if err := p.create(to.here, nil, 0o600); err != nil {
		return place{}, fmt.Errorf("no file for the agent's report: %w", err)
	}
	return to, nil
}

// maxReport is more than any report has, in bytes.
const maxReport = 64 << 10

// readReport reads a file in a folder that is everybody's: it may have been put in place of ours.
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
		return nil, fmt.Errorf("%s is no file any more: somebody put something else in its place", path)
	}
	return io.ReadAll(io.LimitReader(f, maxReport))
}

// create makes a file of the JVM's user, which must not be there: /tmp is everybody's.
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

// listen makes the JVM listen on its socket, unless it does already.
func (p *process) listen(ctx context.Context) error {
	if p.listens() {
		return nil
	}
	if err := p.canSignal(); err != nil {
		return err
	}
	trigger := p.place(fmt.Sprintf("/tmp/.attach_pid%d", p.nspid)).here
	_ = os.Remove(trigger) // of an attempt that was killed
	if err := p.create(trigger, nil, 0o600); err != nil {
		return fmt.Errorf("process %d: %w", p.pid, err)
	}
	defer func() { _ = os.Remove(trigger) }()       // nobody misses it
	const often, again = 10 * time.Millisecond, 100 // the signal may come while the JVM cannot take it
	ticker := time.NewTicker(often)
	defer ticker.Stop()
	for i := 0; ; i++ {
		if i%again == 0 {
			if err := syscall.Kill(p.pid, syscall.SIGQUIT); err != nil {
				return fmt.Errorf("process %d: %w: %w", p.pid, ErrPermission, err)
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if p.listens() {
			return nil
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.pid)); err != nil {
			return fmt.Errorf("process %d: %w: it has ended", p.pid, ErrNoProcess)
		}
	}
}

func (p *process) socket() string { return p.place(fmt.Sprintf("/tmp/.java_pid%d", p.nspid)).here }

// listens reports whether the JVM's socket is there. One of another user is not the JVM's.
func (p *process) listens() bool {
	info, err := os.Lstat(p.socket())
	return err == nil && info.Mode()&fs.ModeSocket != 0 && owner(info) == p.uid
}

// connect dials until the JVM has a place for us.
func (p *process) connect(ctx context.Context) (net.Conn, error) {
	const often = 10 * time.Millisecond
	for {
		f, err := p.dial()
		if !errors.Is(err, syscall.EAGAIN) {
			return f, err
		}
		select {
		case <-time.After(often):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// command sends a command of version 1 of the protocol, and returns the answer.
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
