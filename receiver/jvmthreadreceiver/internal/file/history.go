// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"
)

// maxFollowed limits the followed files. One that does not grow costs a file descriptor and little memory.
const maxFollowed = 1024

// history records which files are being read and which were, so that each is read once even if it is renamed.
type history struct {
	limit int // of files being read; 0: none
	log   *zap.Logger

	mu      sync.Mutex
	reading map[string]struct{} // paths
	done    []*finished
	full    bool // the limit was reached, which has been logged
}

// finished is a file that has been read to its end.
type finished struct {
	path   string // where it was last found
	info   fs.FileInfo
	head   string
	missed int // consecutive searches that did not find it
}

func newHistory(limit int, log *zap.Logger) *history {
	return &history{limit: limit, log: log, reading: make(map[string]struct{})}
}

// fresh returns the paths of files to read now: neither being read nor read before under any path. It marks them as being read.
func (h *history) fresh(found []string) (list []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := make(map[string]*finished, len(h.done))
	for _, was := range h.done {
		at[was.path] = was
		was.missed++
	}
	for _, path := range found {
		if _, ok := h.reading[path]; ok || h.wasRead(path, at[path]) {
			continue
		}
		if h.claim(path) {
			list = append(list, path)
		}
	}
	const enough = 2 // a search may miss a file once, while it is being moved
	h.done = slices.DeleteFunc(h.done, func(was *finished) bool { return was.missed > enough })
	return list
}

// claim marks a file as being read, unless the limit is reached.
func (h *history) claim(path string) bool {
	if h.limit > 0 && len(h.reading) >= h.limit {
		if !h.full {
			h.log.Warn("Too many files to follow; others are read when some of them are removed",
				zap.Int("followed", h.limit), zap.String("first_waiting", path))
		}
		h.full = true
		return false
	}
	h.reading[path] = struct{}{}
	return true
}

// wasRead reports whether the file at a path was read before. Most likely it is the one last found there.
func (h *history) wasRead(path string, likely *finished) bool {
	now, err := os.Stat(path)
	if err != nil {
		return true // removed meanwhile
	}
	if likely == nil || !likely.is(now, path) {
		i := slices.IndexFunc(h.done, func(was *finished) bool { return was.is(now, path) })
		if i < 0 {
			return false
		}
		likely = h.done[i]
	}
	likely.path, likely.missed = path, 0
	return true
}

// finish records that the file at a path was read. The path stays marked as being read if its next file is read at once.
func (h *history) finish(path string, info fs.FileInfo, head string, again bool) {
	if info == nil { // it could not be opened
		info, _ = os.Stat(path)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if info != nil {
		h.done = append(h.done, &finished{path: path, info: info, head: head})
	}
	if !again {
		delete(h.reading, path)
	}
}

// is reports whether the finished file is the one now found at a path: on the same inode and with the same head.
func (was *finished) is(now fs.FileInfo, path string) bool {
	if !os.SameFile(now, was.info) {
		return false
	}
	if now.Size() != was.info.Size() || !now.ModTime().Equal(was.info.ModTime()) {
		file, err := os.Open(path)
		if err != nil {
			return true // it cannot be read again anyway
		}
		defer func() { _ = file.Close() }() // opened for reading only
		if head, err := headOf(file); err != nil || !strings.HasPrefix(head, was.head) {
			return false
		}
		was.info = now
	}
	return true
}
