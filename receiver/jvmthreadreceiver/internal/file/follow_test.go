// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadtest/await"
)

// A program that writes a new recording next to the old one and renames it never leaves the path empty.
func TestFileIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft")
	first := native(t, recorded)
	require.NoError(t, os.WriteFile(path, first, 0o600))
	sink := new(consumertest.TracesSink)
	r, _ := filesOf(t, nil, sink, componenttest.NewNopHost(), func(f *Config) { f.Include, f.Follow = []string{path}, true })
	await.Until(t, "all events are delivered", func() bool { return len(carried(t, sink.AllTraces())) == len(all) })
	require.NoError(t, os.WriteFile(path+".new", bytes.Replace(first, []byte{0xa1, 0xb2}, []byte{0xa2, 0xb2}, 1), 0o600))
	require.NoError(t, os.Rename(path+".new", path))
	await.Until(t, "all events are delivered", func() bool { return len(carried(t, sink.AllTraces())) == 2*len(all) })
	r.stop()
	assert.Equal(t, append(slices.Clone(all), all...), carried(t, sink.AllTraces()))
}

// busy is a decoder whose flush has a side effect.
type busy struct {
	recording.Decoder

	got   bytes.Buffer
	flush func()
}

func (*busy) Stats() recording.Stats { return recording.Stats{} }

func (b *busy) Write(p []byte) (int, error) { return b.got.Write(p) }

func (b *busy) Flush() error {
	b.flush()
	return nil
}

// The data is written between the last read of the file and the check of its path.
func TestDataWrittenBeforeRotationIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.orca")
	writer, err := os.Create(path)
	require.NoError(t, err)
	defer func() { _ = writer.Close() }()
	write := func(line string) {
		_, err := writer.WriteString(line)
		require.NoError(t, err)
	}
	write("first\n")
	decoder := &busy{flush: sync.OnceFunc(func() {
		write("last\n")
		require.NoError(t, os.Rename(path, path+".1"))
	})}
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	f := &recordingFile{path: path, file: file, cfg: &Config{PollInterval: time.Millisecond}, slots: make(slots, 1)}
	require.ErrorIs(t, f.follow(t.Context(), decoder, func() {}), errGone)
	assert.Equal(t, "first\nlast\n", decoder.got.String())
}

// chunked is a decoder that knows when a file is complete.
type chunked struct{ busy }

func (c *chunked) Survey(_ io.ReaderAt, size int64) (readable int64, live, whole bool) {
	whole = c.got.Len() > 0
	return size, !whole, whole
}

// A JVM keeps many chunks, and the number of files read concurrently is limited.
func TestCompleteChunksAreNotFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jfr")
	require.NoError(t, os.WriteFile(path, []byte("a chunk"), 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	decoder := &chunked{busy{flush: func() {}}}
	f := &recordingFile{path: path, file: file, cfg: &Config{PollInterval: time.Hour}, slots: make(slots, 1)}
	require.NoError(t, f.follow(t.Context(), decoder, func() {}))
	assert.Equal(t, "a chunk", decoder.got.String())
}

// Compressing a rotated recording takes some time.
func TestCompressedFileIsReadWhenComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft.gz")
	data := gzipped(t, native(t, recorded))
	half := len(data) / 2
	require.NoError(t, os.WriteFile(path, data[:half], 0o600))
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		r, log := filesOf(t, nil, sink, componenttest.NewNopHost(), func(f *Config) {
			f.Include, f.Follow, f.PollInterval = []string{path}, true, time.Hour
		})
		time.Sleep(30 * time.Minute)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		for log.FilterMessage("Finished a recording").Len() == 0 && log.FilterMessage("Cannot read a recording").Len() == 0 {
			time.Sleep(time.Minute)
		}
		assert.Equal(t, all, carried(t, sink.AllTraces()))
		r.stop()
	})
}

// Recordings of JVMs that have exited stay in the folder.
func TestFilesThatDoNotGrowFreeTheirSlots(t *testing.T) {
	dir := t.TempDir()
	data := native(t, recorded)
	const files = 5
	for i := range files {
		other := bytes.Replace(data, []byte{0xa1, 0xb2}, []byte{0xa1 + byte(i), 0xb2}, 1)
		require.NoError(t, os.WriteFile(filepath.Join(dir, string(rune('a'+i))+".weft"), other, 0o600))
	}
	sink := new(consumertest.TracesSink)
	r, _ := filesOf(t, nil, sink, componenttest.NewNopHost(), func(f *Config) {
		f.Include, f.Follow, f.MaxFiles = []string{filepath.Join(dir, "*.weft")}, true, 1
	})
	await.Until(t, "all events are delivered", func() bool { return len(carried(t, sink.AllTraces())) == files*len(all) })
	r.stop()
}

func TestFollowedFilesAreLimited(t *testing.T) {
	observed, log := observer.New(zapcore.WarnLevel)
	f := newHistory(maxFollowed, zap.New(observed))
	for i := range maxFollowed {
		require.True(t, f.claim(strconv.Itoa(i)))
	}
	assert.False(t, f.claim("x"))
	assert.False(t, f.claim("y"))
	assert.Equal(t, 1, log.Len())
	delete(f.reading, "0")
	assert.True(t, f.claim("x"))
}
