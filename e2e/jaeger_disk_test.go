// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// spansPerTrace is max_spans_per_window of config/jaeger.yaml.
const spansPerTrace = 2000

// TestTraceOnDisk measures how large a full trace of the exchange is: on the disk of a Jaeger that uses Badger, which compresses, in the answer
// that Jaeger's page loads, and as OTLP. docs/adr/020-what-spans-repeat.md says what takes the space.
func TestTraceOnDisk(t *testing.T) {
	data := t.TempDir()
	server := startJaegerWith(t, "jaeger_disk.yaml", "JAEGER_DATA="+data)
	s := server.setup()
	s.env = append(s.env, "WEFT_WINDOW=10s")
	c := startCollector(t, s)
	var full pcommon.TraceID
	c.exchange(t, "a trace is full", func(o *output) bool {
		sizes := map[pcommon.TraceID]int{}
		for _, s := range o.Spans {
			if sizes[s.TraceID()]++; sizes[s.TraceID()] == spansPerTrace {
				full = s.TraceID()
				return true
			}
		}
		return false
	})
	sent := c.finish(t, "exchange")
	server.takes(t, sent, "exchange")

	plain := ptrace.NewTraces()
	spans := plain.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for _, s := range sent.Spans {
		if s.TraceID() == full {
			s.CopyTo(spans.AppendEmpty())
		}
	}
	var answer json.RawMessage
	require.True(t, server.get(t, "/api/traces/"+full.String(), &answer))
	server.stop(t, syscall.SIGTERM) // writes its tables
	server.wait(t)
	disk := tablesIn(t, data) * spansPerTrace / int64(len(sent.ByID))
	otlp := int64((&ptrace.ProtoMarshaler{}).TracesSize(plain)) * spansPerTrace / int64(spans.Len())
	t.Logf("for %d spans: %d KB on disk, %d KB of OTLP, %d KB for the page", spansPerTrace, disk/1000, otlp/1000, len(answer)/1000)
	assert.Less(t, disk, int64(1_500_000), "on disk")
	assert.Less(t, otlp, int64(1_250_000), "as OTLP")
}

// tablesIn returns the size of the tables of a Badger. Its log is empty after an orderly end.
func tablesIn(t *testing.T, dir string) (size int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".sst") {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	}))
	require.Positive(t, size, "Jaeger wrote no table")
	return size
}
