// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package kept answers: where do the files of a failed test stay? In the folder that an environment variable names.
package kept

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// Variable names the folder; without it, nothing is kept. All below TMPDIR is copied, so a test needs a TMPDIR of its own.
	Variable = "WEFT_E2E_KEEP"
	// Classes names a folder for the compiled Java programs, for all runs; each run compiles its own by default.
	Classes = "WEFT_E2E_CLASSES"
	// Limit is the maximum size of the copies of a run, in bytes.
	Limit = 200 << 20
)

// Copy copies the regular files below a folder, up to a limit in bytes, and returns how many it omitted: those beyond the limit, and those that
// could not be read, for example because a process has just removed them.
func Copy(to, from string, limit int64) (omitted int, err error) {
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // what is left can be copied
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		size, err := copyFile(filepath.Join(to, name), path, limit)
		if err != nil {
			omitted++
		}
		limit -= size
		return nil
	})
	return omitted, err
}

// copyFile copies a file that is not larger than the limit.
func copyFile(to, from string, limit int64) (size int64, err error) {
	source, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer source.Close() //nolint:errcheck // it was only read
	if info, err := source.Stat(); err != nil || info.Size() > limit {
		return 0, cmp.Or(err, fs.ErrInvalid)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return 0, err
	}
	target, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	size, err = io.CopyN(target, source, limit) // a process may still append to it
	if err == io.EOF {                          //nolint:errorlint // CopyN returns it unwrapped
		err = nil
	}
	return size, cmp.Or(err, target.Close())
}
