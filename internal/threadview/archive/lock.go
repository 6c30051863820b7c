// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// lockName is the file that the owner of a directory has locked. It contains the ID of that process.
const lockName = "weft.lock"

// Lock makes this process the owner of a directory, which it creates if necessary, until it calls unlock or ends. A second one would restore
// sessions that the first one still writes, and remove its files.
func Lock(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the directory for sessions: %w", err)
	}
	path := filepath.Join(dir, lockName)
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("cannot lock the directory for sessions: %w", err)
	}
	if !locked {
		owner := "another process"
		if text, err := os.ReadFile(path); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				owner = fmt.Sprintf("process %d", pid)
			}
		}
		return nil, fmt.Errorf("%s is in use by %s: give each collector a directory of its own", dir, owner)
	}
	_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600) // only for the message above; Windows does not allow it
	return lock.Close, nil
}
