// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// readAll reads files until all are finished. The code that logs a message panics once: that stands for a defect in the code around it.
func readAll(t *testing.T, tel *componenttest.Telemetry, next consumer.Traces, host component.Host, message string, change func(*Config)) *observer.ObservedLogs {
	t.Helper()
	cfg := DefaultConfig()
	change(&cfg)
	require.NoError(t, cfg.Check())
	core, log := observer.New(zapcore.InfoLevel)
	out := outlettest.New(t, tel, next)
	out.Log = zap.New(core, zap.Hooks(func(e zapcore.Entry) error {
		if e.Message == message {
			message = ""
			panic("defect")
		}
		return nil
	}))
	r := New(&cfg, out)
	require.NoError(t, r.OpenStorage(t.Context(), host, component.MustNewID("jvm_thread")))
	r.Run(t.Context())
	return log
}

// A file whose reading panics ends with what was read of it. Others are read, and this one is not read again after a restart.
func TestDefectEndsOneFile(t *testing.T) {
	failure.ContainIn(t)
	dir := t.TempDir()
	data := native(t, strings.Replace(recorded, "end time=300001700 reason=1\n", "", 1))
	for name, data := range map[string][]byte{
		"a.weft": append(data, "half a frame"...), "b.orca": []byte("1.5,ThreadStarted,0000000A,worker\n2.5,ThreadEnded,0000000A\n"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	id := component.MustNewID("memory")
	host := withExtension{id: id, extension: &memory{data: make(map[string][]byte)}}
	change := func(f *Config) { f.Include, f.Storage, f.MaxFiles = []string{filepath.Join(dir, "*")}, &id, 1 }
	sink, tel := new(consumertest.TracesSink), componenttest.NewTelemetry()
	log := readAll(t, tel, sink, host, "Problem in a recording", change)
	assert.ElementsMatch(t, append(append([]string{}, all[:4]...), "lost", "worker threadStart", "worker threadEnd", "lost"), carried(t, sink.AllTraces()))
	bad, err := tel.GetMetric("otelcol_receiver_jvm_thread_files_bad")
	require.NoError(t, err)
	assert.EqualValues(t, 1, bad.Data.(metricdata.Sum[int64]).DataPoints[0].Value)
	errs := log.FilterLevelExact(zapcore.ErrorLevel).All()
	require.Len(t, errs, 1)
	fields := errs[0].ContextMap()
	assert.Equal(t, filepath.Join(dir, "a.weft"), fields["file"])
	assert.Equal(t, int64(len(data)+len("half a frame")), fields["byte"])
	assert.Equal(t, "defect", fields["panic"])

	log = readAll(t, nil, sink, host, "", change)
	assert.Equal(t, 2, log.FilterMessage("Skipped a recording that was read before, according to the storage").Len())
}

// A panic before the format of a file is known ends that file, too.
func TestDefectInTheFirstBytes(t *testing.T) {
	failure.ContainIn(t)
	path := filepath.Join(t.TempDir(), "x.orca")
	require.NoError(t, os.WriteFile(path, []byte("1.5,ThreadStarted,0000000A,worker\n"), 0o600))
	log := readAll(t, nil, new(consumertest.TracesSink), componenttest.NewNopHost(), "The format of a recording does not support everything", func(f *Config) {
		f.Include = []string{path}
	})
	assert.Equal(t, 1, log.FilterLevelExact(zapcore.ErrorLevel).Len())
	assert.Equal(t, 1, log.FilterMessage("Finished all recordings").Len())
}

// A component that panics has rejected a batch. It gets the next one.
func TestDefectOfTheNextComponent(t *testing.T) {
	failure.ContainIn(t)
	path := filepath.Join(t.TempDir(), "x.weft")
	require.NoError(t, os.WriteFile(path, native(t, recorded), 0o600))
	sink, calls := new(consumertest.TracesSink), 0
	next, err := consumer.NewTraces(func(ctx context.Context, td ptrace.Traces) error {
		if calls++; calls == 1 {
			panic(errors.New("their defect"))
		}
		return sink.ConsumeTraces(ctx, td)
	})
	require.NoError(t, err)
	log := readAll(t, nil, next, componenttest.NewNopHost(), "", func(f *Config) { f.Include = []string{path} })
	assert.Equal(t, []string{" sleepStart", " sleepEnd", "exit"}, carried(t, sink.AllTraces()), "the lost batch had the name")
	assert.Equal(t, 3, calls, "no batch is repeated")
	assert.Equal(t, 1, log.FilterMessage("The next component permanently rejected a batch; its events are lost").Len())
}

// In a test that does not enable it, a panic is not contained.
func TestDefectsAreLoudInTests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft")
	require.NoError(t, os.WriteFile(path, native(t, recorded), 0o600))
	next, err := consumer.NewTraces(func(context.Context, ptrace.Traces) error { panic("defect") })
	require.NoError(t, err)
	cfg := DefaultConfig()
	f := &recordingFile{path: path, cfg: &cfg, out: outlettest.New(t, nil, next), slots: make(slots, 1), storage: &memory{}, log: zap.NewNop()}
	assert.PanicsWithValue(t, "defect", func() { f.read(t.Context()) })
}
