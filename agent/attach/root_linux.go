// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// rootDir is a process's root. Its content belongs to the process: paths are resolved as the process itself resolves them, and never lead
// out of it.
type rootDir struct {
	fd    int  // O_PATH
	ours  bool // it is also the root of this program, in the same mount namespace
	plain bool // the kernel cannot confine paths
}

// errOldKernel is the error for a path that cannot be confined.
var errOldKernel = errors.New("the JVM has another root, and this kernel cannot confine paths to it (openat2, Linux 5.6); run weft in the JVM's container")

// confines reports whether the kernel has openat2, and no filter of system calls hides it.
func confines() bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
	if err == nil {
		_ = unix.Close(fd) // O_PATH
	}
	return err == nil
}

// open resolves a path below the root. Symbolic links, also absolute ones and those with .., stay below it.
func (r rootDir) open(path string, flags int) (int, error) {
	if r.plain {
		if !r.ours {
			return -1, errOldKernel
		}
		return unix.Openat(r.fd, strings.TrimLeft(path, "/"), flags|unix.O_CLOEXEC, 0)
	}
	how := unix.OpenHow{
		Flags:   uint64(flags) | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	}
	const tries = 128 // a rename anywhere on the machine makes a path with .. fail
	for i := 1; ; i++ {
		fd, err := unix.Openat2(r.fd, path, &how)
		if err == nil || i == tries || !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// directory is the JVM's /tmp, once resolved. The methods take names without a slash and follow no link.
type directory struct{ fd int }

func (p *process) openTmp() (*directory, error) {
	fd, err := p.root.open("/tmp", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, fmt.Errorf("process %d: cannot open its /tmp, which HotSpot needs for attaching: %w", p.pid, err)
	}
	return &directory{fd: fd}, nil
}

func (d *directory) close() { _ = unix.Close(d.fd) } // nothing is written through it

// create creates a regular file that did not exist. Its owner is the user as which the thread runs.
func (d *directory) create(name string, mode uint32) (*os.File, error) {
	fd, err := unix.Openat(d.fd, name, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: "/tmp/" + name, Err: err}
	}
	return os.NewFile(uintptr(fd), "/tmp/"+name), nil
}

func (d *directory) remove(name string) error { return unix.Unlinkat(d.fd, name, 0) }

// stat returns the attributes of a file, or of a link itself.
func (d *directory) stat(name string) (unix.Stat_t, error) {
	var stat unix.Stat_t
	err := unix.Fstatat(d.fd, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	return stat, err
}

// holds reports whether a file is a copy of the library that only this user could have made.
func (d *directory) holds(name string, lib *library, uid int) bool {
	fd, err := unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }() // it was read only
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFREG || int(stat.Uid) != uid || stat.Mode&0o022 != 0 ||
		stat.Nlink != 1 || stat.Size != lib.stat.Size {
		return false
	}
	return sameContent(io.LimitReader(f, stat.Size), lib.reader())
}

func sameContent(a, b io.Reader) bool {
	var left, right [32 << 10]byte
	for {
		n, err := io.ReadFull(a, left[:])
		m, other := io.ReadFull(b, right[:])
		if !bytes.Equal(left[:n], right[:m]) {
			return false
		}
		if err != nil || other != nil {
			ended := func(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
			return ended(err) && ended(other)
		}
	}
}
