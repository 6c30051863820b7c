// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/await"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// served is the page over the session of threadtest.ReportAndMatchers. It can answer waiting itself, and the rest by the real server.
type served struct {
	page    http.Handler
	session string
	waiting *viewapi.Waiting              // nil: the real answer
	broken  atomic.Pointer[string]        // part of the paths that fail
	under   atomic.Int32                  // requests under way
	most    atomic.Int32                  // at once
	gate    atomic.Pointer[chan struct{}] // which requests wait for; nil: none
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := s.under.Add(1)
	defer s.under.Add(-1)
	s.most.Store(max(s.most.Load(), now))
	if gate := s.gate.Load(); gate != nil {
		select {
		case <-*gate:
		case <-r.Context().Done():
		}
	}
	if broken := s.broken.Load(); broken != nil && strings.Contains(r.URL.Path, *broken) {
		http.Error(w, `{"error": "too many concurrent requests; try again"}`, http.StatusServiceUnavailable)
		return
	}
	if s.waiting != nil && strings.HasSuffix(r.URL.Path, "/waiting") {
		_ = json.NewEncoder(w).Encode(s.waiting)
		return
	}
	s.page.ServeHTTP(w, r)
}

func serve(t *testing.T, live bool) *served {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	return serveEvents(t, live, sym, threadtest.ReportAndMatchers(sym))
}

func serveEvents(t *testing.T, live bool, sym *symbols.Table, events []jvmthread.Event) *served {
	t.Helper()
	id := jvmthread.SessionID{0: 0xa0}
	st := store.New(math.MaxInt64, nil)
	session := st.Open(id, store.Meta{
		"service.name": "exchange", "process.pid": "4711", "process.runtime.name": "OpenJDK", "process.runtime.version": "17.0.12",
	})
	cfg := engine.DefaultConfig()
	cfg.Window = 300 * time.Millisecond
	e := drive.New(cfg, sym)
	e.Watch(func(events []jvmthread.Event) { session.Events(events, sym) })
	shown := func(w *window.Window) { session.Append(w, sym) }
	e.Batch(events, 0, events[len(events)-1].Time+1, shown)
	if !live {
		e.Close(jvmthread.NoTime, window.CutEnd, shown)
		session.Close(window.CutEnd)
	}
	view := server.New(st, server.Config{})
	t.Cleanup(view.Close)
	waiting := exchange().waiting
	return &served{page: view.Handler(), session: hex.EncodeToString(id[:]), waiting: &waiting}
}

// run sends the requests of commands, until there are none. Ticks are left out.
func run(m *model, cmd tea.Cmd) {
	for cmd != nil {
		_, cmd = m.Update(cmd())
	}
}

// use presses a key, and sends the requests that follow.
func use(m *model, key string) {
	_, cmd := m.Update(keyNamed(key))
	run(m, cmd)
}

func (s *served) model() *model {
	m := newModel(context.Background(), page.Of(s), s.session, Options{Window: All}.withDefaults())
	m.zone, m.due, m.width, m.height = time.UTC, true, 160, 30
	return m
}

// TestEveryTableLoads opens each table in each order: the server knows the fields.
func TestEveryTableLoads(t *testing.T) {
	f := serve(t, true)
	f.waiting = nil
	m := f.model()
	m.idle = true
	run(m, m.next())
	assert.Contains(t, shown(m), "holding OrderBook.lock")
	assert.Contains(t, shown(m), "report slept")
	for tab := range tabCount {
		use(m, strconv.Itoa(tab+1))
		for range tabColumns[tab] {
			use(m, "s")
			use(m, "r")
			require.Empty(t, m.problem, "%s", tabNames[tab])
		}
		for range kinds {
			use(m, "right")
			require.Empty(t, m.problem, "%s", m.kind())
		}
		if tab != incidentsTab {
			assert.NotEmpty(t, m.table.rows, "%s", tabNames[tab])
		}
	}
}

func TestDetailsHaveStacks(t *testing.T) {
	f := serve(t, false)
	since := 110*ms - 1*ms // of the first wait of matcher-1, from the first event
	f.waiting.Rows[0].Since = since
	m := f.model()
	run(m, m.next())
	for _, c := range []struct{ keys, want string }{
		{"1 /matcher-1 enter", "com.acme.Report.write(Report.java:30)"},
		{"2", "- lock OrderBook.lock"},
		{"3", "com.acme.Matcher.match for OrderBook.lock"},
		{"4 /matcher-1 enter", "stack of matcher-1"},
	} {
		m.tab, m.pane = 0, nil
		m.setFilter("")
		for k := range strings.FieldsSeq(c.keys) {
			if pattern, ok := strings.CutPrefix(k, "/"); ok {
				m.setFilter(pattern)
				continue
			}
			if k != "enter" {
				use(m, k)
			}
		}
		require.NotEmpty(t, m.table.rows, c.keys)
		use(m, "enter")
		require.NotNil(t, m.pane, c.keys)
		assert.Contains(t, shown(m), c.want)
	}
}

