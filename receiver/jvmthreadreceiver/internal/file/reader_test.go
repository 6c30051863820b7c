// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest/await"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadatatest"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

const recorded = outlettest.Hello + `
thread id=1 name="main" group="main"
class id=7 name="com.acme.OrderBook"
batch sequence=1 watermark=900 before=0
 section thread=1
  event threadStart time=500
  event notify time=700 lock=7/1a
batch sequence=2 watermark=300000900 before=2
 section thread=1
  event sleepStart time=950 arg=5
  event sleepEnd time=300000800
end time=300001700 reason=1
`

func native(t testing.TB, text string) []byte {
	t.Helper()
	data, err := wiretext.AppendStream(nil, text)
	require.NoError(t, err)
	return data
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func zstandard(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return z.EncodeAll(data, nil)
}

// running is a reader that runs until it is stopped.
type running struct {
	*Reader

	cancel context.CancelFunc
	done   chan struct{}
}

func (r *running) stop() {
	r.cancel()
	<-r.done
}

// filesOf starts a reader and returns its log.
func filesOf(t testing.TB, tel *componenttest.Telemetry, next consumer.Traces, host component.Host, change func(*Config)) (*running, *observer.ObservedLogs) {
	t.Helper()
	cfg := DefaultConfig()
	cfg.PollInterval = time.Millisecond
	change(&cfg)
	require.NoError(t, cfg.Check())
	core, log := observer.New(zapcore.InfoLevel)
	out := outlettest.New(t, tel, next)
	out.Log = zap.New(core)
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Reader: New(&cfg, out), cancel: cancel, done: make(chan struct{})}
	require.NoError(t, r.OpenStorage(ctx, host, component.MustNewID("jvm_thread")))
	go func() {
		r.Run(ctx)
		close(r.done)
	}()
	return r, log
}

// carried lists the events and the ends of sessions in carriers, one line each.
func carried(t testing.TB, all []ptrace.Traces) (lines []string) {
	t.Helper()
	type described struct {
		session jvmthread.SessionID
		thread  jvmthread.ThreadID
	}
	names := make(map[described]string)
	for _, td := range all {
		for _, rs := range td.ResourceSpans().All() {
			for _, span := range rs.ScopeSpans().At(0).Spans().All() {
				var c threadpdata.Carrier
				require.NoError(t, threadpdata.Parse(span, symbols.New(symbols.DefaultLimits()), &c))
				for _, th := range c.Threads {
					names[described{c.Session, th.ID}] = th.Name
				}
				for _, ev := range c.Events {
					lines = append(lines, names[described{c.Session, ev.Thread}]+" "+ev.Kind.String())
				}
				if c.End != "" {
					lines = append(lines, c.End)
				}
			}
		}
	}
	return lines
}

var all = []string{"main threadStart", "main notify", "main sleepStart", "main sleepEnd", "exit"}

func logged(t testing.TB, log *observer.ObservedLogs, message string) {
	t.Helper()
	await.Until(t, "log: "+message, func() bool { return log.FilterMessage(message).Len() > 0 })
}

