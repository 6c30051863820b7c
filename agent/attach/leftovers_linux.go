// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"

	"golang.org/x/sys/unix"
)

// What this program makes in a JVM's /tmp and removes again, unless it is killed: then the next one does. The kernel knows whether the program
// that made it still runs, also one in another container: it holds a lock on the file, or the socket.
const (
	requestSuffix   = ".request"
	recordingSuffix = ".weft"
	socketSuffix    = ".sock"
)

// ourName returns a name that cannot be guessed.
func ourName(suffix string) string { return ".weft-" + rand.Text() + suffix }

var ours = regexp.MustCompile(`^\.weft-[A-Z2-7]{26}\.[a-z]+$`)

// createOurs creates a file for the JVM's user only. Under its name, it is locked until this program ends or closes it.
func (d *directory) createOurs(suffix string) (f *os.File, name string, err error) {
	unlocked := "." + rand.Text()
	if f, err = d.create(unlocked, 0o600); err != nil {
		return nil, "", err
	}
	if err = lock(f); err == nil {
		name = ourName(suffix)
		err = unix.Renameat(d.fd, unlocked, d.fd, name)
	}
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("create /tmp/%s: %w", unlocked, err), d.remove(unlocked), f.Close())
	}
	return f, name, nil
}

// lock takes a lock of the open file, which ends with it. It does not conflict with flock, which agents use.
func lock(f *os.File) error {
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
}

// maxLooked bounds the names in /tmp among which leftovers are searched.
const maxLooked = 10_000

// removeLeftovers removes what programs have left that were killed. It runs with the rights of the JVM's user.
func (d *directory) removeLeftovers() {
	fd, err := unix.Openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	dir := os.NewFile(uintptr(fd), "/tmp")
	defer func() { _ = dir.Close() }()      // it was read only
	names, _ := dir.Readdirnames(maxLooked) // some, or none
	for _, name := range names {
		if ours.MatchString(name) && !d.isInUse(name) {
			_ = d.remove(name) // another one may have done so
		}
	}
}

func (d *directory) isInUse(name string) bool {
	switch path.Ext(name) {
	case requestSuffix, recordingSuffix:
		return d.isLocked(name)
	case socketSuffix:
		return d.hasListener(name)
	}
	return true
}

// isLocked reports whether a file is in use, or is not what createOurs has made.
func (d *directory) isLocked(name string) bool {
	fd, err := unix.Openat(d.fd, name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return true
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }() // it was not written
	info, err := f.Stat()
	return err != nil || !info.Mode().IsRegular() || lock(f) != nil
}

// hasListener reports whether a process has a socket of that name. The attempt to connect has the wrong type, so that the process does not
// notice.
func (d *directory) hasListener(name string) bool {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return true
	}
	defer func() { _ = unix.Close(fd) }()
	err = unix.Connect(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/%s", d.fd, name)})
	return !errors.Is(err, unix.ECONNREFUSED)
}
