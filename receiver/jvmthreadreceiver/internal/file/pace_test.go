// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap/zaptest/observer"

	processing "github.com/weft-otel/weft/internal/sessions"
)

// The events of the recording span 300 ms.
func TestReplayKeepsThePace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft")
	require.NoError(t, os.WriteFile(path, native(t, recorded), 0o600))
	for _, test := range []struct {
		pace float64
		want time.Duration
	}{{1, 300 * time.Millisecond}, {0.5, 600 * time.Millisecond}, {0, 0}} {
		synctest.Test(t, func(t *testing.T) {
			sink := new(consumertest.TracesSink)
			r, log := filesOf(t, nil, sink, componenttest.NewNopHost(), func(f *Config) { f.Include, f.Pace = []string{path}, test.pace })
			finishesAfter(t, log, test.want)
			assert.Equal(t, all, carried(t, sink.AllTraces()))
			r.stop()
		})
	}
}

// finishesAfter checks in the synctest bubble that all recordings are read after this time, and not before.
func finishesAfter(t *testing.T, log *observer.ObservedLogs, want time.Duration) {
	t.Helper()
	const message = "Finished all recordings"
	if want > 0 {
		time.Sleep(want - 1)
		synctest.Wait()
		assert.Empty(t, log.FilterMessage(message).All())
		time.Sleep(time.Nanosecond)
	}
	synctest.Wait()
	assert.Len(t, log.FilterMessage(message).All(), 1)
}

// clocked records the times at which it consumes.
type clocked struct {
	consumertest.TracesSink

	times []time.Time
}

func (c *clocked) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	c.times = append(c.times, time.Now())
	return c.TracesSink.ConsumeTraces(ctx, td)
}

// A paced recording without events sends batches often enough that processors do not consider it lost, with the same numbers each time.
func TestQuietRecordingSendsHeartbeats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft")
	require.NoError(t, os.WriteFile(path, native(t, strings.ReplaceAll(recorded, "=30000", "=30000000")), 0o600)) // 5 minutes
	var before []uint64
	for _, pace := range []float64{1, 1, 0.01, 100, 1e9} {
		synctest.Test(t, func(t *testing.T) {
			sink := new(clocked)
			r, log := filesOf(t, nil, sink, componenttest.NewNopHost(), func(f *Config) { f.Include, f.Pace = []string{path}, pace })
			finishesAfter(t, log, time.Duration(300/pace*float64(time.Second)))
			for i := range sink.times[1:] {
				assert.LessOrEqual(t, sink.times[i+1].Sub(sink.times[i]), processing.DefaultOptions().SessionTimeout/2)
			}
			assert.Equal(t, all, carried(t, sink.AllTraces()))
			numbers := batches(t, sink.AllTraces())
			if pace == 1 && before != nil {
				assert.Equal(t, before, numbers)
			}
			before = numbers
			r.stop()
		})
	}
}
