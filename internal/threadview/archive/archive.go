// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package archive answers: how do sessions survive a restart? It writes their events into a directory, as native recordings of some megabytes
// each, and restores them into a store. When the directory is full, whole files are removed: the oldest of the session with the most bytes.
//
// Each file is a recording of its own. Events are written before the sender gets its acknowledgment. They survive a crash of the process, but
// are not synced to disk.
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

	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Archive is a directory of recordings. It may be used concurrently.
type Archive struct {
	dir      string
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
	out     *os.File // nil: closed
	gone    bool     // it was removed
}

// A file grows to an eighth of the directory's limit, and at most to maxFile, so that a small part is removed at a time.
const maxFile = 8 << 20

var fileName = regexp.MustCompile(`^([0-9a-f]{32})-(\d{12})\.weft$`)

// Open opens a directory, and creates it if necessary. The sessions in it have at most maxBytes together.
func Open(dir string, maxBytes int64) (*Archive, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the directory for sessions: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the directory for sessions: %w", err)
	}
	a := &Archive{dir: dir, maxBytes: maxBytes}
	for _, entry := range entries {
		parts := fileName.FindStringSubmatch(entry.Name())
		if parts == nil || !entry.Type().IsRegular() {
			continue // not a recording of this archive
		}
		info, err := entry.Info()
		if err != nil {
			continue // it was just removed
		}
		number, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil {
			continue
		}
		a.files = append(a.files, &file{path: filepath.Join(dir, entry.Name()), session: parts[1], number: number, bytes: info.Size()})
		a.bytes += info.Size()
		a.last = max(a.last, number)
	}
	slices.SortFunc(a.files, func(x, y *file) int { return cmp.Compare(x.number, y.number) })
	err = a.makeRoom(0, nil)
	return a, err
}

// create starts a file of a session.
func (a *Archive) create(session jvmthread.SessionID) (*file, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	f := &file{session: session.String(), number: a.last}
	f.path = filepath.Join(a.dir, fmt.Sprintf("%s-%012d.weft", f.session, f.number))
	var err error
	if f.out, err = os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	a.files = append(a.files, f)
	return f, nil
}

// write appends to a file. If the directory is full, files are removed, even if they are being written; their sessions continue in new files.
func (a *Archive) write(f *file, data []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.gone {
		return nil
	}
	errs := a.makeRoom(int64(len(data)), f)
	if a.bytes+int64(len(data)) > a.maxBytes {
		return errors.Join(errs, fmt.Errorf("a write of %d bytes exceeds max_bytes: %d", len(data), a.maxBytes))
	}
	n, err := f.out.Write(data)
	f.bytes += int64(n)
	a.bytes += int64(n)
	return errors.Join(errs, err)
}

// full reports whether to start the next file.
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

// failedName is the name of the last file whose restoration panicked. It is not restored again.
const failedName = "failed.weft"

// setAside keeps a file for a report of the panic that it causes, instead of the one before it.
func (a *Archive) setAside(f *file, p *failure.Panic) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = slices.DeleteFunc(a.files, func(other *file) bool { return other == f })
	a.bytes -= f.bytes
	f.gone = true
	kept := filepath.Join(a.dir, failedName)
	if err := os.Rename(f.path, kept); err != nil {
		return errors.Join(p, err)
	}
	return fmt.Errorf("%s: a defect in Weft; please report it with the file, which is now %s: %w", f.path, kept, p)
}

// makeRoom removes files, except one, until there is room for more.
func (a *Archive) makeRoom(more int64, keep *file) error {
	var errs []error
	for a.bytes+more > a.maxBytes {
		i := a.victim(keep)
		if i < 0 {
			break
		}
		f := a.files[i]
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

// smallest is the part of the directory, as a divisor, down to which a session keeps its files, as in the store.
const smallest = 32

// victim returns the index of the file to remove, or -1 if there is only one to keep: the oldest of the session with the most bytes, or of all
// if each session has little.
func (a *Archive) victim(keep *file) int {
	sizes := make(map[string]int64)
	var most int64
	for _, f := range a.files {
		if f != keep {
			sizes[f.session] += f.bytes
			most = max(most, sizes[f.session])
		}
	}
	return slices.IndexFunc(a.files, func(f *file) bool {
		return f != keep && (most < a.maxBytes/smallest || sizes[f.session] == most)
	})
}
