// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadviewexporter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/metadata"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/await"
	"github.com/weft-otel/weft/internal/viewapi"
)

// carriers returns the carriers that a receiver would create from a simulated session.
func carriers(t *testing.T, session jvmthread.SessionID, seed uint64, end string) ptrace.Traces {
	t.Helper()
	return carriersOf(t, session, seed, 2000, end)
}

func carriersOf(t *testing.T, session jvmthread.SessionID, seed uint64, steps int, end string) ptrace.Traces {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	for _, c := range []string{"com.acme.OrderBook", "com.acme.Account", "java.lang.Thread"} {
		sym.InternClass(c)
	}
	sim := threadtest.Simulate(seed, 8, 3, steps)
	byThread := make(map[jvmthread.ThreadID][]jvmthread.Event)
	for _, ev := range sim.Events {
		byThread[ev.Thread] = append(byThread[ev.Thread], ev)
	}
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "exchange")
	ss := rs.ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	c := threadpdata.Carrier{Session: session, Batch: 1, Watermark: sim.Events[len(sim.Events)-1].Time + 1, End: end}
	for id, list := range byThread {
		c.Threads, c.Events = append(c.Threads, jvmthread.Thread{ID: id, Name: "worker", Group: "main"}), append(c.Events, list...)
	}
	c.AppendTo(ss.Spans(), sym)
	return td
}

func startExporter(t *testing.T, host component.Host, change func(*Config)) *threadView {
	t.Helper()
	return startLogging(t, host, zap.NewNop(), change)
}

func startLogging(t *testing.T, host component.Host, logger *zap.Logger, change func(*Config)) *threadView {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.HTTP.NetAddr.Endpoint = "localhost:0"
	if change != nil {
		change(cfg)
	}
	require.NoError(t, cfg.Validate())
	set := exportertest.NewNopSettings(metadata.Type)
	set.Logger = logger
	e, err := newExporter(cfg, set)
	require.NoError(t, err)
	require.NoError(t, e.start(t.Context(), host))
	t.Cleanup(func() { assert.NoError(t, e.shutdown(context.Background())) })
	return e
}

func get(t *testing.T, url string, header ...string) (status int, body []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	body, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	http.DefaultClient.CloseIdleConnections()
	return resp.StatusCode, body
}

var testSession = jvmthread.SessionID{0: 7, 15: 1}

func TestPageShowsReceivedCarriers(t *testing.T) {
	e := startExporter(t, componenttest.NewNopHost(), func(c *Config) { c.PathPrefix = "/weft/" })
	require.NoError(t, e.consume(t.Context(), carriers(t, testSession, 3, threadpdata.EndExit)))

	status, body := get(t, e.url())
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, string(body), "<script")
	status, body = get(t, e.url()+"api/sessions")
	require.Equal(t, http.StatusOK, status)
	var list viewapi.Sessions
	require.NoError(t, json.Unmarshal(body, &list))
	require.Len(t, list.Sessions, 1)
	s := list.Sessions[0]
	assert.Equal(t, testSession.String(), s.ID)
	assert.Equal(t, "exchange", s.Service)
	assert.False(t, s.Live)
	assert.Equal(t, "end", s.Ended)
	assert.Positive(t, s.Intervals)

	status, body = get(t, e.url()+"api/sessions/"+s.ID+"/classes")
	require.Equal(t, http.StatusOK, status)
	var classes viewapi.Classes
	require.NoError(t, json.Unmarshal(body, &classes))
	assert.Positive(t, classes.Sum.Blocked.Time)

	status, _ = get(t, e.url()+"api/sessions/"+s.ID+"/control")
	assert.Equal(t, http.StatusNotFound, status, "control is off")
}

func TestPortInUseIsReported(t *testing.T) {
	address := startExporter(t, componenttest.NewNopHost(), nil).address.String()
	cfg := createDefaultConfig().(*Config)
	cfg.HTTP.NetAddr.Endpoint = address
	e, err := newExporter(cfg, exportertest.NewNopSettings(metadata.Type))
	require.NoError(t, err)
	require.ErrorContains(t, e.start(t.Context(), componenttest.NewNopHost()), "endpoint: cannot serve the page at "+address+", use another address: ")
	require.NoError(t, e.shutdown(t.Context()))
}

