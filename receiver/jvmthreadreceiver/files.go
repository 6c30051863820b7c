// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	reading map[string]struct{} // paths that are, or were if they are read once
	places  chan struct{}       // of files that are read at one time
}

func newFiles(r *threadReceiver, id component.ID, cfg *File) *files {
	return &files{
		receiver: r, id: id, cfg: cfg, log: r.log, reading: make(map[string]struct{}), places: make(chan struct{}, cfg.MaxFiles),
	}
}

// open finds the storage.
func (f *files) open(ctx context.Context, host component.Host) error {
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

// run looks for files: once, or again and again if they are followed. It returns when all of them are read, or the context ends.
func (f *files) run(ctx context.Context) {
	var readers sync.WaitGroup
	defer readers.Wait()
	for {
		found := f.find()
		for _, path := range found {
			f.start(ctx, path, &readers)
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

// start reads a file unless it is being read.
func (f *files) start(ctx context.Context, path string, readers *sync.WaitGroup) {
	f.mu.Lock()
	_, known := f.reading[path]
	f.reading[path] = struct{}{}
	f.mu.Unlock()
	if known {
		return
	}
	readers.Go(func() {
		select {
		case f.places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-f.places }()
		for again := true; again; { // at once, before one that took its place is rotated as well
			file := &recordingFile{files: f, path: path, log: f.log.With(zap.String("file", path))}
			file.read(ctx)
			again = f.cfg.Follow && file.over && ctx.Err() == nil && !gone(path)
		}
		if f.cfg.Follow && gone(path) { // another may come
			f.mu.Lock()
			delete(f.reading, path)
			f.mu.Unlock()
		}
	})
}

func gone(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// find returns the files that match, in the order of their names.
func (f *files) find() (list []string) {
	seen := make(map[string]struct{})
	for _, pattern := range f.cfg.Include {
		matches, err := doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
		if err != nil {
			f.log.Warn("Cannot look for files", zap.String("pattern", pattern), zap.Error(err))
			continue
		}
		for _, path := range matches {
			if _, again := seen[path]; !again && !f.excluded(path) {
				seen[path] = struct{}{}
				list = append(list, path)
			}
		}
	}
	return list
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

// mark is what is remembered of a file: which one it is, by how it begins, and how many of its events were handed on.
type mark struct {
	Head   string `json:"head"`   // hexadecimal; as much as was there, and at most markSize
	Seed   string `json:"seed"`   // the head when it was first read: the ids of sessions are made of it
	Events uint64 `json:"events"` // handed on; an aggregate and the end of a session count as one each
	Batch  uint64 `json:"batch"`  // the last of the session at hand
	Before uint64 `json:"before"` // events in all batches up to that one
	Size   int64  `json:"size"`   // when it was read to its end
	Done   bool   `json:"done"`
}

func (m *mark) seed() []byte {
	b, _ := hex.DecodeString(m.Seed) // it was encoded here
	return b
}

// markSize is how much of the head of a file tells it from others.
const markSize = 256

// recall finds out what was remembered of the file; errDone says that all of it was read.
func (f *recordingFile) recall(ctx context.Context) error {
	head, err := f.head()
	if err != nil {
		return err
	}
	f.mark.Head, f.mark.Seed = head, head
	if f.files.storage == nil {
		return nil
	}
	data, err := f.files.storage.Get(ctx, f.path)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	var before mark
	if json.Unmarshal(data, &before) != nil || before.Head == "" || !strings.HasPrefix(head, before.Head) {
		return nil // nothing, or of another file
	}
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if before.Done && before.Size == info.Size() {
		return errDone
	}
	f.mark = before
	return nil
}

// head returns how the file begins, in hexadecimal.
func (f *recordingFile) head() (string, error) {
	head := make([]byte, markSize)
	n, err := f.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return hex.EncodeToString(head[:n]), nil
}

// remember notes how far the file was read. That it cannot is told: after a restart events may come twice.
func (f *recordingFile) remember(ctx context.Context, done bool) {
	if f.files.storage == nil {
		return
	}
	f.mark.Done = done
	if len(f.mark.Head) < hex.EncodedLen(markSize) { // it was short, and may have grown
		if head, err := f.head(); err == nil {
			f.mark.Head = head
		}
	}
	if r := f.replay; r.seen >= f.mark.Events {
		f.mark.Events = r.seen
		if r.session != nil {
			f.mark.Batch, f.mark.Before = r.session.last, r.session.before
		}
	}
	if info, err := f.file.Stat(); err == nil {
		f.mark.Size = info.Size()
	}
	data, err := json.Marshal(&f.mark)
	if err == nil {
		err = f.files.storage.Set(ctx, f.path, data)
	}
	if err != nil {
		f.log.Warn("Cannot remember how far a recording was read", zap.Error(err))
	}
}
