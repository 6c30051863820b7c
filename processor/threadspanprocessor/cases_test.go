// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

// TestCases runs testdata/cases: each folder is a case. It has the processor's config.yaml and one file for each call of ConsumeTraces
// (1.test, 2.test, …), all on the same processor. A file starts with a description, and then has the sections
//
//   - in: the request. A line "session NUMBER batch NUMBER" starts a batch, whose events follow as in threadtest.Parse; locks are named by
//     their class. The line may continue with "lost" (the batch does not arrive) or "end=REASON". A line "span NAME" is a span of another
//     source. A line "wait DURATION" comes last and lets that time pass, a line "shutdown" stops the processor.
//   - out: the spans that the call emits.
//   - telemetry: the internal metrics after the call, except the estimate of memory.
func TestCases(t *testing.T) {
	folders, err := filepath.Glob("testdata/cases/*")
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runCase(t, folder) })
		})
	}
}

func runCase(t *testing.T, folder string) {
	t.Helper()
	conf, err := confmaptest.LoadConf(filepath.Join(folder, "config.yaml"))
	require.NoError(t, err)
	p := start(t, func(c *Config) { require.NoError(t, conf.Unmarshal(c)) }, nil)
	files, err := filepath.Glob(filepath.Join(folder, "*.test"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	c := caseReader{t: t, sessions: make(map[byte]*caseSession), spans: make(map[pcommon.SpanID]string)}
	spanNames := make(map[pcommon.SpanID]string)
	for _, file := range files {
		names, sections := golden.Read(t, file)
		request := c.read(sections["in"])
		maps.Copy(spanNames, c.spans)
		p.sink.Reset()
		require.NoError(t, p.ConsumeTraces(t.Context(), request.traces))
		time.Sleep(request.wait) // in the synctest bubble
		synctest.Wait()
		if request.shutdown {
			p.stop(t)
		}
		sections["out"], sections["telemetry"] = spansText(p.sink.AllTraces(), spanNames), telemetryText(t, p)
		golden.Compare(t, file, golden.Join(names, sections))
	}
	p.stop(t)
}

// request is the in section of a file.
type request struct {
	traces   ptrace.Traces
	wait     time.Duration
	shutdown bool
}

// caseReader reads the requests of a case.
type caseReader struct {
	t        *testing.T
	sessions map[byte]*caseSession
	spans    map[pcommon.SpanID]string // of the application
}

// caseSession keeps what the requests of a session have in common.
type caseSession struct {
	id      jvmthread.SessionID
	history *threadtest.History
	symbols *symbols.Table
	events  map[uint64]int // by batch
}

func (c *caseReader) session(number byte) *caseSession {
	if c.sessions[number] == nil {
		c.sessions[number] = &caseSession{
			id: jvmthread.SessionID{number}, history: new(threadtest.History), symbols: symbols.New(symbols.DefaultLimits()), events: make(map[uint64]int),
		}
		c.sessions[number].symbols.InternStack("at java.lang.Object.wait(Object.java:366)\nat com.acme.Queue.take(Queue.java:20)")
	}
	return c.sessions[number]
}

func (c *caseReader) read(in string) (r request) {
	r.traces = ptrace.NewTraces()
	blocks := strings.Split("\n"+strings.TrimSpace(in), "\nsession ")
	for line := range strings.Lines(blocks[0]) {
		r.line(c.t, strings.TrimSpace(line))
	}
	for _, block := range blocks[1:] {
		header, body, _ := strings.Cut(block, "\n")
		var events []string
		for line := range strings.Lines(body) {
			if !r.line(c.t, strings.TrimSpace(line)) {
				events = append(events, line)
			}
		}
		c.batch(r.traces, strings.Fields(header), strings.Join(events, ""))
	}
	return r
}

// line parses a line that is not an event, and reports whether it was one.
func (r *request) line(t *testing.T, line string) bool {
	t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "":
	case "span":
		r.traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName(rest)
	case "wait":
		var err error
		r.wait, err = time.ParseDuration(rest)
		require.NoError(t, err)
	case "shutdown":
		r.shutdown = true
	default:
		return false
	}
	return true
}

// batch appends the carrier of a batch.
func (c *caseReader) batch(dst ptrace.Traces, header []string, text string) {
	require.Len(c.t, header[:3], 3, "want session NUMBER batch NUMBER")
	session, err := strconv.ParseUint(header[0], 10, 8)
	require.NoError(c.t, err)
	number, err := strconv.ParseUint(header[2], 10, 32)
	require.NoError(c.t, err)
	s := c.session(byte(session))
	events, threads := s.parse(c.t, text)
	for i := range events {
		if of := events[i].Span; !of.IsZero() {
			c.spans[pcommon.SpanID(of.SpanID)] = s.history.SpanName(of)
		}
	}
	s.events[number] = len(events)
	carrier := threadpdata.Carrier{Session: s.id, Batch: number}
	for n, count := range s.events {
		if n < number {
			carrier.Before += uint64(count)
		}
	}
	if len(events) > 0 {
		carrier.Watermark = events[len(events)-1].Time
	}
	for _, word := range header[3:] {
		if word == "lost" {
			return
		}
		reason, ok := strings.CutPrefix(word, "end=")
		require.True(c.t, ok, word)
		carrier.End = reason
	}
	rs := dst.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "session "+header[0])
	ss := rs.ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	carrier.Events = events
	slices.SortStableFunc(carrier.Events, func(a, b jvmthread.Event) int {
		return slices.Index(threads, a.Thread) - slices.Index(threads, b.Thread)
	})
	for _, th := range threads {
		carrier.Threads = append(carrier.Threads, s.symbols.Thread(th))
	}
	carrier.AppendTo(ss.Spans(), s.symbols)
}

// parse returns the events of a batch, and the threads that they name.
func (s *caseSession) parse(t *testing.T, text string) (events []jvmthread.Event, threads []jvmthread.ThreadID) {
	t.Helper()
	h := s.history
	h.Events = nil
	require.NoError(t, h.Append(text))
	add := func(name string) {
		if id := h.Thread(name); id != jvmthread.NoThread && !slices.Contains(threads, id) {
			threads = append(threads, id)
			s.symbols.SetThread(jvmthread.Thread{ID: id, Name: name})
		}
	}
	for line := range strings.Lines(text) {
		for i, word := range strings.Fields(line) {
			switch key, value, _ := strings.Cut(word, "="); {
			case i == 1:
				add(word)
			case key == "owner", key == "target":
				add(value)
			case key == "lock":
				require.Equal(t, h.Lock(value).Class, s.symbols.InternClass(value))
			}
		}
	}
	return h.Events, threads
}