// Browsers revalidate cached files and accept compressed responses.
func TestFilesAreCachedAndCompressed(t *testing.T) {
	e := startExporter(t, componenttest.NewNopHost(), nil)
	client := http.Client{Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(client.CloseIdleConnections)
	ask := func(tag string) (int, http.Header) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.url()+"app.js", http.NoBody)
		require.NoError(t, err)
		r.Header.Set("Accept-Encoding", "gzip")
		r.Header.Set("If-None-Match", tag)
		response, err := client.Do(r)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode, response.Header
	}
	status, header := ask("")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "gzip", header.Get("Content-Encoding"))
	require.NotEmpty(t, header.Get("ETag"))
	status, _ = ask(header.Get("ETag"))
	assert.Equal(t, http.StatusNotModified, status)
}

// An open session shows the windows cut so far; after the collector stops, it is complete.
func TestShutdownKeepsAllWindows(t *testing.T) {
	e := startExporter(t, componenttest.NewNopHost(), nil)
	require.NoError(t, e.consume(t.Context(), carriers(t, testSession, 3, "")))
	require.NoError(t, e.shutdown(t.Context()))
	sn := e.view.Session(testSession).Snapshot()
	assert.False(t, sn.Live)
	assert.Positive(t, sn.Counts.Intervals)
}

// A restart preserves all sessions.
func TestRestart(t *testing.T) {
	keep := func(c *Config) { c.Directory = filepath.Join(t.TempDir(), "sessions") }
	var folder string
	e := startExporter(t, componenttest.NewNopHost(), func(c *Config) { keep(c); folder = c.Directory })
	require.NoError(t, e.consume(t.Context(), carriers(t, testSession, 3, threadpdata.EndExit)))
	other := jvmthread.SessionID{0: 8, 15: 1}
	require.NoError(t, e.consume(t.Context(), carriers(t, other, 4, "")))
	cfg := createDefaultConfig().(*Config)
	cfg.HTTP.NetAddr.Endpoint, cfg.Directory = "localhost:0", folder
	second, err := newExporter(cfg, exportertest.NewNopSettings(metadata.Type))
	require.NoError(t, err)
	require.EqualError(t, second.start(t.Context(), componenttest.NewNopHost()),
		fmt.Sprintf("directory: %s is in use by process %d: give each collector a directory of its own", folder, os.Getpid()))
	require.NoError(t, e.shutdown(t.Context()))

	again := startExporter(t, componenttest.NewNopHost(), func(c *Config) { c.Directory = folder })
	for id, ended := range map[jvmthread.SessionID]window.Cut{testSession: window.CutEnd, other: window.CutShutdown} {
		before, after := e.view.Session(id).Snapshot(), again.view.Session(id).Snapshot()
		assert.Equal(t, before.Counts, after.Counts)
		assert.Equal(t, before.Meta, after.Meta)
		assert.Equal(t, before.Origin, after.Origin)
		assert.Equal(t, before.To, after.To)
		assert.Equal(t, before.Events, after.Events)
		assert.Equal(t, ended, after.Ended)
		assert.Zero(t, after.Missed)
		assert.False(t, after.Live)
	}
}

// A client that does not read its response delays neither other clients nor shutdown.
func TestShutdownDisconnectsSlowReaders(t *testing.T) {
	e := startExporter(t, componenttest.NewNopHost(), nil)
	require.NoError(t, e.consume(t.Context(), carriersOf(t, testSession, 3, 60_000, threadpdata.EndExit)))
	await.Until(t, "the session ends", func() bool {
		one := e.view.Session(testSession)
		return one != nil && !one.Snapshot().Live
	})
	conn, err := net.Dial("tcp", e.address.String())
	require.NoError(t, err)
	_, err = fmt.Fprintf(conn, "GET /api/sessions/%s/download?format=otlp HTTP/1.1\r\nHost: localhost\r\n\r\n", testSession)
	require.NoError(t, err)
	_, err = io.ReadFull(conn, make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, e.shutdown(context.Background()))
	sent, err := io.ReadAll(conn)
	t.Logf("%d bytes were in flight", len(sent))
	assert.True(t, err != nil || !strings.HasSuffix(string(sent), "0\r\n\r\n"), "the response was too short to be truncated")
	require.NoError(t, conn.Close())
}

func TestOtherSpansAreIgnored(t *testing.T) {
	e := startExporter(t, componenttest.NewNopHost(), nil)
	td := ptrace.NewTraces()
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName("GET /")
	require.NoError(t, e.consume(t.Context(), td))
	assert.Zero(t, e.view.Stats().Sessions)
	assert.Equal(t, 1, td.SpanCount())
}

