// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/weft-otel/weft/exporter/threadlogexporter/internal/metadata"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/wire"
)

var one, two = jvmthread.SessionID{1}, jvmthread.SessionID{2}

// recorder is an exporter that writes to a temporary folder.
type recorder struct {
	exporter.Traces
	dir string
	tel *componenttest.Telemetry
}

func start(t *testing.T, change func(*Config)) *recorder {
	t.Helper()
	r := &recorder{dir: t.TempDir(), tel: componenttest.NewTelemetry()}
	cfg := createDefaultConfig().(*Config)
	cfg.Directory = filepath.Join(r.dir, "made", "here")
	if change != nil {
		change(cfg)
	}
	r.dir = cfg.Directory
	require.NoError(t, cfg.Validate())
	set := exportertest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = r.tel.NewTelemetrySettings()
	var err error
	r.Traces, err = NewFactory().CreateTraces(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, r.Start(t.Context(), componenttest.NewNopHost()))
	return r
}

func (r *recorder) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, r.Shutdown(context.Background()))
}

// metric asserts the sum of a counter, optionally of the points with an attribute.
func (r *recorder) metric(t *testing.T, name string, want int64, attrs ...string) {
	t.Helper()
	got, err := r.tel.GetMetric("otelcol_exporter_thread_log_" + name)
	if err != nil && want == 0 {
		return // nothing was counted
	}
	require.NoError(t, err)
	sum := int64(0)
	for _, dp := range got.Data.(metricdata.Sum[int64]).DataPoints {
		if len(attrs) > 0 {
			if v, _ := dp.Attributes.Value(attribute.Key(attrs[0])); v.AsString() != attrs[1] {
				continue
			}
		}
		sum += dp.Value
	}
	assert.Equal(t, want, sum, "%s %v", name, attrs)
}

func (r *recorder) files(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(r.dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// carriers returns a batch as the receiver sends it.
func carriers(id jvmthread.SessionID, number, before uint64, events []jvmthread.Event, sym *symbols.Table, end string) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	threadpdata.FillResource(rs.Resource(), id, 42, []wire.Attribute{{Key: "service.name", Value: "orders/eu"}})
	ss := rs.ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	byThread := make(map[jvmthread.ThreadID][]jvmthread.Event)
	var order []jvmthread.ThreadID
	watermark := jvmthread.Time(0)
	for _, ev := range events {
		if byThread[ev.Thread] == nil {
			order = append(order, ev.Thread)
		}
		byThread[ev.Thread] = append(byThread[ev.Thread], ev)
		watermark = ev.Time
	}
	c := threadpdata.Carrier{Session: id, Batch: number, Before: before, Watermark: watermark, End: end}
	for _, th := range order {
		c.Threads, c.Events = append(c.Threads, sym.Thread(th)), append(c.Events, byThread[th]...)
	}
	c.AppendTo(ss.Spans(), sym)
	return td
}

// record sends events in batches.
func (r *recorder) record(t *testing.T, id jvmthread.SessionID, events []jvmthread.Event, sym *symbols.Table, end string) {
	t.Helper()
	number, before := uint64(1), uint64(0)
	for len(events) > 0 {
		n := min(len(events), 500)
		last := ""
		if n == len(events) {
			last = end
		}
		require.NoError(t, r.ConsumeTraces(t.Context(), carriers(id, number, before, events[:n], sym, last)))
		number, before = number+1, before+uint64(n)
		events = events[n:]
	}
}

func find(t *testing.T, name string) recording.Format {
	t.Helper()
	format, err := formats.Find(name)
	require.NoError(t, err)
	return format
}

// read decodes files as one recording, with the side files of the first.
func read(t *testing.T, format recording.Format, dir string, names ...string) []string {
	t.Helper()
	var text []byte
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		if strings.HasSuffix(name, ".zst") {
			z, err := zstd.NewReader(bytes.NewReader(data))
			require.NoError(t, err)
			data, err = io.ReadAll(z)
			require.NoError(t, err)
		}
		text = append(text, data...)
	}
	sym := symbols.New(symbols.DefaultLimits())
	c, stats, err := threadtest.Decode(&format, recording.Options{Symbols: sym, Sidecar: func(extension string) (io.ReadCloser, error) {
		base, _, _ := strings.Cut(names[0], format.Extension)
		return os.Open(filepath.Join(dir, base+extension))
	}}, text, 0)
	threadtest.CheckDecoded(t, "files", c, stats, err)
	require.Empty(t, c.Problems)
	lines := make([]string, len(c.Events))
	for i := range c.Events {
		lines[i] = threadtest.EventText(c.Events[i], sym)
	}
	return lines
}

