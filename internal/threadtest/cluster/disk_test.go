// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// disk is what survives the lives of a collector: a file for each component that stores something. Transactions are atomic, as those of
// file_storage are.
type disk struct {
	mu    sync.Mutex
	files map[string]map[string][]byte
}

func newDisk() *disk { return &disk{files: make(map[string]map[string][]byte)} }

// fork returns the disk of a collector that is dead but does not know it.
func (d *disk) fork() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	other := newDisk()
	for name, file := range d.files {
		other.files[name] = maps.Clone(file)
	}
	return other
}

// store is the storage extension of one life.
type store struct {
	component.StartFunc
	component.ShutdownFunc

	life *life
	mu   sync.Mutex
	disk *disk
	gone atomic.Int32 // requests that a queue has deleted, and not written again yet
}

var storageID = component.MustNewID("file_storage")

// GetClient implements storage.Extension.
func (s *store) GetClient(_ context.Context, kind component.Kind, id component.ID, name string) (storage.Client, error) {
	return &client{store: s, file: kind.String() + " " + id.String() + " " + name}, nil
}

// leave separates the life from the disk.
func (s *store) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disk = s.disk.fork()
}

func (s *store) now() *disk {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.disk
}

// client is a component's file. The collector may die before and after each transaction that writes.
type client struct {
	store *store
	file  string
}

// Batch implements storage.Client.
func (c *client) Batch(_ context.Context, ops ...*storage.Operation) error {
	writes := slices.ContainsFunc(ops, func(op *storage.Operation) bool { return op.Type != storage.Get })
	if writes {
		c.store.life.cross()
		defer c.store.life.cross()
	}
	c.note(ops)
	d := c.store.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	file := d.files[c.file]
	if file == nil {
		file = make(map[string][]byte)
		d.files[c.file] = file
	}
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			op.Value = file[op.Key]
		case storage.Set:
			file[op.Key] = slices.Clone(op.Value)
		case storage.Delete:
			delete(file, op.Key)
		}
	}
	return nil
}

// note knows the one transaction after which a crash loses something: when it starts, a queue on disk deletes the requests that were being sent,
// and then writes them to its end.
func (c *client) note(ops []*storage.Operation) {
	other := func(op *storage.Operation) bool {
		return op.Type != storage.Delete || op.Key[0] < '0' || op.Key[0] > '9'
	}
	switch {
	case !strings.HasPrefix(c.file, component.KindExporter.String()):
	case !slices.ContainsFunc(ops, other):
		c.store.gone.Store(int32(len(ops)))
	case c.store.gone.Load() > 0 && ops[0].Type == storage.Set:
		c.store.gone.Add(-1)
	}
}

// Get implements storage.Client.
func (c *client) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := c.Batch(ctx, op)
	return op.Value, err
}

// Set implements storage.Client.
func (c *client) Set(ctx context.Context, key string, value []byte) error {
	return c.Batch(ctx, storage.SetOperation(key, value))
}

// Delete implements storage.Client.
func (c *client) Delete(ctx context.Context, key string) error {
	return c.Batch(ctx, storage.DeleteOperation(key))
}

// Close implements storage.Client.
func (*client) Close(context.Context) error { return nil }