// The details of a lock begin with the method that was blocked longest, and show its stack.
func TestDetailsOfALockBeginWithItsMostExpensiveMethod(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("com.acme.OrderBook"), Hash: 1}
	const owner, brief, long = 1, 2, 3
	for i, name := range []string{"owner", "brief", "long"} {
		sym.SetThread(jvmthread.Thread{ID: jvmthread.ThreadID(i + 1), Name: name})
	}
	f := serveEvents(t, false, sym, []jvmthread.Event{
		{Time: jvmthread.Time(1 * ms), Thread: long, Kind: jvmthread.KindContendedEnter, Lock: lock, Peer: owner, Stack: sym.InternStack("at com.acme.OrderBook.match(OrderBook.java:22)\n")},
		{Time: jvmthread.Time(80 * ms), Thread: brief, Kind: jvmthread.KindContendedEnter, Lock: lock, Peer: owner, Stack: sym.InternStack("at com.acme.OrderBook.depth(OrderBook.java:42)\n")},
		{Time: jvmthread.Time(90 * ms), Thread: brief, Kind: jvmthread.KindContendedEntered, Lock: lock},
		{Time: jvmthread.Time(100 * ms), Thread: long, Kind: jvmthread.KindContendedEntered, Lock: lock},
	})
	m := f.model()
	run(m, m.next())
	use(m, "3")
	use(m, "enter")
	_, methods, found := strings.Cut(shown(m), "methods that were blocked")
	require.True(t, found, shown(m))
	assert.Regexp(t, `(?s)99\.0 ms +com\.acme\.OrderBook\.match.*10\.0 ms +com\.acme\.OrderBook\.depth.*went.*OrderBook\.java:22`, methods)
	assert.NotContains(t, methods, "OrderBook.java:42")
}

// A part that fails keeps its last state, the others go on.
func TestAFailureIsANote(t *testing.T) {
	f := serve(t, false)
	m := f.model()
	run(m, m.next())
	for _, part := range []string{"/answer", "/waiting", "api/sessions"} {
		f.broken.Store(&part)
		m.idle = !m.idle
		m.due = true
		run(m, m.next())
		assert.Contains(t, shown(m), "Retrying: ")
		assert.Contains(t, shown(m), "too many concurrent requests")
		assert.Contains(t, shown(m), "holding OrderBook.lock", "the last answer stays")
		assert.Contains(t, shown(m), "matcher-1")
		assert.Contains(t, shown(m), "ENDED: the JVM has ended")
	}
	f.broken.Store(nil)
	m.due = true
	run(m, m.next())
	assert.NotContains(t, shown(m), "Retrying")
}

// While one refresh is under way, ticks and keys do not send another one.
func TestRequestsDoNotOverlap(t *testing.T) {
	f := serve(t, true)
	gate := make(chan struct{})
	f.gate.Store(&gate)
	m := f.model()
	first := m.next()
	require.NotNil(t, first)
	done := make(chan tea.Msg)
	go func() { done <- first() }()
	await.Until(t, "it loads", func() bool { return f.under.Load() == 1 })
	for _, k := range []string{"2", "i", "enter", "+", "3"} {
		_, cmd := m.Update(keyNamed(k))
		require.Nil(t, cmd, k)
	}
	close(gate)
	_, cmd := m.Update(<-done)
	require.NotNil(t, cmd, "what was chosen meanwhile is requested then")
	run(m, cmd)
	assert.Equal(t, locksTab, m.data.asked.tab)
	assert.EqualValues(t, 1, f.most.Load())
	assert.NotEmpty(t, m.table.rows)
}

func TestOnce(t *testing.T) {
	f := serve(t, true)
	for _, width := range []int{1, 40, 100, 250} {
		var out bytes.Buffer
		require.NoError(t, Once(t.Context(), page.Of(f), f.session, &out, width))
		if width >= 40 {
			assert.Contains(t, out.String(), "METHODS THAT WERE BLOCKED\n")
			assert.Contains(t, out.String(), "report slept")
			assert.NotContains(t, out.String(), "\x1b")
		}
	}
	var out bytes.Buffer
	require.NoError(t, Print(t.Context(), page.Of(f), f.session, Options{Out: &out, Window: time.Second, Title: "orders"}, 100))
	assert.Contains(t, out.String(), "orders  PID 4711")
	assert.Contains(t, out.String(), "Last 1 s: ")
	unknown := strings.Repeat("f", 32)
	assert.ErrorContains(t, Once(t.Context(), page.Of(f), unknown, &bytes.Buffer{}, 80), "not found")
}

func TestADumbTerminalGetsText(t *testing.T) {
	t.Setenv("TERM", "dumb")
	f := serve(t, true)
	var out bytes.Buffer
	require.NoError(t, Run(t.Context(), page.Of(f), f.session, Options{In: strings.NewReader(""), Out: &out}))
	assert.Contains(t, out.String(), "THREADS THAT WAIT NOW\n")
	assert.NotContains(t, out.String(), "\x1b")
}
