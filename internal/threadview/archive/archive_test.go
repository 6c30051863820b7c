// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// keep writes a history to a store and an archive.
func keep(t *testing.T, a *Archive, st *store.Store, id jvmthread.SessionID, events []jvmthread.Event, reason string) {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	for range 100 {
		sym.InternClass("com.acme.C" + string(rune('a'+len(events)%26)))
	}
	meta := store.Meta{"service.name": "test"}
	s, w := st.Open(id, meta), a.Session(id, meta, sym)
	e := drive.New(config(), nil)
	e.Watch(func(events []jvmthread.Event) {
		s.Events(events, sym)
		require.NoError(t, w.Write(events))
	})
	yield := func(w *window.Window) { s.Append(w, sym) }
	for len(events) > 0 {
		n := min(len(events), 64)
		e.Batch(events[:n], 0, events[n-1].Time+1, yield)
		events = events[n:]
	}
	e.Close(jvmthread.NoTime, window.CutShutdown, yield)
	s.Close(window.CutShutdown)
	require.NoError(t, w.Close(reason, e.Now()))
}

func config() engine.Config {
	cfg := engine.DefaultConfig()
	cfg.Window = 700 * time.Nanosecond
	return cfg
}

func TestArchiveHoldsAllSessions(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	a, err := Open(folder, math.MaxInt64)
	require.NoError(t, err)
	want := store.New(math.MaxInt64, nil)
	for i := range 5 {
		keep(t, a, want, jvmthread.SessionID{0: 1, 15: byte(i)}, threadtest.Simulate(uint64(i), 8, 3, 2000).Events, []string{"", "exit"}[i%2])
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("not mine"), 0o600))

	a, err = Open(folder, math.MaxInt64)
	require.NoError(t, err)
	got := store.New(math.MaxInt64, nil)
	found, err := a.Restore(got, config())
	require.NoError(t, err)
	assert.Equal(t, 5, found.Sessions)
	assert.Zero(t, found.Problems)
	for _, w := range want.Sessions() {
		g := got.Session(w.ID)
		require.NotNil(t, g)
		s := g.Snapshot()
		assert.Equal(t, w.Counts, s.Counts)
		assert.Equal(t, w.Events, s.Events)
		assert.Equal(t, []any{w.Origin, w.To, w.Meta}, []any{s.Origin, s.To, s.Meta})
		for i := range w.Threads {
			th := s.Thread(w.Threads[i].ID)
			x, y := w.Walk(i, math.MinInt64, math.MaxInt64), s.Walk(th, math.MinInt64, math.MaxInt64)
			for x.Next() {
				require.True(t, y.Next())
				require.Equal(t, []any{x.Start, x.End, x.State, x.Marks}, []any{y.Start, y.End, y.State, y.Marks})
			}
			require.False(t, y.Next())
		}
	}
}

// Incidents are found again in the stored events, with all that the page filters by.
func TestIncidentsAreRestored(t *testing.T) {
	h, err := threadtest.Parse(`
0          A threadStart
0          B threadStart
0          C threadStart
10000000   B contendedEnter lock=Book owner=A
90000000   B contendedEntered lock=Book
1000000000 A notify lock=Queue
1010000000 C wait lock=Queue
2010000000 C waited lock=Queue timedOut
2020000000 C waitReturned lock=Queue
`)
	require.NoError(t, err)
	folder := t.TempDir()
	a, err := Open(folder, math.MaxInt64)
	require.NoError(t, err)
	id := jvmthread.SessionID{1}
	keep(t, a, store.New(math.MaxInt64, nil), id, h.Events, "exit")
	a, err = Open(folder, math.MaxInt64)
	require.NoError(t, err)
	got := store.New(math.MaxInt64, nil)
	cfg := config()
	cfg.Window = time.Second
	_, err = a.Restore(got, cfg)
	require.NoError(t, err)
	list := got.Session(id).Snapshot().Incidents
	require.Len(t, list, 2)
	list = slices.SortedFunc(slices.Values(list), func(a, b *store.Incident) int { return int(a.Start - b.Start) })
	assert.Equal(t, store.KindContention, list[0].Kind)
	assert.Equal(t, []jvmthread.ThreadID{h.Thread("A"), h.Thread("B")}, list[0].Cast)
	assert.Equal(t, store.KindLostNotify, list[1].Kind)
	assert.Equal(t, []jvmthread.ThreadID{h.Thread("A"), h.Thread("C")}, list[1].Cast)
	assert.Contains(t, list[1].Text, "called notify on an unknown object while no thread waited")
}

