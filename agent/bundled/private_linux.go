// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package bundled

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	fileMode   = 0o500
	folderMode = 0o700
	byOthers   = 0o022 // group and others can write
)

// private returns the path of folders below base, which it creates. No other user but root can change what is in them, nor put others in
// their place: each folder from the root on belongs to root or to this user, and others cannot write to it, or only add their own files.
func private(base string, folders []string) (string, error) {
	if !filepath.IsAbs(base) {
		return "", fmt.Errorf("%s is not an absolute path", base)
	}
	path, missing, err := resolved(base)
	if err != nil {
		return "", err
	}
	folders = append(missing, folders...)
	for _, folder := range folders {
		path = filepath.Join(path, folder)
		if err := os.Mkdir(path, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		if err := check(path, true); err != nil {
			return "", err
		}
	}
	return path, nil
}

// resolved returns the path, without symbolic links, of the part of base that exists, after checking each folder in it, and the rest.
func resolved(base string) (path string, missing []string, err error) {
	for _, err = os.Lstat(base); errors.Is(err, fs.ErrNotExist); _, err = os.Lstat(base) {
		missing = append([]string{filepath.Base(base)}, missing...)
		base = filepath.Dir(base)
	}
	if path, err = filepath.EvalSymlinks(base); err != nil {
		return "", nil, err
	}
	at := "/"
	err = check(at, false)
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		at = filepath.Join(at, part)
		err = errors.Join(err, check(at, false))
	}
	return path, missing, err
}

// check returns an error if other users could change what is in a folder; if it is ours, root must not own it either.
func check(path string, ours bool) error {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	owner := int(stat.Uid)
	switch {
	case stat.Mode&unix.S_IFMT != unix.S_IFDIR:
		return fmt.Errorf("%s is not a folder", path)
	case owner != os.Geteuid() && (ours || owner != 0):
		return fmt.Errorf("%s belongs to user %d", path, owner)
	case stat.Mode&byOthers != 0 && (ours || stat.Mode&unix.S_ISVTX == 0):
		return fmt.Errorf("other users can write to %s", path)
	}
	return nil
}

// holds reports whether a file is as write has made it.
func holds(path string, content []byte) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(fd), path)
	defer func() { _ = f.Close() }() // it was read only
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil || stat.Mode&(unix.S_IFMT|0o777) != unix.S_IFREG|fileMode || int(stat.Uid) != os.Geteuid() ||
		stat.Nlink != 1 || stat.Size != int64(len(content)) {
		return false
	}
	got, err := io.ReadAll(io.LimitReader(f, int64(len(content))+1))
	return err == nil && bytes.Equal(got, content)
}
