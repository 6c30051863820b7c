// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
)

// sleeps writes a recording of 60 sleeps, one per second.
func sleeps(t *testing.T, format recording.Format) string {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	sym.SetThread(jvmthread.Thread{ID: 1, Name: "main"})
	e := format.NewEncoder(recording.EncoderOptions{Symbols: sym})
	data := e.Begin(nil, &recording.Session{ID: jvmthread.SessionID{1}})
	for i := range jvmthread.Time(60) {
		at := (1000 + i) * jvmthread.Time(time.Second)
		data = e.Batch(data, &recording.Batch{Threads: []jvmthread.Thread{sym.Thread(1)}, Watermark: at + 500, Events: []jvmthread.Event{
			{Kind: jvmthread.KindSleepStart, Thread: 1, Time: at},
			{Kind: jvmthread.KindSleepEnd, Thread: 1, Time: at + 400},
		}})
	}
	data = e.End(data, &recording.End{Time: 1060 * jvmthread.Time(time.Second), Reason: "exit"})
	path := filepath.Join(t.TempDir(), "x."+format.Name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// All formats give the same result, although only native recordings are read in part.
func TestSummaryOfASpan(t *testing.T) {
	for _, name := range []string{"native", "orca", "tptp"} {
		t.Run(name, func(t *testing.T) {
			format, err := formats.Find(name)
			require.NoError(t, err)
			path := sleeps(t, format)
			for _, test := range []struct {
				span replay.Span
				want int64
			}{
				{replay.Span{}, 120},
				{replay.Span{From: time.Unix(1010, 0)}, 100},
				{replay.Span{To: time.Unix(1010, 0)}, 20},
				{replay.Span{From: time.Unix(1010, 200), To: time.Unix(1012, 1)}, 4},
				{replay.Span{From: time.Unix(2000, 0)}, 0},
				{replay.Span{To: time.Unix(10, 0)}, 0},
				{replay.Span{From: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), To: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, 120},
			} {
				f, err := os.Open(path)
				require.NoError(t, err)
				s, err := Read(replay.Source{Name: path, Path: path, Reader: f, Span: test.span})
				require.NoError(t, f.Close())
				require.NoError(t, err)
				assert.Equal(t, test.want, s.Events, "%v", test.span)
				assert.Zero(t, s.EventsMissed, "%v", test.span)
				if !test.span.To.IsZero() && test.want > 0 {
					assert.False(t, s.End.After(test.span.To), "%v ends at %v", test.span, s.End)
				}
			}
		})
	}
}
