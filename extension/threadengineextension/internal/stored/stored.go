// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package stored answers: can the files of a storage extension be opened? A damaged one would end the collector at each start, until somebody
// deletes it.
package stored

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"github.com/gofrs/flock"
	"go.uber.org/zap"
)

// clientFile is a name that file_storage gives to the file of a component, or the hash of a long one.
var clientFile = regexp.MustCompile(`^((receiver|processor|exporter|extension|connector|other)_[A-Za-z0-9._~-]+|[0-9a-f]{64})$`)

// Suffix is that of a file that was set aside. A later one takes its place, so that damage cannot fill the disk.
const Suffix = "~damaged" // file_storage uses no tilde but before four digits

// SetAside renames the damaged files in a directory of file_storage, and returns how many there were. No component may use them yet.
func SetAside(dir string, log *zap.Logger) (damaged int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0 // file_storage reports it, or creates the directory
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if !entry.Type().IsRegular() || !clientFile.MatchString(entry.Name()) || len(entry.Name()) > len(Suffix) && entry.Name()[len(entry.Name())-len(Suffix):] == Suffix {
			continue
		}
		damage, err := inspect(path)
		switch {
		case err != nil:
			log.Warn("Cannot check a file of the storage", zap.String("path", path), zap.Error(err))
		case damage != nil:
			if err := os.Rename(path, path+Suffix); err != nil {
				log.Error("Cannot set a damaged file of the storage aside; delete it", zap.String("path", path), zap.NamedError("damage", damage), zap.Error(err))
				continue
			}
			damaged++
			log.Error("A file of the storage is damaged: what it held is lost, and the collector begins with a new one; delete the damaged file, or keep it for a report",
				zap.String("path", path+Suffix), zap.NamedError("damage", damage))
		}
	}
	return damaged
}

// inspect returns the damage of a file that no other process uses, which would change while it is read.
func inspect(path string) (damage, err error) {
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return nil, err
	case !locked:
		return nil, errors.New("another process uses it: each collector needs a directory of its own")
	}
	damage, err = read(path)
	if unlocked := lock.Unlock(); err == nil {
		err = unlocked
	}
	return damage, err
}

func read(path string) (damage, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return check(file, info.Size())
}
