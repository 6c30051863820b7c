// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// owner returns the user ID of a file's owner.
func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

func mayCreateIn(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && unix.Access(dir, unix.W_OK|unix.X_OK) == nil
}

// setSocketMode changes the mode of the socket that was just created, and of nothing that has replaced it meanwhile.
func setSocketMode(path string, mode fs.FileMode) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd) //nolint:errcheck // nothing is written
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFSOCK || int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("socket %s was replaced by user %d; use a folder that only the collector's user can write to", path, stat.Uid)
	}
	return os.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), mode)
}