// A file truncated by a crash is read up to its last complete frame; an unreadable file does not affect the others.
func TestBrokenFiles(t *testing.T) {
	folder := t.TempDir()
	a, err := Open(folder, math.MaxInt64)
	require.NoError(t, err)
	ignored := store.New(math.MaxInt64, nil)
	for i := range 3 {
		keep(t, a, ignored, jvmthread.SessionID{0: 1, 15: byte(i)}, threadtest.Simulate(uint64(i), 8, 3, 2000).Events, "exit")
	}
	cut := a.files[0]
	require.NoError(t, os.Truncate(cut.path, cut.bytes/2))
	require.NoError(t, os.WriteFile(a.files[1].path, []byte("not a valid archive file"), 0o600))
	got := store.New(math.MaxInt64, nil)
	found, _ := a.Restore(got, config())
	assert.Equal(t, 2, found.Sessions)
	whole := ignored.Session(jvmthread.SessionID{0: 1, 15: 0}).Snapshot().Events
	half := got.Session(jvmthread.SessionID{0: 1, 15: 0}).Snapshot().Events
	assert.Greater(t, half, whole/4)
	assert.Less(t, half, whole)
}

func TestOldestFilesAreEvicted(t *testing.T) {
	folder := t.TempDir()
	a, err := Open(folder, 150_000)
	require.NoError(t, err)
	ignored := store.New(math.MaxInt64, nil)
	for i := range 8 {
		keep(t, a, ignored, jvmthread.SessionID{0: 1, 15: byte(i)}, threadtest.Simulate(uint64(i), 8, 3, 4000).Events, "exit")
	}
	assert.LessOrEqual(t, a.bytes, int64(150_000))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var sum int64
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		sum += info.Size()
	}
	assert.Equal(t, a.bytes, sum)
	assert.Contains(t, entries[len(entries)-1].Name(), jvmthread.SessionID{0: 1, 15: 7}.String())
}

// While a noisy session floods the directory, a quiet one keeps its files.
func TestQuietSessionsKeepTheirFiles(t *testing.T) {
	a, err := Open(t.TempDir(), 200_000)
	require.NoError(t, err)
	ignored := store.New(math.MaxInt64, nil)
	quiet, noisy := jvmthread.SessionID{0: 1, 15: 1}, jvmthread.SessionID{0: 1, 15: 2}
	keep(t, a, ignored, quiet, threadtest.Simulate(1, 8, 3, 1000).Events, "exit")
	before := a.files[0].bytes
	require.Positive(t, before)
	for seed := range uint64(8) {
		keep(t, a, ignored, noisy, threadtest.Simulate(seed, 8, 3, 8000).Events, "")
	}
	assert.LessOrEqual(t, a.bytes, int64(200_000))
	assert.Equal(t, quiet.String(), a.files[0].session)
	assert.Equal(t, before, a.files[0].bytes)
}

// Open files count, too: the directory stays within its limit for any number of concurrent sessions.
func TestLimitIncludesLiveSessions(t *testing.T) {
	const limit = 100_000
	folder := t.TempDir()
	a, err := Open(folder, limit)
	require.NoError(t, err)
	sym := symbols.New(symbols.DefaultLimits())
	for range 100 {
		sym.InternClass("com.acme.Lock")
	}
	events := threadtest.Simulate(1, 8, 3, 4000).Events
	writers := make([]*Writer, 8)
	for i := range writers {
		writers[i] = a.Session(jvmthread.SessionID{0: 1, 15: byte(i)}, nil, sym)
	}
	size := func() (sum int64) {
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		for _, e := range entries {
			info, err := e.Info()
			require.NoError(t, err)
			sum += info.Size()
		}
		return sum
	}
	for part := range slices.Chunk(events, 64) {
		for _, w := range writers {
			require.NoError(t, w.Write(part))
			require.LessOrEqual(t, size(), int64(limit))
		}
	}
	for _, w := range writers {
		require.NoError(t, w.Close("exit", events[len(events)-1].Time))
	}
	assert.LessOrEqual(t, size(), int64(limit))
	assert.Equal(t, a.bytes, size())
	assert.Greater(t, size(), int64(limit/2), "files that fit are kept")

	// Restarted files can be read on their own, up to the last event.
	a, err = Open(folder, limit)
	require.NoError(t, err)
	got := store.New(math.MaxInt64, nil)
	found, err := a.Restore(got, config())
	require.NoError(t, err)
	assert.Zero(t, found.Problems)
	assert.Equal(t, len(writers), found.Sessions)
	for _, s := range got.Sessions() {
		assert.Equal(t, events[len(events)-1].Time, s.To)
	}
}

func TestUnusableDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := Open(path, 1<<20)
	assert.ErrorContains(t, err, "cannot create the directory")
}