// want returns the events as a format's encoder and decoder preserve them.
func want(t *testing.T, format recording.Format, events []jvmthread.Event, sym *symbols.Table) []string {
	t.Helper()
	e := format.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true, Times: recording.Times{Unit: time.Second}})
	text := e.Begin(nil, &recording.Session{ID: one})
	text = e.Batch(text, &recording.Batch{Events: events})
	text = e.End(text, &recording.End{})
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"+format.Extension), text, 0o600))
	for _, side := range e.Sidecars(true) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x"+side.Extension), side.Text, 0o600))
	}
	return read(t, format, dir, "x"+format.Extension)
}

func TestEachFormatRecordsWhatItCanStore(t *testing.T) {
	for _, name := range writable() {
		t.Run(name, func(t *testing.T) {
			format := find(t, name)
			r := start(t, func(c *Config) { c.Format = format.Name })
			events, sym := threadtest.Recorded(3, 8, 4, 20_000)
			r.record(t, one, events, sym, threadpdata.EndExit)
			base := "orders_eu-" + one.String()
			assert.Contains(t, r.files(t), base+format.Extension)
			got := read(t, format, r.dir, base+format.Extension)
			assert.Equal(t, want(t, format, events, sym), got)
			r.metric(t, "sessions", 0)
			e := format.NewEncoder(recording.EncoderOptions{Symbols: sym})
			e.Batch(e.Begin(nil, &recording.Session{ID: one}), &recording.Batch{Events: events})
			stats := e.Stats()
			r.metric(t, "events", int64(stats.Written))
			r.metric(t, "events_left", int64(stats.TotalOmitted()))
			r.metric(t, "events_left", int64(stats.Omitted[jvmthread.KindPark]), "kind", "park")
			r.metric(t, "events_lost", 0)
			r.stop(t)
		})
	}
}

// Files written before a restart of the collector are not modified.
func TestRestartStartsAnotherRecording(t *testing.T) {
	events, sym := threadtest.Recorded(1, 4, 2, 1000)
	dir := filepath.Join(t.TempDir(), "a[1]") // with characters that glob patterns would interpret
	var r *recorder
	for range 2 {
		r = start(t, func(c *Config) { c.Directory = dir })
		r.record(t, one, events, sym, "")
		r.stop(t)
	}
	base := "orders_eu-" + one.String()
	assert.Equal(t, []string{
		base + ".classtable", base + ".meta", base + ".method", base + ".orca",
		base + "_2.classtable", base + "_2.meta", base + "_2.method", base + "_2.orca",
	}, r.files(t))
	assert.Equal(t, read(t, find(t, "orca"), dir, base+".orca"), read(t, find(t, "orca"), dir, base+"_2.orca"))
}

func TestSessionsHaveSeparateFiles(t *testing.T) {
	r := start(t, func(c *Config) { c.MaxSessions = 2 })
	events, sym := threadtest.Recorded(1, 4, 2, 1000)
	r.record(t, one, events, sym, "")
	r.record(t, two, events, sym, "")
	require.NoError(t, r.ConsumeTraces(t.Context(), carriers(jvmthread.SessionID{3}, 1, 0, events, sym, "")))
	r.metric(t, "sessions", 2)
	r.metric(t, "events_lost", int64(len(events)), "where", "refused")
	r.stop(t)
	r.metric(t, "sessions", 0)
	assert.Len(t, r.files(t), 8)
	format := find(t, "orca")
	assert.Equal(t, read(t, format, r.dir, "orders_eu-"+one.String()+".orca"), read(t, format, r.dir, "orders_eu-"+two.String()+".orca"))
}

func TestOtherSpansAndInvalidCarriersAreNotRecorded(t *testing.T) {
	r := start(t, nil)
	td := ptrace.NewTraces()
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName("GET /")
	bad := carriers(one, 1, 0, []jvmthread.Event{{Time: 1, Thread: 1, Kind: jvmthread.KindYield}}, symbols.New(symbols.DefaultLimits()), "")
	bad.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().Remove("weft.raw.version")
	require.NoError(t, r.ConsumeTraces(t.Context(), td))
	require.NoError(t, r.ConsumeTraces(t.Context(), bad))
	r.metric(t, "events_lost", 1, "where", "refused")
	assert.Empty(t, r.files(t))
	r.stop(t)
}

