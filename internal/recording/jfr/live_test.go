// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

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

// TestChunkThatAJVMStillWrites follows the chunk in the repository of a JVM: what the JVM has flushed is there, and more comes.
func TestChunkThatAJVMStillWrites(t *testing.T) {
	t.Parallel()
	onEachJDK(t, func(t *testing.T, j jdk) {
		t.Helper()
		if j.major < 14 {
			return // it writes nothing that can be read before a chunk is complete, as TestKnownCounts reads it
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
			_, _ = stdin.Write([]byte("\n")) // it may have ended
			_ = jvm.Wait()                   // so that the folder can be removed
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
			if f == nil || f.Name() != newest { // a JVM that starts begins more than one
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
		}, 5*time.Minute, 50*time.Millisecond, "events come while the JVM runs")
		assert.Empty(t, c.problems)
		require.NoError(t, d.Close())
		assert.Empty(t, c.ends, "it goes on")
		assert.Len(t, c.of(0, jvmthread.KindSleepEnd), len(c.of(0, jvmthread.KindSleepStart)))

		require.NoError(t, jvm.Process.Kill())
		_ = jvm.Wait() // it was killed
		left := readFile(t, f.Name())
		assert.Len(t, left.sessions, 1, "what the JVM flushed is one chunk")
		assert.Empty(t, left.problems)
		assert.GreaterOrEqual(t, len(left.of(0, jvmthread.KindSleepEnd)), before, "what was there before it was killed is there afterwards")
	})
}

// newestChunk is the file to which a JVM writes; empty if it has not begun.
func newestChunk(repository string) string {
	files, _ := filepath.Glob(filepath.Join(repository, "*", "*.jfr"))
	if len(files) == 0 {
		return ""
	}
	return files[len(files)-1]
}
