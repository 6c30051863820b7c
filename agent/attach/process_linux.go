// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process is the kernel's view of the JVM. Its folder in /proc is opened once: what is read and signalled through it is always the same
// process, even if another one gets its ID.
type process struct {
	pid    int
	proc   *os.File // /proc/PID, which is also accepted as a pidfd (pidfd_send_signal(2))
	root   rootDir
	nspid  int // in its innermost PID namespace
	uid    int // effective
	gid    int
	groups []int    // supplementary
	caught uint64   // handled signals: bit n-1 is signal n
	words  []string // of the command line
	images images
	// counters of HotSpot by name; nil if it has none.
	counters map[string]string
	options  []string // from the environment and the counters
	// rootPath is where its root is, as its mapped files are shown in /proc: not "/" after a chroot.
	rootPath string
}

func findProcess(pid int) (*process, error) {
	p, err := openProcess(pid)
	if err != nil {
		return nil, err
	}
	if err := p.inspect(); err != nil {
		p.close()
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	return p, nil
}

func openProcess(pid int) (*process, error) {
	dir, err := os.Open(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	return &process{pid: pid, proc: dir, root: rootDir{fd: -1}, nspid: pid, uid: -1, gid: -1}, nil
}

func (p *process) close() {
	if p.root.fd >= 0 {
		_ = unix.Close(p.root.fd)
	}
	_ = p.proc.Close() // it was read only
}

// inspect reads what the kernel says about the process, and checks that it is a JVM to which this program may attach.
func (p *process) inspect() error {
	if err := p.readStatus(); err != nil {
		return err
	}
	if err := p.checkUser(); err != nil {
		return err
	}
	return p.look()
}

func (p *process) readStatus() error {
	status, err := p.read("status")
	if err != nil {
		return ErrNoProcess
	}
	return p.parseStatus(string(status))
}

func (p *process) checkUser() error {
	if euid := os.Geteuid(); euid != 0 && euid != p.uid {
		return fmt.Errorf("%w: it belongs to user %d; run this as that user or as root", ErrPermission, p.uid)
	}
	return nil
}

// look reads what the process has mapped, and opens its root.
func (p *process) look() error {
	maps, err := p.read("maps")
	switch {
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w: %w; run this as user %d or as root", ErrPermission, err, p.uid)
	case err != nil:
		return ErrNoProcess // it has ended
	}
	p.images = parseMaps(maps, strconv.Itoa(p.nspid))
	if !p.images.isHotSpot() {
		return fmt.Errorf("%w: it does not use libjvm.so; give the ID of a HotSpot process", ErrNotJVM)
	}
	if command, err := p.read("cmdline"); err == nil {
		p.words = parseCommand(command)
	}
	if p.root, err = p.openRoot(); err != nil {
		return err
	}
	p.counters = p.readCounters()
	p.options = p.readOptions()
	return nil
}

// inside returns the path in the process's root of a file that it has mapped.
func (p *process) inside(path string) string {
	if rest, found := strings.CutPrefix(path, strings.TrimSuffix(p.rootPath, "/")+"/"); found {
		return "/" + rest
	}
	return path
}

// agent returns the path of the loaded agent in the process's root, or nothing. The dynamic linker of glibc finds it by that path even if
// the file has been deleted or replaced.
func (p *process) agent() string {
	if p.images.agent.path == "" {
		return ""
	}
	return p.inside(p.images.agent.path)
}

// read returns a file of the process's folder. It fails once the process has ended.
func (p *process) read(name string) ([]byte, error) {
	fd, err := unix.Openat(int(p.proc.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }() // it was read only
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(f, maxProc+1))
	if err == nil && n > maxProc {
		err = fmt.Errorf("%s has more than %d bytes", name, maxProc)
	}
	return b.Bytes(), err
}

// maxProc limits files in /proc, in bytes. The largest is maps: the kernel allows 65530 mappings by default, with paths of up to 4 KiB.
const maxProc = 256 << 20

func (p *process) openRoot() (rootDir, error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	fd, err := unix.Openat(int(p.proc.Fd()), "root", flags, 0)
	if errors.Is(err, unix.EACCES) && os.Geteuid() != 0 { // cannot be checked; most processes share our root
		fd, err = unix.Open("/", flags, 0)
		return rootDir{fd: fd, ours: err == nil, plain: !confines()}, err
	}
	if err != nil {
		return rootDir{fd: -1}, fmt.Errorf("its root: %w", err)
	}
	link := make([]byte, unix.PathMax)
	if n, err := unix.Readlinkat(int(p.proc.Fd()), "root", link); err == nil {
		p.rootPath = string(link[:n])
	}
	var theirs, ours [2]unix.Stat_t
	err = errors.Join(
		unix.Fstat(fd, &theirs[0]), unix.Stat("/", &ours[0]),
		unix.Fstatat(int(p.proc.Fd()), "ns/mnt", &theirs[1], 0), unix.Stat("/proc/self/ns/mnt", &ours[1]),
	)
	same := func(i int) bool { return theirs[i].Dev == ours[i].Dev && theirs[i].Ino == ours[i].Ino }
	return rootDir{fd: fd, ours: err == nil && same(0) && same(1), plain: !confines()}, nil
}

// parseStatus parses /proc/PID/status, see proc_pid_status(5).
func (p *process) parseStatus(status string) error {
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
		case "Groups":
			p.groups, err = numbers(values)
		case "SigCgt":
			p.caught, err = strconv.ParseUint(values[0], 16, 64)
		}
		if err != nil {
			return fmt.Errorf("%s in /proc: %w", key, err)
		}
	}
	if p.uid < 0 || p.gid < 0 {
		return errors.New("no user or group in /proc")
	}
	return nil
}

func numbers(words []string) ([]int, error) {
	all := make([]int, len(words))
	for i, word := range words {
		var err error
		if all[i], err = strconv.Atoi(word); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// canSignal returns an error if SIGQUIT would kill the process, since it does not handle the signal.
func (p *process) canSignal() error {
	if p.caught>>(uint(unix.SIGQUIT)-1)&1 == 0 {
		return fmt.Errorf("process %d: it does not handle SIGQUIT: it is still starting (try again), or runs with -Xrs "+
			"(add -XX:+StartAttachListener, or use -agentpath)", p.pid)
	}
	return nil
}

// signal sends a signal to this very process; 0 only checks that it still runs.
func (p *process) signal(signal unix.Signal) error {
	err := unix.PidfdSendSignal(int(p.proc.Fd()), signal, nil, 0)
	if errors.Is(err, unix.ENOSYS) { // before Linux 5.1
		var stat unix.Stat_t
		if err = unix.Fstatat(int(p.proc.Fd()), "stat", &stat, 0); err == nil {
			err = unix.Kill(p.pid, signal)
		}
	}
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.ENOENT):
		return fmt.Errorf("%w: it has ended", ErrNoProcess)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrPermission, err)
	}
	return nil
}