// A missing batch times out and is counted; a silent session ends.
func TestMissingBatchAndSilentSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		sym := symbols.New(symbols.DefaultLimits())
		at := func(s int) []jvmthread.Event {
			return []jvmthread.Event{{Time: jvmthread.Time(s) * 1_000_000_000, Thread: 7, Kind: jvmthread.KindSleepStart}}
		}
		require.NoError(t, r.ConsumeTraces(t.Context(), carriers(one, 1, 0, at(1), sym, "")))
		require.NoError(t, r.ConsumeTraces(t.Context(), carriers(one, 3, 2, at(3), sym, "")))
		time.Sleep(7 * time.Second) // in the synctest bubble
		synctest.Wait()
		r.metric(t, "events_lost", 1, "where", "missed")
		r.metric(t, "sessions", 1)
		time.Sleep(time.Minute) // in the synctest bubble
		synctest.Wait()
		r.metric(t, "sessions", 0)
		r.metric(t, "events", 2)
		r.stop(t)
	})
}

// Carriers that arrive after the end of a session do not start another recording.
func TestLateCarriersAreRefused(t *testing.T) {
	r := start(t, nil)
	events, sym := threadtest.Recorded(1, 4, 2, 1000)
	r.record(t, one, events, sym, threadpdata.EndExit)
	before := r.files(t)
	require.NoError(t, r.ConsumeTraces(t.Context(), carriers(one, 1, 0, events[:1], sym, "")))
	r.metric(t, "events_lost", 1, "where", "refused")
	assert.Equal(t, before, r.files(t))
	r.stop(t)
}

func TestGapsAreCounted(t *testing.T) {
	r := start(t, nil)
	events := []jvmthread.Event{{Time: 5, Thread: 1, Kind: jvmthread.KindGap, Arg: 17}, {Time: 6, Thread: 1, Kind: jvmthread.KindThreadEnd}}
	r.record(t, one, events, symbols.New(symbols.DefaultLimits()), threadpdata.EndExit)
	r.metric(t, "events_lost", 17, "where", "agent")
	r.metric(t, "events_left", 1, "kind", "gap")
	r.stop(t)
}

// A bad directory is reported at the start, not when the first JVM connects.
func TestUnwritableDirectoryFailsTheStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	directories := []string{filepath.Join(file, "directory")}
	if _, err := os.Stat("/proc/self/task"); err == nil { // where not even root can create files
		directories = append(directories, "/proc/self/task")
	}
	for _, directory := range directories {
		cfg := createDefaultConfig().(*Config)
		cfg.Directory = directory
		e, err := NewFactory().CreateTraces(t.Context(), exportertest.NewNopSettings(metadata.Type), cfg)
		require.NoError(t, err)
		err = e.Start(t.Context(), componenttest.NewNopHost())
		require.ErrorContains(t, err, "use a writable one", directory)
		require.NoError(t, e.Shutdown(t.Context()))
	}
}

// A thread that is redefined many times is stored once, and repeated carriers define nothing.
func TestRedefinedThreadsAreStoredOnce(t *testing.T) {
	r := start(t, nil)
	cfg := createDefaultConfig().(*Config)
	cfg.Directory = r.dir
	set := exportertest.NewNopSettings(metadata.Type)
	log, err := newThreadLog(cfg, set)
	require.NoError(t, err)
	s := &sessions.Session{ID: one, Resource: pcommon.NewResource(), Symbols: symbols.New(symbols.DefaultLimits())}
	written := log.open(s).(*sessionWriter)
	receive := func(batch uint64, name string) {
		traces := ptrace.NewTraces()
		spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		c := threadpdata.Carrier{Session: one, Batch: batch, Threads: []jvmthread.Thread{{ID: 7, Name: name}}}
		c.AppendTo(spans, symbols.New(symbols.DefaultLimits()))
		require.NoError(t, threadpdata.Parse(spans.At(0), s.Symbols, &c))
		written.Receive(&c)
	}
	for i := range uint64(100) {
		receive(1+i, fmt.Sprintf("worker %d", i))
	}
	receive(1, "repeated")
	assert.Equal(t, []jvmthread.Thread{{ID: 7, Name: "worker 99"}}, written.threads)
	r.stop(t)
}
