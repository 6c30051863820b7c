// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"io/fs"
	"os"
	"slices"
	"strings"
)

// finished is a file that was read as far as it will be.
type finished struct {
	path   string // at which it was last
	info   fs.FileInfo
	head   string
	missed int // how often in a row it was not found
}

// fresh returns those of the paths whose files are to be read from now on: that are not being read, and were not, under whatever name.
func (f *files) fresh(found []string) (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := make(map[string]*finished, len(f.done))
	for _, was := range f.done {
		at[was.path] = was
		was.missed++
	}
	for _, path := range found {
		if _, ok := f.reading[path]; ok || f.wasRead(path, at[path]) {
			continue
		}
		if f.claim(path) {
			list = append(list, path)
		}
	}
	const enough = 2 // one that is being moved may be missed once
	f.done = slices.DeleteFunc(f.done, func(was *finished) bool { return was.missed > enough })
	return list
}

// wasRead reports whether the file at a path was read. Most likely it is the one that was there before.
func (f *files) wasRead(path string, likely *finished) bool {
	now, err := os.Stat(path)
	if err != nil {
		return true // it is gone just now
	}
	if likely == nil || !likely.is(now, path) {
		i := slices.IndexFunc(f.done, func(was *finished) bool { return was.is(now, path) })
		if i < 0 {
			return false
		}
		likely = f.done[i]
	}
	likely.path, likely.missed = path, 0
	return true
}

// finish notes that a file was read.
func (f *files) finish(file *recordingFile, again bool) {
	if file.info == nil { // it cannot be opened
		file.info, _ = os.Stat(file.path)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if file.info != nil {
		f.done = append(f.done, &finished{path: file.path, info: file.info, head: file.mark.Head})
	}
	if !again {
		delete(f.reading, file.path)
	}
}

// is reports whether this is the file that was found at a path: which has its place on the disk, and begins with the same.
func (was *finished) is(now fs.FileInfo, path string) bool {
	if !os.SameFile(now, was.info) {
		return false
	}
	if now.Size() != was.info.Size() || !now.ModTime().Equal(was.info.ModTime()) {
		file, err := os.Open(path)
		if err != nil {
			return true // nor can it be read
		}
		defer func() { _ = file.Close() }() // it was only read
		if head, err := headOf(file); err != nil || !strings.HasPrefix(head, was.head) {
			return false
		}
		was.info = now
	}
	return true
}