func TestFilesOfAllKindsAreRead(t *testing.T) {
	dir := t.TempDir()
	data := native(t, recorded)
	tdump := []byte("1.5,ThreadStarted,0000000A,worker\n2.5,ThreadEnded,0000000A\n")
	for name, data := range map[string][]byte{
		"a.weft": data, "b.weft.gz": gzipped(t, bytes.Replace(data, []byte{0xa1, 0xb2}, []byte{0xa2, 0xb2}, 1)), "deep/down/c": zstandard(t, bytes.Replace(data, []byte{0xa1, 0xb2}, []byte{0xa3, 0xb2}, 1)),
		"d.orca": tdump, "bad": []byte("\x00\x01an unknown format"), "cut.weft": data[:len(data)-30], "bad.gz": gzipped(t, data)[:40],
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	tel := componenttest.NewTelemetry()
	sink := new(consumertest.TracesSink)
	r, log := filesOf(t, tel, sink, componenttest.NewNopHost(), func(f *Config) {
		f.Include = []string{filepath.Join(dir, "**/*")}
		f.MaxFiles = 1
	})
	logged(t, log, "Finished all recordings")
	bad := log.FilterMessage("Cannot read a recording").FilterFieldKey("remedy").All()
	require.Len(t, bad, 1)
	assert.Equal(t, filepath.Join(dir, "bad"), bad[0].ContextMap()["file"])
	assert.Contains(t, bad[0].ContextMap()["error"], "; weft reads recordings and thread dumps of JVMs")
	assert.Positive(t, log.FilterMessage("Problem in a recording").Len())
	lines := carried(t, sink.AllTraces())
	assert.Equal(t, 3, strings.Count(strings.Join(lines, "\n"), "exit"), "%v", lines)
	assert.Contains(t, lines, "worker threadStart")
	metadatatest.AssertEqualReceiverJvmThreadFilesBad(t, tel, []metricdata.DataPoint[int64]{{Value: 1}}, metricdatatest.IgnoreTimestamp())
	r.stop()
	require.NoError(t, tel.Shutdown(context.Background()))
}

// A file may at first be too short to be identified by its head.
func TestPositionInAShortFileIsSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tdump")
	begun := "1.5,ThreadStarted,0000000A,worker\n"
	require.NoError(t, os.WriteFile(path, []byte(begun), 0o600))
	id := component.MustNewID("memory")
	host := withExtension{id: id, extension: &memory{data: make(map[string][]byte)}}
	sink := new(consumertest.TracesSink)
	follow := func(f *Config) {
		f.Include, f.Follow, f.Storage = []string{path}, true, &id
	}
	for i, more := range []string{strings.Repeat("1.6,ThreadEnded,0000000A\n1.7,ThreadStarted,0000000A,worker\n", 20), "1.8,ThreadEnded,0000000A\n", ""} {
		r, log := filesOf(t, nil, sink, host, follow)
		logged(t, log, "Recorded session started")
		begun += more
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = file.WriteString(more)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		events := strings.Count(begun, "\n")
		await.Until(t, "all events are delivered", func() bool { return len(carried(t, sink.AllTraces())) >= events })
		r.stop()
		assert.Len(t, carried(t, sink.AllTraces()), events, "after start %d", i+1)
	}
	sessions := make(map[string]struct{})
	for _, td := range sink.AllTraces() {
		session, _ := td.ResourceSpans().At(0).Resource().Attributes().Get("weft.session.id")
		sessions[session.Str()] = struct{}{}
	}
	assert.Len(t, sessions, 1)
}

func TestPositionInAFollowedFileIsSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft")
	data := native(t, recorded)
	half := bytes.Index(data, native(t, "batch sequence=2 watermark=300000900 before=2")[8:24]) - 8
	require.NoError(t, os.WriteFile(path, data[:half], 0o600))
	memory := &memory{data: make(map[string][]byte)}
	id := component.MustNewID("memory")
	host := withExtension{id: id, extension: memory}
	sink := new(consumertest.TracesSink)
	follow := func(f *Config) {
		f.Include, f.Follow, f.Storage = []string{path}, true, &id
	}
	r, log := filesOf(t, nil, sink, host, follow)
	await.Until(t, "the offset is stored", func() bool { return memory.has(path) })
	r.stop()
	assert.Equal(t, all[:2], carried(t, sink.AllTraces()))
	assert.Empty(t, log.FilterMessage("Finished a recording").All())

	require.NoError(t, os.WriteFile(path, data, 0o600))
	r, log = filesOf(t, nil, sink, host, follow)
	await.Until(t, "all events are delivered", func() bool { return len(carried(t, sink.AllTraces())) == len(all) })
	assert.Equal(t, all, carried(t, sink.AllTraces()), "events before the restart are delivered once")
	require.NoError(t, os.Remove(path))
	logged(t, log, "Finished a recording")
	r.stop()
	assert.Equal(t, []uint64{1, 2, 3}, batches(t, sink.AllTraces()))
}

