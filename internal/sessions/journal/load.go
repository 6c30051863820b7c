// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// Saved is a session of an earlier life.
type Saved struct {
	*Session

	ID       jvmthread.SessionID
	Resource pcommon.Resource
	Head     *Head
	Windows  []*Checkpoint
	Entries  []SavedEntry
	Waited   time.Duration // to be heard of again, in the lives since it was
}

// SavedEntry is an entry of an earlier life. Note must be called for each of its carriers.
type SavedEntry struct {
	Traces ptrace.Traces

	entry *Entry
}

// Note records what a carrier of the entry contains that arrives while the session awaits a batch.
func (e SavedEntry) Note(c *threadpdata.Carrier, awaits uint64) {
	s := e.entry.session
	s.mu.Lock()
	defer s.mu.Unlock()
	e.entry.note(c, awaits)
}

// Load returns the sessions of the earlier life. It drops what cannot be read, with a warning.
func (j *Journal) Load(ctx context.Context) (all []Saved) {
	data, err := j.client.Get(ctx, sessionsKey)
	if err != nil {
		j.log.Warn("Cannot read the journal; the open windows of the last run are lost, and new ones are not protected if this persists", zap.Error(err))
		return nil
	}
	list, err := decodeList(data)
	if err != nil {
		j.log.Warn("Cannot use the journal of the last run; its open windows are lost", zap.Error(err))
	}
	j.mu.Lock()
	j.listed = list
	j.ended, j.lost = j.loadEnded(ctx), j.loadLost(ctx)
	for _, l := range list {
		j.generation = max(j.generation, l.generation)
	}
	j.mu.Unlock()
	waited := j.waited(ctx)
	for _, l := range list {
		var s Saved
		var err error
		if p := failure.Contain(func() { s, err = j.load(ctx, l) }); p != nil {
			err = p
		}
		if err != nil {
			j.log.Warn("Cannot use the journal of a session; its open window is lost", zap.Stringer("session", l.id), zap.Error(err))
			_ = j.list(l, false) // logged
			continue
		}
		s.Waited = waited[l]
		all = append(all, s)
	}
	j.sweep(ctx)
	return slices.DeleteFunc(all, j.replaced(all))
}

// replaced reports whether a session has begun again before the end of its earlier generation was delivered.
func (j *Journal) replaced(all []Saved) func(Saved) bool {
	newest := make(map[jvmthread.SessionID]uint64)
	for _, s := range all {
		newest[s.ID] = max(newest[s.ID], s.generation)
	}
	return func(s Saved) bool {
		if s.generation == newest[s.ID] {
			return false
		}
		s.Remove(false)
		return true
	}
}

// holes is how many missing entries in a row end the search: those that were being written when the last life ended.
const holes = 64

func (j *Journal) load(ctx context.Context, l listed) (Saved, error) {
	data, err := j.client.Get(ctx, l.head())
	if err != nil {
		return Saved{}, err
	}
	head, err := decodeHead(data)
	if err != nil {
		return Saved{}, err
	}
	s := Saved{ID: l.id, Head: head, Session: &Session{journal: j, listed: l, resource: head.Resource, first: head.First, begun: true}}
	if s.Resource, err = decodeResource(head.Resource); err != nil {
		return Saved{}, err
	}
	for _, w := range head.Windows {
		checkpoint, err := decodeCheckpoint(w)
		if err != nil {
			return Saved{}, err
		}
		s.Windows = append(s.Windows, checkpoint)
	}
	head.Windows = nil
	s.swapHead(int64(len(data)))
	for number, missing := head.First, 0; missing < holes; number++ {
		data, err := j.client.Get(ctx, l.entry(number))
		if err != nil {
			return Saved{}, err
		}
		e := s.reserve(number)
		if len(data) == 0 {
			missing++
			continue
		}
		missing = 0
		var unmarshaler ptrace.ProtoUnmarshaler
		traces, err := unmarshaler.UnmarshalTraces(data)
		if err != nil {
			j.log.Warn("Cannot read an entry of the journal; its events are missing", zap.Stringer("session", l.id), zap.Error(err))
			continue
		}
		e.bytes = int64(len(data))
		j.bytes.Add(e.bytes)
		s.Entries = append(s.Entries, SavedEntry{traces, e})
	}
	s.entries = s.entries[:len(s.entries)-holes]
	return s, nil
}

// sweep deletes what belongs to no session, as far as the storage can list its keys.
func (j *Journal) sweep(ctx context.Context) {
	walker, ok := j.client.(storage.Walker)
	if !ok {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	known := make(map[string]bool)
	for _, l := range j.listed {
		known[strings.TrimSuffix(l.head(), "head")] = true
	}
	err := walker.Walk(ctx, func(key string, _ []byte) ([]*storage.Operation, error) {
		if prefix := key[:strings.LastIndexByte(key, '.')+1]; key == sessionsKey || key == endedKey || key == lostKey || key == waitsKey || known[prefix] {
			return nil, nil
		}
		return []*storage.Operation{storage.DeleteOperation(key)}, nil
	})
	if err != nil {
		j.log.Warn("Cannot delete remains of the journal", zap.Error(fmt.Errorf("storage: %w", err)))
	}
}
