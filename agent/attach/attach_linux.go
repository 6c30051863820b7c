// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

func attach(ctx context.Context, r Request, loaded bool) (Result, error) {
	p, err := findProcess(r.PID)
	if err != nil {
		return Result{}, err
	}
	var lib *library // nil: the one that is loaded
	switch {
	case p.agent() != "":
	case loaded:
		err = fmt.Errorf("process %d: %w; attach it first", p.pid, ErrNotLoaded)
	case r.Library == "":
		err = fmt.Errorf("process %d: %w; specify the path of libweft.so", p.pid, ErrNotLoaded)
	default:
		lib, err = openLibrary(r.Library)
	}
	if err != nil {
		p.close()
		return Result{}, err
	}
	return p.asUser(ctx, func() (Result, error) {
		defer lib.close()
		defer p.close()
		dir, err := p.openTmp()
		if err != nil {
			return Result{}, err
		}
		defer dir.close()
		if !loaded { // not each time that a report is read
			dir.removeLeftovers()
		}
		return p.load(ctx, dir, lib, r.Options)
	})
}

// load runs with the rights of the JVM's user. Without a library, it uses the one that is loaded.
func (p *process) load(ctx context.Context, dir *directory, lib *library, options []string) (_ Result, err error) {
	path := p.agent()
	if lib != nil {
		if path, err = p.provide(dir, lib); err != nil {
			return Result{}, err
		}
	}
	if len(path) > maxArgument {
		return Result{}, fmt.Errorf("the path %.40q... of the library has %d bytes, more than HotSpot's limit of %d; move it", path, len(path), maxArgument)
	}
	// HotSpot keeps its arguments, and shows them in flight recordings: the options, which may have credentials, are in a file, which the agent
	// removes. The name cannot be guessed, and the open file is read below: whatever happens to the name later, nothing else is.
	file, name, err := dir.createOurs(requestSuffix)
	if err != nil {
		return Result{}, fmt.Errorf("create the file for the agent: %w", err)
	}
	defer func() {
		_ = dir.remove(name)
		_ = file.Close()
	}() // best effort
	request := strings.Join(options, ",")
	if _, err := file.WriteString(request); err != nil {
		return Result{}, fmt.Errorf("write the file for the agent: %w", err)
	}
	if err := p.listen(ctx, dir); err != nil {
		return Result{}, err
	}
	reply, err := p.command(ctx, dir, "load", path, "true", "request=/tmp/"+name)
	if err != nil {
		return Result{}, err
	}
	answer, err := readReport(file)
	if err != nil {
		return Result{}, fmt.Errorf("read the agent's report: %w", err)
	}
	if answer != request { // which is left if the agent was not called
		return parseReport(answer) // more precise than the code
	}
	if err := checkReply(reply); err != nil {
		return Result{}, fmt.Errorf("process %d: %w", p.pid, err)
	}
	return Result{}, fmt.Errorf("process %d: the agent sent no report; check that the JVM's user can write to /tmp", p.pid)
}

// maxReport exceeds the size of any report, in bytes. The JVM's user may write to the file, too.
const maxReport = 64 << 10

func readReport(f *os.File) (string, error) {
	content, err := io.ReadAll(io.NewSectionReader(f, 0, maxReport+1))
	if err == nil && len(content) > maxReport {
		err = fmt.Errorf("it has more than %d bytes", maxReport)
	}
	return string(content), err
}

// library is the file to load, opened with the rights of this program.
type library struct {
	path string // without symbolic links
	file *os.File
	stat unix.Stat_t
}

func openLibrary(path string) (*library, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("agent library: %w", err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, fmt.Errorf("agent library: %w; specify its path", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("agent library: %w", err)
	}
	l := &library{path: path, file: f}
	if err := unix.Fstat(int(f.Fd()), &l.stat); err != nil {
		l.close()
		return nil, fmt.Errorf("agent library %s: %w", path, err)
	}
	if l.stat.Mode&unix.S_IFMT != unix.S_IFREG {
		l.close()
		return nil, fmt.Errorf("agent library: %s is not a regular file; specify the path of libweft.so", path)
	}
	return l, nil
}

func (l *library) close() {
	if l != nil {
		_ = l.file.Close() // it was read only
	}
}

func (l *library) reader() *io.SectionReader { return io.NewSectionReader(l.file, 0, l.stat.Size) }

// provide returns the path of the library for the JVM, after copying it into the JVM's /tmp if the JVM's user cannot read it at its own
// path. The copy stays, because the JVM maps it until it exits.
func (p *process) provide(dir *directory, lib *library) (string, error) {
	if p.sees(lib) {
		return lib.path, nil
	}
	name := fmt.Sprintf("libweft-%d-%d.so", lib.stat.Mtim.Sec, lib.stat.Size)
	if dir.holds(name, lib, p.uid) {
		return "/tmp/" + name, nil // from an earlier attach
	}
	f, err := dir.create(name, 0o500)
	if errors.Is(err, os.ErrExist) { // something else has the name
		name = fmt.Sprintf("libweft-%s.so", rand.Text())
		f, err = dir.create(name, 0o500)
	}
	if err == nil {
		_, err = io.Copy(f, lib.reader())
		if err = errors.Join(err, f.Close()); err != nil {
			_ = dir.remove(name) // best effort
		}
	}
	if err != nil {
		return "", fmt.Errorf("the JVM does not see %s, and copying it failed: %w", lib.path, err)
	}
	return "/tmp/" + name, nil
}

// sees reports whether the path of the library is the same file for the JVM, and its user may read it.
func (p *process) sees(lib *library) bool {
	fd, err := p.root.open(lib.path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }() // it was not written
	var theirs unix.Stat_t
	return unix.Fstat(fd, &theirs) == nil && theirs.Dev == lib.stat.Dev && theirs.Ino == lib.stat.Ino
}
