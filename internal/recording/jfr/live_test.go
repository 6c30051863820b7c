// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package jfr

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// TestChunkBeingWritten follows a chunk in the repository of a running JVM, which flushes events repeatedly.
func TestChunkBeingWritten(t *testing.T) {
	t.Parallel()
	onEachJDK(t, func(t *testing.T, j jdk) {
		t.Helper()
		if j.major < 14 {
			return // incomplete chunks are not readable; TestKnownCounts covers complete ones
		}
		dir := t.TempDir()
		settings := filepath.Join(dir, "sleeps.jfc")
		require.NoError(t, os.WriteFile(settings, []byte(`<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0">
<event name="jdk.ThreadSleep"><setting name="enabled">true</setting><setting name="threshold">0 ns</setting></event></configuration>`), 0o600))
		jvm := j.java("-XX:FlightRecorderOptions=repository="+dir, "-XX:StartFlightRecording=settings="+settings, "Sleeper")
		stdin, err := jvm.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, jvm.Start())
		t.Cleanup(func() {
			_, _ = stdin.Write([]byte("\n")) // it may have exited
			_ = jvm.Wait()                   // before the folder is removed
		})
		var f *os.File
		var c *collector
		var d *Decoder
		flushes, before, offset := 0, 0, int64(0)
		require.Eventually(t, func() bool {
			newest := newestChunk(dir)
			if newest == "" {
				return false
			}
			if f == nil || f.Name() != newest { // a JVM starts more than one during startup
				var err error
				f, err = os.Open(newest)
				require.NoError(t, err)
				t.Cleanup(func() { _ = f.Close() })
				c = newCollector(t)
				d = NewDecoder(recording.Options{File: newest, Symbols: c.symbols}, c)
				flushes, before, offset = 0, 0, 0
			}
			info, err := f.Stat()
			require.NoError(t, err)
			readable, _, _ := d.Survey(f, info.Size())
			n, err := io.Copy(struct{ io.Writer }{d}, io.NewSectionReader(f, offset, max(0, readable-offset)))
			require.NoError(t, err)
			offset += n
			require.NoError(t, d.Flush())
			if have := len(c.of(0, jvmthread.KindSleepStart)); have > before {
				flushes, before = flushes+1, have
			}
			return flushes >= 3
		}, 5*time.Minute, 50*time.Millisecond, "events arrive while the JVM runs")
		assert.Empty(t, c.problems)
		require.NoError(t, d.Close())
		assert.Empty(t, c.ends, "the JVM is still running")
		assert.Len(t, c.of(0, jvmthread.KindSleepEnd), len(c.of(0, jvmthread.KindSleepStart)))

		require.NoError(t, jvm.Process.Kill())
		_ = jvm.Wait() // fails, because it was killed
		left := readFile(t, f.Name())
		assert.Len(t, left.sessions, 1, "the flushed data forms one chunk")
		assert.Empty(t, left.problems)
		assert.GreaterOrEqual(t, len(left.of(0, jvmthread.KindSleepEnd)), before, "events flushed before the kill are preserved")
	})
}

// newestChunk returns the file to which a JVM is writing, or "" if there is none yet.
func newestChunk(repository string) string {
	files, _ := filepath.Glob(filepath.Join(repository, "*", "*.jfr"))
	if len(files) == 0 {
		return ""
	}
	return files[len(files)-1]
}
