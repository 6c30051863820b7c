// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package bundled

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const name = "libweft-linux-x86_64.so"

func pack(t *testing.T, content string) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return packed.Bytes()
}

// atHome sets the folders for the cache and for temporary files.
func atHome(t *testing.T) (cache, tmp string) {
	t.Helper()
	cache, tmp = t.TempDir(), t.TempDir()
	for _, folder := range []string{cache, tmp} {
		require.NoError(t, os.Chmod(folder, 0o700))
	}
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("TMPDIR", tmp)
	return cache, tmp
}

func TestUnpack(t *testing.T) {
	cache, _ := atHome(t)
	t.Setenv("XDG_CACHE_HOME", cache+"/of/me") // it is created
	file, err := unpack(name, pack(t, "agent"))
	require.NoError(t, err)
	assert.Regexp(t, "^"+cache+"/of/me/weft/[0-9a-f]{16}/"+name+"$", file)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "agent", string(content))
	for _, folder := range []string{cache + "/of", cache + "/of/me/weft", filepath.Dir(file)} {
		info, err := os.Stat(folder)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm(), folder)
	}
	before, err := os.Stat(file)
	require.NoError(t, err)
	again, err := unpack(name, pack(t, "agent"))
	require.NoError(t, err)
	assert.Equal(t, file, again)
	after, err := os.Stat(file)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after), "it is written once")
	other, err := unpack("libweft-linux-aarch64.so", pack(t, "newer agent"))
	require.NoError(t, err)
	assert.NotEqual(t, filepath.Dir(file), filepath.Dir(other))
	left, err := filepath.Glob(cache + "/of/me/weft/*/.*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// Whatever has the name of the file: it is replaced, and nothing else is written to.
func TestOnlyTheRightFileIsUsed(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	places := map[string]func(path string) error{
		"other content": func(path string) error { return os.WriteFile(path, []byte("evil!"), fileMode) },
		"shorter":       func(path string) error { return os.WriteFile(path, []byte("age"), fileMode) },
		"writable":      func(path string) error { return os.WriteFile(path, []byte("agent"), 0o700) },
		"link":          func(path string) error { return os.Symlink(victim, path) },
		"hard link":     func(path string) error { return os.Link(victim, path) },
		"FIFO":          func(path string) error { return unix.Mkfifo(path, 0o600) },
	}
	if os.Geteuid() == 0 {
		places["owner"] = func(path string) error {
			if err := os.WriteFile(path, []byte("agent"), fileMode); err != nil {
				return err
			}
			return os.Chown(path, 65534, 65534)
		}
	}
	for what, place := range places {
		t.Run(what, func(t *testing.T) {
			atHome(t)
			require.NoError(t, os.RemoveAll(victim))
			require.NoError(t, os.WriteFile(victim, []byte("agent"), fileMode))
			file, err := unpack(name, pack(t, "agent"))
			require.NoError(t, err)
			require.NoError(t, os.Remove(file))
			require.NoError(t, place(file))
			again, err := unpack(name, pack(t, "agent"))
			require.NoError(t, err)
			assert.Equal(t, file, again)
			assert.True(t, holds(file, []byte("agent")))
			info, err := os.Lstat(victim)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(fileMode), info.Mode())
		})
	}
}

// A cache that others could change is not used.
func TestFoldersOfOthersAreNotUsed(t *testing.T) {
	elsewhere := t.TempDir()
	cases := map[string]func(cache string) error{
		"world-writable":  func(cache string) error { return os.Chmod(cache, 0o777) },
		"group-writable":  func(cache string) error { return os.Chmod(cache, 0o770) },
		"writable folder": func(cache string) error { return folder(cache+"/weft", 0o1777) },
		"link":            func(cache string) error { return os.Symlink(elsewhere, cache+"/weft") },
		"file":            func(cache string) error { return os.WriteFile(cache+"/weft", nil, 0o600) },
		"dangling link":   func(cache string) error { return os.Symlink(elsewhere+"/none", cache+"/weft") },
	}
	if os.Geteuid() == 0 {
		cases["owner"] = func(cache string) error { return os.Chown(cache, 65534, 65534) }
		cases["owner of the folder"] = func(cache string) error {
			return errors.Join(folder(cache+"/weft", 0o700), os.Chown(cache+"/weft", 65534, 65534))
		}
	}
	for what, prepare := range cases {
		t.Run(what, func(t *testing.T) {
			cache, tmp := atHome(t)
			require.NoError(t, prepare(cache))
			file, err := unpack(name, pack(t, "agent"))
			require.NoError(t, err)
			assert.Regexp(t, "^"+tmp+"/weft-"+strconv.Itoa(os.Geteuid())+"/[0-9a-f]{16}/"+name+"$", file)
		})
	}
	entries, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestWithoutACache(t *testing.T) {
	for _, variable := range []string{"", "cache", "/proc/none"} {
		_, tmp := atHome(t)
		t.Setenv("HOME", "")
		t.Setenv("XDG_CACHE_HOME", variable)
		file, err := unpack(name, pack(t, "agent"))
		require.NoError(t, err)
		assert.Contains(t, file, tmp, variable)
	}
}

func folder(path string, mode uint32) error {
	return errors.Join(os.Mkdir(path, 0o700), unix.Chmod(path, mode))
}

// Others may add files to a folder with the sticky bit, but not replace ours.
func TestStickyFolder(t *testing.T) {
	cache, _ := atHome(t)
	require.NoError(t, unix.Chmod(cache, 0o1777))
	file, err := unpack(name, pack(t, "agent"))
	require.NoError(t, err)
	assert.Contains(t, file, cache)
}

// A link to the cache is followed once, and what it leads to is checked.
func TestLinkToTheCache(t *testing.T) {
	cache, tmp := atHome(t)
	require.NoError(t, os.Mkdir(cache+"/real", 0o700))
	require.NoError(t, os.Symlink("real", cache+"/link"))
	t.Setenv("XDG_CACHE_HOME", cache+"/link")
	file, err := unpack(name, pack(t, "agent"))
	require.NoError(t, err)
	assert.Contains(t, file, cache+"/real/weft/")
	require.NoError(t, os.Chmod(cache+"/real", 0o777))
	file, err = unpack(name, pack(t, "agent"))
	require.NoError(t, err)
	assert.Contains(t, file, tmp)
}

func TestUnpackErrors(t *testing.T) {
	cache, tmp := atHome(t)
	require.NoError(t, os.Chmod(cache, 0o777))
	require.NoError(t, os.Chmod(tmp, 0o777))
	_, err := unpack(name, pack(t, "agent"))
	require.ErrorContains(t, err, "other users can write to "+cache)
	require.ErrorContains(t, err, "other users can write to "+tmp)
	require.ErrorContains(t, err, "set XDG_CACHE_HOME or TMPDIR")
	_, err = unpack(name, []byte("no archive"))
	require.ErrorContains(t, err, "install the program again")
	large := pack(t, string(make([]byte, maxLibrary+1)))
	_, err = unpack(name, large)
	require.ErrorContains(t, err, "more than 67108864 bytes")
}
