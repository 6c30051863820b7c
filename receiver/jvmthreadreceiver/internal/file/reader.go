// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package file answers: what do recordings contain? It finds files, follows those that grow, and delivers the batches that decoders find in
// them.
package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// Reader finds recordings and reads each in a goroutine of its own.
type Reader struct {
	cfg     *Config
	out     *outlet.Outlet
	storage storage.Client
	history *history
	slots   slots
}

// New returns a reader that has found no files yet.
func New(cfg *Config, out *outlet.Outlet) *Reader {
	limit := 0
	if cfg.Follow {
		limit = maxFollowed
	}
	return &Reader{cfg: cfg, out: out, storage: storage.NewNopClient(), history: newHistory(limit, out.Log), slots: make(slots, cfg.MaxFiles)}
}

var errNoStorage = errors.New("not a storage extension of this collector; add one to service::extensions")

// OpenStorage opens the storage of the receiver with the given ID. CloseStorage must be called afterwards.
func (r *Reader) OpenStorage(ctx context.Context, host component.Host, id component.ID) error {
	if r.cfg.Storage == nil {
		return nil
	}
	extension, ok := host.GetExtensions()[*r.cfg.Storage].(storage.Extension)
	if !ok {
		return fmt.Errorf("protocols::file::storage: %s: %w", r.cfg.Storage, errNoStorage)
	}
	client, err := extension.GetClient(ctx, component.KindReceiver, id, "files")
	if err != nil {
		return fmt.Errorf("protocols::file::storage: %w", err)
	}
	r.storage = client
	return nil
}

// CloseStorage closes the storage, if there is one.
func (r *Reader) CloseStorage(ctx context.Context) error { return r.storage.Close(ctx) }

// Run looks for files, repeatedly if they are followed. It returns when all of them are read or ctx ends.
func (r *Reader) Run(ctx context.Context) {
	var readers sync.WaitGroup
	defer readers.Wait()
	for {
		found := r.find()
		for _, path := range r.history.fresh(found) {
			readers.Go(func() { r.read(ctx, path) })
		}
		if !r.cfg.Follow {
			if len(found) == 0 {
				r.out.Log.Warn("No file matches protocols::file::include", zap.Strings("include", r.cfg.Include))
			}
			readers.Wait()
			r.out.Log.Info("Finished all recordings", zap.Int("files", len(found)))
			return
		}
		if !outlet.Pause(ctx, r.cfg.PollInterval) {
			return
		}
	}
}

// read reads the file at a path, and those that replace it meanwhile.
func (r *Reader) read(ctx context.Context, path string) {
	if !r.slots.enter(ctx) {
		return
	}
	defer r.slots.leave()
	for again := true; again; { // at once, before a replacement is rotated as well
		f := &recordingFile{
			path: path, cfg: r.cfg, out: r.out, slots: r.slots, storage: r.storage, log: r.out.Log.With(zap.String("file", path)),
		}
		f.read(ctx)
		again = r.cfg.Follow && f.gone && ctx.Err() == nil && exists(path)
		r.history.finish(path, f.info, f.mark.Head, again)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// find returns the paths of the matching files, sorted.
func (r *Reader) find() (list []string) {
	for _, pattern := range r.cfg.Include {
		matches, err := doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
		if err != nil {
			r.out.Log.Warn("Cannot search for files", zap.String("pattern", pattern), zap.Error(err))
			continue
		}
		for _, path := range matches {
			if !r.excluded(path) {
				list = append(list, path)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (r *Reader) excluded(path string) bool {
	switch filepath.Ext(path) {
	case ".method", ".classtable", ".meta": // accompany an .orca file
		return true
	}
	return slices.ContainsFunc(r.cfg.Exclude, func(pattern string) bool {
		matches, _ := doublestar.PathMatch(pattern, path) // Check has validated the pattern
		return matches
	})
}
