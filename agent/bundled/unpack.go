// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package bundled

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// maxLibrary limits an unpacked library, in bytes.
const maxLibrary = 64 << 20

func gunzip(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(r, maxLibrary+1))
	if err == nil && len(content) > maxLibrary {
		err = fmt.Errorf("it has more than %d bytes", maxLibrary)
	}
	return content, err
}

// unpack returns the path of a file with this content. It is in the cache folder of the user if no other user can change it, and in a
// folder for temporary files otherwise.
func unpack(name string, packed []byte) (string, error) {
	content, err := gunzip(packed)
	if err != nil {
		return "", fmt.Errorf("unpack %s: %w; install the program again", name, err)
	}
	sum := sha256.Sum256(content)
	version := hex.EncodeToString(sum[:8])
	cache, err := os.UserCacheDir()
	if err == nil {
		var file string
		if file, err = provide(cache, []string{"weft", version}, name, content); err == nil {
			return file, nil
		}
	}
	file, other := provide(os.TempDir(), []string{"weft-" + strconv.Itoa(os.Geteuid()), version}, name, content)
	if other != nil {
		return "", fmt.Errorf("no folder to unpack the agent into: %w; set XDG_CACHE_HOME or TMPDIR to a folder that only this user can write to",
			errors.Join(err, other))
	}
	return file, nil
}

// provide returns the path of a file in folders below base, after creating what is missing.
func provide(base string, folders []string, name string, content []byte) (string, error) {
	dir, err := private(base, folders)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, name)
	if holds(file, content) {
		return file, nil
	}
	if err := write(dir, file, content); err != nil {
		return "", err
	}
	if !holds(file, content) {
		return "", fmt.Errorf("%s does not keep what is written to it", file)
	}
	return file, nil
}

// write replaces whatever has the name, at once: a JVM that has mapped an older file keeps it.
func write(dir, file string, content []byte) error {
	f, err := os.CreateTemp(dir, ".unpacked-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(fileMode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // best effort
	}
	return err
}