// A body of nine bytes may request a window of 512 MiB.
func TestCompressedRequestsAreRefused(t *testing.T) {
	e := startExporter(t, componenttest.NewNopHost(), nil)
	for _, algorithm := range []string{"zstd", "gzip", "lz4", "snappy"} {
		body := strings.NewReader("\x28\xb5\x2f\xfd\x00\x98\x01\x00\x00")
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url()+"api/info", body)
		require.NoError(t, err)
		r.Header.Set("Content-Encoding", algorithm)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, errors.Join(err, answer.Body.Close()))
		assert.Equal(t, http.StatusBadRequest, answer.StatusCode, algorithm)
		assert.Contains(t, string(text), "unsupported Content-Encoding: "+algorithm)
	}
}

// An early line of a recording that cannot be read makes the session begin at its first event, not in 1970.
func TestSessionBeginsAtItsFirstEvent(t *testing.T) {
	const first = 1_700_000_000_000_000_000
	e := startExporter(t, componenttest.NewNopHost(), nil)
	sym := symbols.New(symbols.DefaultLimits())
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	c := threadpdata.Carrier{
		Session: testSession, Batch: 1, Before: 1, Watermark: first + 3e9, End: threadpdata.EndExit, Threads: []jvmthread.Thread{{ID: 1, Name: "main"}},
		Events: []jvmthread.Event{
			{Time: first, Thread: 1, Kind: jvmthread.KindThreadStart},
			{Time: first + 1e9, Thread: 1, Kind: jvmthread.KindSleepStart},
			{Time: first + 2e9, Thread: 1, Kind: jvmthread.KindSleepEnd},
		},
	}
	c.AppendTo(ss.Spans(), sym)
	require.NoError(t, e.consume(t.Context(), td))
	_, body := get(t, e.url()+"api/sessions/"+testSession.String())
	var s viewapi.Session
	require.NoError(t, json.Unmarshal(body, &s))
	assert.Equal(t, strconv.Itoa(first), s.Origin)
	assert.EqualValues(t, 1, s.Missed)
	assert.LessOrEqual(t, s.To, int64(3e9))
	require.Len(t, s.Gaps, 1)
	assert.GreaterOrEqual(t, s.Gaps[0].From, int64(0))
}

// After thread_span there are spans but no carriers: log and page say so.
func TestSpansInPlaceOfCarriersAreReported(t *testing.T) {
	core, log := observer.New(zapcore.WarnLevel)
	e := startLogging(t, componenttest.NewNopHost(), zap.New(core), nil)
	info := func() (out viewapi.Info) {
		_, body := get(t, e.url()+"api/info")
		require.NoError(t, json.Unmarshal(body, &out))
		return out
	}
	assert.Empty(t, info().Notice)
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	ss.Scope().SetName(threadpdata.ScopeSpans)
	ss.Spans().AppendEmpty().SetName("blocked OrderBook")
	for range 2 {
		require.NoError(t, e.consume(t.Context(), td))
	}
	assert.Equal(t, 1, log.FilterMessageSnippet("without thread_span").Len())
	assert.Contains(t, info().Notice, "without thread_span")
	require.NoError(t, e.consume(t.Context(), carriers(t, testSession, 3, threadpdata.EndExit)))
	assert.Empty(t, info().Notice, "carriers arrive, too")
}

// Clients that send nothing, or a byte now and then, lose their connections; meanwhile the page is served to others.
func TestSlowClientsAreDisconnected(t *testing.T) {
	assert.Equal(t, 10*time.Second, createDefaultConfig().(*Config).HTTP.ReadHeaderTimeout)
	e := startExporter(t, componenttest.NewNopHost(), func(c *Config) { c.HTTP.ReadHeaderTimeout = 100 * time.Millisecond })
	var slow []net.Conn
	for i := range maxConnections + 20 {
		conn, err := net.Dial("tcp", e.address.String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		if i%2 == 0 {
			_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: loc"))
			require.NoError(t, err)
		}
		slow = append(slow, conn)
	}
	resp, err := http.Get("http://" + e.address.String() + "/") //nolint:noctx // a test
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, resp.Body.Close())
	for _, conn := range slow {
		_, err := io.Copy(io.Discard, conn)
		require.NoError(t, err)
	}
}
