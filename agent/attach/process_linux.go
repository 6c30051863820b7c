// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// process is the kernel's view of the JVM.
type process struct {
	pid    int
	nspid  int    // in its innermost PID namespace
	root   string // path of its root on this machine
	uid    int    // effective
	gid    int
	caught uint64 // handled signals: bit n-1 is signal n
}

func findProcess(pid int) (*process, error) {
	dir := fmt.Sprintf("/proc/%d", pid)
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	p, err := parseStatus(pid, string(status))
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	if euid := os.Geteuid(); euid != 0 && euid != p.uid {
		return nil, fmt.Errorf("process %d: %w: it belongs to user %d; run this as that user or as root", pid, ErrPermission, p.uid)
	}
	maps, err := os.ReadFile(dir + "/maps")
	if err != nil {
		return nil, fmt.Errorf("process %d: %w: %w; run this as root", pid, ErrPermission, err)
	}
	if !bytes.Contains(maps, []byte("/libjvm.so")) {
		return nil, fmt.Errorf("process %d: %w: it does not use libjvm.so; give the ID of a HotSpot process", pid, ErrNotJVM)
	}
	if _, err := os.Stat(p.root + "/tmp"); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			p.root = "" // cannot be checked; most processes share our root
		} else {
			return nil, fmt.Errorf("process %d: its /tmp is missing, which HotSpot needs for attaching: %w", pid, err)
		}
	}
	return p, nil
}

// parseStatus parses /proc/PID/status, see proc_pid_status(5).
func parseStatus(pid int, status string) (*process, error) {
	p := &process{pid: pid, nspid: pid, root: fmt.Sprintf("/proc/%d/root", pid), uid: -1, gid: -1}
	for line := range strings.Lines(status) {
		key, rest, _ := strings.Cut(line, ":")
		values := strings.Fields(rest)
		if len(values) == 0 {
			continue
		}
		var err error
		switch key {
		case "NSpid":
			p.nspid, err = strconv.Atoi(values[len(values)-1]) // the innermost
		case "Uid":
			p.uid, err = strconv.Atoi(values[min(1, len(values)-1)])
		case "Gid":
			p.gid, err = strconv.Atoi(values[min(1, len(values)-1)])
		case "SigCgt":
			p.caught, err = strconv.ParseUint(values[0], 16, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("%s in /proc: %w", key, err)
		}
	}
	if p.uid < 0 || p.gid < 0 {
		return nil, errors.New("no user or group in /proc")
	}
	return p, nil
}

// canSignal returns an error if SIGQUIT would do harm: it kills a process that does not handle it, and makes a JVM that disables attaching
// print a thread dump to standard output.
func (p *process) canSignal() error {
	if p.caught>>(uint(syscall.SIGQUIT)-1)&1 == 0 {
		return fmt.Errorf("process %d: it does not handle SIGQUIT: it is still starting (try again), or runs with -Xrs "+
			"(add -XX:+StartAttachListener, or use -agentpath)", p.pid)
	}
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	if err == nil && bytes.Contains(command, []byte("-XX:+DisableAttachMechanism")) {
		return fmt.Errorf("process %d: it runs with -XX:+DisableAttachMechanism; remove that flag, or use -agentpath", p.pid)
	}
	return nil
}

// dial connects to the JVM's socket as the JVM's user and group, which old versions require even from root. Only this thread assumes them.
// It never blocks: if the queue of the socket is full, the error is EAGAIN.
func (p *process) dial() (net.Conn, error) {
	runtime.LockOSThread()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	f := os.NewFile(uintptr(fd), p.socket())
	defer func() { _ = f.Close() }() // FileConn duplicates it
	if p.assume(p.uid, p.gid) == nil {
		err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: p.socket()})
		if p.assume(os.Getuid(), os.Getgid()) == nil {
			runtime.UnlockOSThread() // otherwise the thread ends with this goroutine
		}
	} else {
		runtime.UnlockOSThread()
		err = ErrPermission
	}
	if err != nil {
		return nil, err
	}
	return net.FileConn(f)
}

// assume changes the thread's effective user and group; the real and saved ones stay, so that the change can be undone.
func (p *process) assume(uid, gid int) error {
	const keep = ^uintptr(0)
	if os.Getuid() != 0 || p.uid == 0 {
		return nil
	}
	// Return to root first: other users may not change groups.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, 0, keep); errno != 0 {
		return errno
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESGID, keep, uintptr(gid), keep); errno != 0 {
		return errno
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
		return errno
	}
	return nil
}
