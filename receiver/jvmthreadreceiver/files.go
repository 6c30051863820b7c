// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// files finds recordings, and reads each in a goroutine of its own.
type files struct {
	receiver *threadReceiver
	id       component.ID
	cfg      *File
	log      *zap.Logger
	storage  storage.Client // nil: nothing is remembered

	mu      sync.Mutex
	reading map[string]struct{} // paths
	done    []*finished
	full    bool          // more were found than can be followed, which was told
	places  chan struct{} // of files that are read at one time
}

// maxFollowed bounds the files that are followed. Those of which nothing new comes take a file descriptor and little memory.
const maxFollowed = 1024

func newFiles(r *threadReceiver, id component.ID, cfg *File) *files {
	return &files{
		receiver: r, id: id, cfg: cfg, log: r.log, reading: make(map[string]struct{}), places: make(chan struct{}, cfg.MaxFiles),
	}
}

// openStorage finds the storage.
func (f *files) openStorage(ctx context.Context, host component.Host) error {
	if f.cfg.Storage == nil {
		return nil
	}
	extension, ok := host.GetExtensions()[*f.cfg.Storage].(storage.Extension)
	if !ok {
		return fmt.Errorf("protocols::file::storage: %s: %w", f.cfg.Storage, errNoStorage)
	}
	client, err := extension.GetClient(ctx, component.KindReceiver, f.id, "files")
	if err != nil {
		return fmt.Errorf("protocols::file::storage: %w", err)
	}
	f.storage = client
	return nil
}

// closeStorage closes the storage if there is one.
func (f *files) closeStorage(ctx context.Context) error {
	if f == nil || f.storage == nil {
		return nil
	}
	return f.storage.Close(ctx)
}

// run looks for files: once, or again and again if they are followed. It returns when all of them are read, or the context ends.
func (f *files) run(ctx context.Context) {
	var readers sync.WaitGroup
	defer readers.Wait()
	for {
		found := f.find()
		for _, path := range f.fresh(found) {
			readers.Go(func() { f.read(ctx, path) })
		}
		if !f.cfg.Follow {
			if len(found) == 0 {
				f.log.Warn("No file matches protocols::file::include", zap.Strings("include", f.cfg.Include))
			}
			readers.Wait()
			f.log.Info("All recordings are read", zap.Int("files", len(found)))
			return
		}
		if !pause(ctx, f.cfg.PollInterval) {
			return
		}
	}
}

// read reads the file at a path, and any that takes its place while it is read.
func (f *files) read(ctx context.Context, path string) {
	if !f.enter(ctx) {
		return
	}
	defer f.leave()
	for again := true; again; { // at once, before one that took its place is rotated as well
		file := &recordingFile{files: f, path: path, log: f.log.With(zap.String("file", path))}
		file.read(ctx)
		again = f.cfg.Follow && file.over && ctx.Err() == nil && !gone(path)
		f.finish(file, again)
	}
}

// claim reports whether a file may be read now.
func (f *files) claim(path string) bool {
	if f.cfg.Follow && len(f.reading) >= maxFollowed {
		if !f.full {
			f.log.Warn("There are more files than can be followed; others are read when some of them are removed",
				zap.Int("followed", maxFollowed), zap.String("first_that_waits", path))
		}
		f.full = true
		return false
	}
	f.reading[path] = struct{}{}
	return true
}

// enter takes a place among the files that are read at one time. It reports false if the context ends before.
func (f *files) enter(ctx context.Context) bool {
	select {
	case f.places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave gives the place to another file. At shutdown there may be none to give.
func (f *files) leave() {
	select {
	case <-f.places:
	default:
	}
}

func gone(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// find returns the files that match, in order.
func (f *files) find() (list []string) {
	for _, pattern := range f.cfg.Include {
		matches, err := doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
		if err != nil {
			f.log.Warn("Cannot look for files", zap.String("pattern", pattern), zap.Error(err))
			continue
		}
		for _, path := range matches {
			if !f.excluded(path) {
				list = append(list, path)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (f *files) excluded(path string) bool {
	if filepath.Ext(path) == ".method" || filepath.Ext(path) == ".classtable" || filepath.Ext(path) == ".meta" {
		return true // belongs to an .orca beside it
	}
	for _, pattern := range f.cfg.Exclude {
		if ok, _ := doublestar.PathMatch(pattern, path); ok { // Validate has seen to the pattern
			return true
		}
	}
	return false
}
