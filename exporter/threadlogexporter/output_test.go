// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/exporter/exportertest"

	"github.com/weft-otel/weft/exporter/threadlogexporter/internal/metadata"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// Full files are replaced between two records; together they are the recording.
func TestRotation(t *testing.T) {
	for _, compression := range []string{"none", "zstd"} {
		for _, name := range writable() {
			format := find(t, name)
			if format.Name == "triples" {
				continue // too short to fill a file
			}
			t.Run(format.Name+" "+compression, func(t *testing.T) {
				r := start(t, func(c *Config) {
					c.Format, c.Rotation.MaxMegabytes, c.Rotation.MaxBackups, c.Rotation.Compression = format.Name, 1, 0, compression
				})
				events, sym := threadtest.Recorded(5, 8, 4, 200_000)
				r.record(t, one, events, sym, threadpdata.EndExit)
				r.stop(t)
				base := "orders_eu-" + one.String() + format.Extension
				var parts []string
				for _, name := range r.files(t) {
					if strings.HasPrefix(name, base+"-") {
						assert.Equal(t, compression == "zstd", strings.HasSuffix(name, "-size.zst"), name)
						parts = append(parts, name)
					}
				}
				require.NotEmpty(t, parts)
				r.metric(t, "rotations", int64(len(parts)))
				slices.Sort(parts)
				got := read(t, format, r.dir, append(parts, base)...)
				assert.Equal(t, want(t, format, events, sym), got)
			})
		}
	}
}

// Files of one session may be read concurrently: the first has the ID of the session, the others have IDs of their own.
func TestFilesOfANativeRecordingAreSeparateSessions(t *testing.T) {
	format := find(t, "native")
	ids := make(map[jvmthread.SessionID]string)
	dir := ""
	for range 2 {
		r := start(t, func(c *Config) {
			c.Format, c.Rotation.MaxMegabytes, c.Rotation.MaxBackups = format.Name, 1, 0
			if dir != "" {
				c.Directory = dir
			}
		})
		dir = r.dir
		events, sym := threadtest.Recorded(5, 8, 4, 200_000)
		r.record(t, one, events, sym, threadpdata.EndExit)
		r.stop(t)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		c, stats, err := threadtest.Decode(&format, recording.Options{}, data, 0)
		threadtest.CheckDecoded(t, e.Name(), c, stats, err)
		require.Len(t, c.Sessions, 1, e.Name())
		assert.Empty(t, ids[c.Sessions[0].ID], "%s has the session ID of another file", e.Name())
		ids[c.Sessions[0].ID] = e.Name()
	}
	assert.Greater(t, len(ids), 3)
	assert.Contains(t, ids[one], "-size", "the first file of the first recording")
}

func TestOldFilesOfASessionAreRemoved(t *testing.T) {
	r := start(t, func(c *Config) { c.Rotation.MaxMegabytes, c.Rotation.MaxBackups = 1, 2 })
	events, sym := threadtest.Recorded(5, 8, 4, 200_000)
	r.record(t, one, events, sym, threadpdata.EndExit)
	r.stop(t)
	backups := slices.DeleteFunc(r.files(t), func(name string) bool { return !strings.HasSuffix(name, "-size") })
	assert.Len(t, backups, 2)
}

// A disk that is full for a short time loses nothing. If it stays full, events are lost and counted.
func TestWriteFailures(t *testing.T) {
	r := start(t, func(c *Config) { c.Format = "triples" })
	blocker := filepath.Join(r.dir, "sub") // a file instead of a directory
	require.NoError(t, os.WriteFile(blocker, nil, 0o600))
	thread := &threadLog{cfg: &Config{Directory: blocker, Rotation: RotationConfig{MaxMegabytes: 1}}, format: find(t, "triples")}
	var err error
	set := exportertest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = r.tel.NewTelemetrySettings()
	thread.logger = set.Logger
	thread.telemetry, err = metadata.NewTelemetryBuilder(set.TelemetrySettings)
	require.NoError(t, err)
	o := newOutput(thread, "a", one)
	for i := range 9 {
		o.write(fmt.Appendf(nil, "%d%s\n", i, strings.Repeat("x", 1<<20)), 3)
	}
	r.metric(t, "events_lost", 6, "where", "write")
	require.NoError(t, os.Remove(blocker))
	o.write([]byte("last\n"), 1)
	r.metric(t, "events", 22)
	text, err := os.ReadFile(o.path())
	require.NoError(t, err)
	assert.Equal(t, 8, bytes.Count(text, []byte("\n")))
	assert.True(t, bytes.HasSuffix(text, []byte("last\n")))
	assert.True(t, o.full(), "later records may refer to the lost ones")
	o.rotate()
	assert.False(t, o.full())
	o.close()
	r.metric(t, "events_lost", 6, "where", "write")
	r.stop(t)
}
