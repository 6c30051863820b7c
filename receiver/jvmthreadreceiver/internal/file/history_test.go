// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"

	"github.com/weft-otel/weft/internal/threadtest/await"
)

// A compressed file is read once. A later file at its path is another recording, whether it was renamed over the old one or overwrote it.
func TestReplacementOfAFinishedFileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft.gz")
	session := func(id byte) []byte {
		return gzipped(t, bytes.Replace(native(t, recorded), []byte{0xa1, 0xb2}, []byte{id, 0xb2}, 1))
	}
	require.NoError(t, os.WriteFile(path, session(1), 0o600))
	sink := new(consumertest.TracesSink)
	r, _ := filesOf(t, nil, sink, componenttest.NewNopHost(), func(f *Config) { f.Include, f.Follow = []string{filepath.Dir(path) + "/*"}, true })
	read := func(times int) {
		t.Helper()
		await.Until(t, "all events are delivered", func() bool { return len(carried(t, sink.AllTraces())) == times*len(all) })
	}
	finished := func() (n int) {
		r.history.mu.Lock()
		defer r.history.mu.Unlock()
		return len(r.history.done)
	}
	read(1)
	require.NoError(t, os.WriteFile(path+".new", session(2), 0o600))
	read(2)
	await.Until(t, "files are remembered", func() bool { return finished() == 2 })
	require.NoError(t, os.Rename(path, path+".2"))
	require.NoError(t, os.Rename(path+".new", path))
	require.NoError(t, os.WriteFile(path+".3", session(3), 0o600))
	read(3)
	await.Until(t, "files are remembered", func() bool { return finished() == 3 })
	require.NoError(t, os.Rename(path+".3", path+".2"))
	require.NoError(t, os.WriteFile(path, session(4), 0o600))
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
	read(4)
	await.Until(t, "files are remembered", func() bool { return finished() == 2 })
	require.NoError(t, os.Remove(path+".2"))
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(2, 0)))
	require.NoError(t, os.Remove(path))
	await.Until(t, "files are remembered", func() bool { return finished() == 0 })
	r.stop()
	read(4)
}

// Files are identified by their heads, once they have one.
func TestInitiallyEmptyFileIsDistinguishedFromItsSuccessor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft.gz")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	sink := new(consumertest.TracesSink)
	r, _ := filesOf(t, nil, sink, componenttest.NewNopHost(), func(f *Config) { f.Include, f.Follow = []string{path}, true })
	state := func() (reading, done int) {
		r.history.mu.Lock()
		defer r.history.mu.Unlock()
		return len(r.history.reading), len(r.history.done)
	}
	await.Until(t, "the file is opened", func() bool { reading, _ := state(); return reading == 1 })
	for id := byte(1); id < 4; id++ {
		session := bytes.Replace(native(t, recorded), []byte{0xa1, 0xb2}, []byte{id, 0xb2}, 1)
		require.NoError(t, os.WriteFile(path, gzipped(t, session), 0o600))
		await.Until(t, "all events are delivered", func() bool { return len(carried(t, sink.AllTraces())) == int(id)*len(all) })
		await.Until(t, "the file is finished", func() bool { reading, done := state(); return reading == 0 && done > 0 })
	}
	r.stop()
}
