// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package viewarchive answers: what is remembered over a restart? It writes the events of sessions into a folder, as native recordings of some
// megabytes each, and puts what is there back into a store. Whole files leave when the folder holds too much, the oldest first.
//
// Each file can be read by itself, by anything that reads native recordings. Events are handed to the operating system before whoever sent them hears that they were
// taken; a process that dies loses none of them, a machine that does may.
package viewarchive

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Archive is a folder of recordings. Any number of goroutines may use it.
type Archive struct {
	folder   string
	maxBytes int64

	mu    sync.Mutex
	files []*file // the oldest first
	bytes int64
	last  int64 // number of the newest file
}

type file struct {
	path    string
	session string
	number  int64
	bytes   int64
	open    bool
}

// fileBytes is how large a file grows before the next one is begun.
const fileBytes = 8 << 20

var fileName = regexp.MustCompile(`^([0-9a-f]{32})-(\d{12})\.weft$`)

// Open opens a folder, and makes it if it is not there. It holds at most maxBytes, as far as files that are not being written can leave.
func Open(folder string, maxBytes int64) (*Archive, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("the folder for sessions cannot be made: %w", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("the folder for sessions cannot be read: %w", err)
	}
	a := &Archive{folder: folder, maxBytes: maxBytes}
	for _, entry := range entries {
		parts := fileName.FindStringSubmatch(entry.Name())
		if parts == nil || !entry.Type().IsRegular() {
			continue // somebody else's
		}
		info, err := entry.Info()
		if err != nil {
			continue // it has just gone
		}
		number, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil {
			continue
		}
		a.files = append(a.files, &file{path: filepath.Join(folder, entry.Name()), session: parts[1], number: number, bytes: info.Size()})
		a.bytes += info.Size()
		a.last = max(a.last, number)
	}
	slices.SortFunc(a.files, func(x, y *file) int { return cmp.Compare(x.number, y.number) })
	err = a.shrink()
	return a, err
}

// Bytes is what the folder holds.
func (a *Archive) Bytes() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bytes
}

// create begins a file of a session.
func (a *Archive) create(session jvmthread.SessionID) (*file, *os.File, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	f := &file{session: session.String(), number: a.last, open: true}
	f.path = filepath.Join(a.folder, fmt.Sprintf("%s-%012d.weft", f.session, f.number))
	out, err := os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	a.files = append(a.files, f)
	return f, out, nil
}

// grew accounts for what was written.
func (a *Archive) grew(f *file, n int) error {
	a.mu.Lock()
	f.bytes += int64(n)
	a.bytes += int64(n)
	a.mu.Unlock()
	return a.shrink()
}

func (a *Archive) closed(f *file) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f.open = false
}

// shrink removes the oldest files while there is too much.
func (a *Archive) shrink() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for i := 0; a.bytes > a.maxBytes && i < len(a.files); {
		f := a.files[i]
		if f.open {
			i++
			continue
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
		a.bytes -= f.bytes
		a.files = slices.Delete(a.files, i, i+1)
	}
	return errors.Join(errs...)
}
