// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package archive answers: what is remembered over a restart? It writes the events of sessions into a folder, as native recordings of some
// megabytes each, and puts what is there back into a store. Whole files leave when the folder holds too much, the oldest first.
//
// Each file can be read by itself, by anything that reads native recordings. Events are handed to the operating system before whoever sent them hears that they were
// taken; a process that dies loses none of them, a machine that does may.
package archive

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
	out     *os.File // nil: it is not being written
	gone    bool     // it had to leave
}

// A file grows to an eighth of what the folder may hold, and to maxFile at most, before the next one is begun: so what leaves is a small part.
const maxFile = 8 << 20

var fileName = regexp.MustCompile(`^([0-9a-f]{32})-(\d{12})\.weft$`)

// Open opens a folder, and makes it if it is not there. It holds at most maxBytes, of all sessions.
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
	err = a.makeRoom(0, nil)
	return a, err
}

// create begins a file of a session.
func (a *Archive) create(session jvmthread.SessionID) (*file, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	f := &file{session: session.String(), number: a.last}
	f.path = filepath.Join(a.folder, fmt.Sprintf("%s-%012d.weft", f.session, f.number))
	var err error
	if f.out, err = os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	a.files = append(a.files, f)
	return f, nil
}

// write appends to a file. What would be too much makes the oldest files leave first, those that are being written, too; they are begun again
// with what comes next.
func (a *Archive) write(f *file, data []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.gone {
		return nil
	}
	errs := a.makeRoom(int64(len(data)), f)
	if a.bytes+int64(len(data)) > a.maxBytes {
		return errors.Join(errs, fmt.Errorf("%d bytes at once are more than max_bytes lets the folder hold: %d", len(data), a.maxBytes))
	}
	n, err := f.out.Write(data)
	f.bytes += int64(n)
	a.bytes += int64(n)
	return errors.Join(errs, err)
}

// full reports whether the next file should be begun.
func (a *Archive) full(f *file) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return f.gone || f.bytes >= min(maxFile, a.maxBytes/8)
}

func (a *Archive) close(f *file) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.gone {
		return nil
	}
	out := f.out
	f.out = nil
	return out.Close()
}

// makeRoom removes the oldest files, but the one that is to be kept, until there is room for more.
func (a *Archive) makeRoom(more int64, keep *file) error {
	var errs []error
	for i := 0; a.bytes+more > a.maxBytes && i < len(a.files); {
		f := a.files[i]
		if f == keep {
			i++
			continue
		}
		if f.gone = true; f.out != nil {
			errs = append(errs, f.out.Close())
			f.out = nil
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
		a.bytes -= f.bytes
		a.files = slices.Delete(a.files, i, i+1)
	}
	return errors.Join(errs...)
}
