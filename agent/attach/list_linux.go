// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const maxRelease = 64 << 10 // bytes

func list(ctx context.Context) ([]JVM, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	names, err := proc.Readdirnames(-1)
	_ = proc.Close() // it was read only
	if err != nil {
		return nil, err
	}
	var all []JVM
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if pid, err := strconv.Atoi(name); err == nil {
			if j, ok := describe(pid); ok {
				all = append(all, j)
			}
		}
	}
	slices.SortFunc(all, func(a, b JVM) int { return a.PID - b.PID })
	return all, nil
}

// describe returns what is known of a process without talking to it, and false for other processes.
func describe(pid int) (JVM, bool) {
	p, err := openProcess(pid)
	if err != nil {
		return JVM{}, false
	}
	defer p.close()
	if p.readStatus() != nil {
		return JVM{}, false
	}
	j := JVM{PID: pid, UID: p.uid, User: userName(p.uid)}
	if j.Start, err = p.start(); err != nil {
		return JVM{}, false // it has ended
	}
	err = p.look()
	switch {
	case errors.Is(err, ErrPermission) && p.mayBeJVM():
		j.Unknown = err
		j.Attach = cmp.Or(p.checkUser(), err)
		j.MainClass = mainOf(p.words)
		return j, true
	case !p.images.isHotSpot():
		return JVM{}, false
	case err != nil:
		j.Unknown, j.Attach = err, err
		j.MainClass = mainOf(p.words)
		return j, true
	}
	j.MainClass = mainIn(p.counters[javaCommand], mainOf(p.words))
	if j.Version = cut(p.counters[javaVersion]); j.Version == "" {
		j.Version = p.release()
	}
	if j.Version == "" {
		j.Unknown = errors.New("the version is unknown: the JVM has no counters (-XX:-UsePerfData), and no file release next to it")
	}
	j.Attach = p.obstacle()
	j.Agent.Library = p.agent()
	return j, true
}

// mayBeJVM guesses whether a process is a JVM if its mapped files are unknown.
func (p *process) mayBeJVM() bool {
	if line, err := p.read("cmdline"); err == nil {
		p.words = parseCommand(line)
	}
	if isLauncher(p.words) {
		return true
	}
	files, _ := filepath.Glob(fmt.Sprintf("/tmp/hsperfdata_*/%d", p.pid)) // the pattern is valid
	return slices.ContainsFunc(files, func(file string) bool {
		var stat unix.Stat_t
		return unix.Lstat(file, &stat) == nil && int(stat.Uid) == p.uid
	})
}

// obstacle returns why this program cannot attach.
func (p *process) obstacle() error {
	if err := p.checkUser(); err != nil {
		return err
	}
	if p.has("-XX:-EnableDynamicAgentLoading") {
		return errors.New("it runs with -XX:-EnableDynamicAgentLoading; remove that flag, or use -agentpath")
	}
	dir, err := p.openTmp()
	if err != nil {
		return err
	}
	defer dir.close()
	_, err = p.canListen(dir)
	return err
}

// release returns the version in the file release of the Java installation: next to lib/server, or jre/lib/amd64/server before Java 9.
func (p *process) release() string {
	if p.images.jvm.deleted {
		return "" // it may be that of another version
	}
	const above = 5
	dir := path.Dir(p.images.jvm.path)
	for range above {
		dir = path.Dir(dir)
		if data, err := p.readInside(path.Join(dir, "release"), maxRelease); err == nil {
			return cut(versionIn(data))
		}
	}
	return ""
}

// readInside returns the content of a file that the process has mapped, or of one next to it.
func (p *process) readInside(file string, most int64) ([]byte, error) {
	f, err := p.openInside(p.inside(file))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read only
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", file, most)
	}
	return data, err
}

func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// start returns when the process started: field 22 of /proc/PID/stat, see proc_pid_stat(5). The unit is 10 ms on all machines.
func (p *process) start() (time.Time, error) {
	stat, err := p.read("stat")
	if err != nil {
		return time.Time{}, err
	}
	ticks, err := startTicks(string(stat))
	if err != nil {
		return time.Time{}, err
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return time.Time{}, err
	}
	const tick = 10 * time.Millisecond
	return time.Now().Add(time.Duration(ticks)*tick - time.Duration(now.Nano())).Round(tick), nil
}

func startTicks(stat string) (int64, error) {
	const field = 22 - 3 // after the name in parentheses, which may contain any character
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= field {
		return 0, fmt.Errorf("stat in /proc has %d fields after the name, want more than %d", len(fields), field)
	}
	return strconv.ParseInt(fields[field], 10, 64)
}