// A flight recording must be unpacked completely before its first batch.
func TestShutdownInterruptsACompressedFile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := cancellable{ctx, strings.NewReader("more")}
	n, err := r.Read(make([]byte, 2))
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	cancel()
	_, err = io.Copy(io.Discard, r)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, (&replay{ctx: ctx}).Problem(recording.Problem{}), context.Canceled, "a shutdown is not a problem in the recording")
}

func TestPipeIsRejected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	r, log := filesOf(t, nil, new(consumertest.TracesSink), componenttest.NewNopHost(), func(f *Config) { f.Include = []string{path} })
	logged(t, log, "Finished all recordings")
	assert.Contains(t, log.FilterMessage("Cannot read a recording").All()[0].ContextMap()["error"], "it is a pipe or a device")
	r.stop()
}

func TestFinishedFileIsNotReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft")
	require.NoError(t, os.WriteFile(path, native(t, recorded), 0o600))
	id := component.MustNewID("memory")
	host := withExtension{id: id, extension: &memory{data: make(map[string][]byte)}}
	sink := new(consumertest.TracesSink)
	for range 2 {
		r, log := filesOf(t, nil, sink, host, func(f *Config) { f.Include, f.Storage = []string{path}, &id })
		logged(t, log, "Finished all recordings")
		r.stop()
	}
	assert.Equal(t, all, carried(t, sink.AllTraces()))
}

func TestStorageIsRequired(t *testing.T) {
	id := component.MustNewID("memory")
	r := New(&Config{Storage: &id}, outlettest.New(t, nil, consumertest.NewNop()))
	err := r.OpenStorage(t.Context(), componenttest.NewNopHost(), component.MustNewID("jvm_thread"))
	require.EqualError(t, err, "protocols::file::storage: memory: not a storage extension of this collector; add one to service::extensions")
}

// A recording that claims an impossible number of missing events is read without that number.
func TestImpossibleNumbersOfMissingEventsAreIgnored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.weft")
	text := strings.Replace(recorded, "watermark=300000900 before=2", "watermark=300000900 before=18446744073709551615", 1)
	require.NoError(t, os.WriteFile(path, native(t, text), 0o600))
	sink := new(consumertest.TracesSink)
	r, log := filesOf(t, componenttest.NewTelemetry(), sink, componenttest.NewNopHost(), func(f *Config) { f.Include = []string{path} })
	logged(t, log, "Finished all recordings")
	r.stop()
	assert.Equal(t, all, carried(t, sink.AllTraces()))
	problems := log.FilterMessage("Problem in a recording").All()
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].ContextMap()["problem"], "18446744073709551615 events before it, want at most 1152921504606846976; ignoring the number")
}

func batches(t testing.TB, all []ptrace.Traces) (list []uint64) {
	t.Helper()
	for _, td := range all {
		var c threadpdata.Carrier
		require.NoError(t, threadpdata.Parse(td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0), symbols.New(symbols.DefaultLimits()), &c))
		list = append(list, c.Batch)
	}
	return list
}

// memory is a storage extension in memory.
type memory struct {
	component.StartFunc
	component.ShutdownFunc

	mu     sync.Mutex
	data   map[string][]byte
	closed int
}

func (m *memory) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	return m, nil
}

func (m *memory) has(key string) bool {
	data, _ := m.Get(context.Background(), key)
	return data != nil
}

func (m *memory) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.data[key], nil
}

func (m *memory) Set(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data[key] = value
	return nil
}

func (m *memory) Delete(context.Context, string) error               { return nil }
func (m *memory) Batch(context.Context, ...*storage.Operation) error { return nil }

func (m *memory) Close(context.Context) error {
	m.closed++
	return nil
}

type withExtension struct {
	id        component.ID
	extension component.Component
}

func (h withExtension) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{h.id: h.extension}
}
