// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

var sessionID = jvmthread.SessionID{0: 1, 15: 1}

const threadClass = 100 // of thread objects, in simulations

var classNames = []string{"", "com.acme.OrderBook", "com.acme.Account", "java.lang.Thread", "java.util.concurrent.locks.ReentrantLock$NonfairSync"}

// run cuts a history into windows of equal length and passes each to yield.
func run(events []jvmthread.Event, length time.Duration, yield engine.Yield) {
	watched(events, length, nil, nil, yield)
}

func watched(events []jvmthread.Event, length time.Duration, sym *symbols.Table, see func([]jvmthread.Event), yield engine.Yield) {
	cfg := engine.DefaultConfig()
	cfg.Window, cfg.Phase = length, window.Phase(sessionID, length)
	e := drive.New(cfg, sym)
	if see != nil {
		e.Watch(see)
	}
	e.Add(ordering.Batch{Number: 1, Watermark: events[len(events)-1].Time + 1, Events: events})
	e.Advance(yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
}

// dress adds stacks to events, for the tables by caller.
func dress(events []jvmthread.Event, sym *symbols.Table) []jvmthread.Event {
	out := append([]jvmthread.Event(nil), events...)
	for i := range out {
		ev := &out[i]
		switch ev.Kind {
		case jvmthread.KindContendedEnter, jvmthread.KindPark, jvmthread.KindNotify, jvmthread.KindStartCalled, jvmthread.KindUnpark:
			ev.Stack = sym.InternStack(fmt.Sprintf("at com.acme.Matcher.m%d(Matcher.java:%d)\nat com.acme.Main.run(Main.java:1)\n", ev.Lock.Hash%3, 10+ev.Lock.Hash))
		case jvmthread.KindWait:
			ev.Stack = sym.InternStack("at java.lang.Object.wait(Native Method)\nat com.acme.Queue.take(Queue.java:7)\n")
		}
	}
	return out
}

// fixture is a server with a simulated session.
type fixture struct {
	*httptest.Server

	t       *testing.T
	events  []jvmthread.Event
	store   *store.Store
	session *store.Session
	view    *server.View
	symbols *symbols.Table
}

func newFixture(t *testing.T, seed uint64, threads, locks, actions int, length time.Duration) *fixture {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	for _, c := range classNames[1:] {
		sym.InternClass(c)
	}
	for i := len(classNames); i <= threadClass; i++ {
		sym.InternClass(fmt.Sprintf("com.acme.Class%d", i))
	}
	for i := range threads {
		sym.SetThread(jvmthread.Thread{ID: jvmthread.ThreadID(i + 1), Name: fmt.Sprintf("worker-%d", i+1), Group: []string{"main", "pool"}[i%2]})
	}
	return fixtureOf(t, sym, dress(threadtest.Simulate(seed, threads, locks, actions).Events, sym), length)
}

// fixtureOf serves a session with the given events, sorted by time.
func fixtureOf(t *testing.T, sym *symbols.Table, events []jvmthread.Event, length time.Duration) *fixture {
	t.Helper()
	f := &fixture{t: t, store: store.New(math.MaxInt64, nil), events: events}
	f.session = f.store.Open(sessionID, store.Meta{"service.name": "test", "process.pid": "42"})
	watched(f.events, length, sym, func(events []jvmthread.Event) { f.session.Events(events, sym) }, func(w *window.Window) { f.session.Append(w, sym) })
	f.session.Close(window.CutEnd)
	f.symbols = sym
	f.view = server.New(f.store, server.Config{TraceURL: "http://jaeger/trace/{trace_id}?s={span_id}", TraceWindow: 10 * time.Second})
	f.Server = httptest.NewServer(f.view.Handler())
	t.Cleanup(func() {
		f.view.Close()
		f.Close()
	})
	return f
}

// get sends a request and returns the status and the body.
func (f *fixture) get(path string) (int, []byte) {
	f.t.Helper()
	resp, err := f.Client().Get(f.URL + "/api/" + path)
	require.NoError(f.t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(f.t, err)
	require.NoError(f.t, resp.Body.Close())
	return resp.StatusCode, body
}

// ask queries the session and decodes the response, which must not have unknown fields.
func ask[T any](f *fixture, what string) T {
	f.t.Helper()
	status, body := f.get("sessions/" + sessionID.String() + what)
	require.Equal(f.t, http.StatusOK, status, "%s: %s", what, body)
	assert.LessOrEqual(f.t, len(body), 200_000, what)
	assert.NotContains(f.t, string(body), ":null,\"rows", "lists are never null")
	var out T
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	require.NoError(f.t, d.Decode(&out), what)
	return out
}

// The tables by thread, class, caller and lock equal the engine's sums to the nanosecond.
func TestTablesMatchEngineSums(t *testing.T) {
	for seed := range uint64(12) {
		f := newFixture(t, seed, 10, 4, 1500, 700)
		var whole window.Totals
		byClass := map[string]window.LockStats{}
		byThread := make(map[jvmthread.ThreadID]window.Totals)
		contended := make(map[jvmthread.ThreadID]window.Sum)
		var holds int64
		run(f.events, time.Hour, func(w *window.Window) {
			whole = w.Totals
			for _, l := range w.Lanes {
				byThread[l.Thread], contended[l.Thread] = l.Totals, l.Waits.Contended()
			}
			for _, l := range w.Locks {
				byClass[classNames[l.Class]] = l
				holds += int64(l.Handoffs)
			}
		})

		threads := ask[viewapi.Threads](f, "/threads?sort=blocked.time")
		require.Len(t, threads.Threads, len(byThread))
		for s := range jvmthread.NumStates {
			assert.Equal(t, viewapi.StateTime{Count: int64(whole[s].Count), Time: int64(whole[s].Time)}, threads.Sum.States[s], "%v", jvmthread.State(s))
		}
		for i, row := range threads.Threads {
			want := byThread[jvmthread.ThreadID(row.ID)]
			assert.Equal(t, int64(contended[jvmthread.ThreadID(row.ID)].Time), row.Blocked.Time)
			assert.Equal(t, int64(want[jvmthread.StateWaiting].Count), row.Waited.Count)
			if i > 0 {
				assert.LessOrEqual(t, row.Blocked.Time, threads.Threads[i-1].Blocked.Time)
			}
		}

		classes := ask[viewapi.Classes](f, "/classes?savings=true")
		var blocked int64
		for _, row := range classes.Classes {
			want := byClass[row.Class]
			assert.Equal(t, int64(want.Contentions), row.Blocked.Count, row.Class)
			assert.Equal(t, int64(want.Blocked), row.Blocked.Time, row.Class)
			assert.Equal(t, int64(want.BlockedMax), row.Blocked.Max, row.Class)
			assert.Equal(t, int64(want.Waits), row.Waited.Count, row.Class)
			assert.Equal(t, int64(want.Waited), row.Waited.Time, row.Class)
			var seen int64
			for _, n := range row.Blocked.Buckets {
				seen += n
			}
			assert.Equal(t, row.Blocked.Seen, seen)
			blocked += row.Blocked.Time
			require.NotNil(t, row.Saving)
			assert.LessOrEqual(t, row.Saving.Drag, row.Saving.Bound)
		}
		assert.Equal(t, blocked, classes.Sum.Blocked.Time)
		assert.Equal(t, threads.Sum.Blocked.Time, blocked)

		for _, kind := range []string{"blocked", "waited"} {
			callers := ask[viewapi.Callers](f, "/callers?limit=200&kind="+kind)
			var count, sum, stacks int64
			for _, row := range callers.Callers {
				count += row.Stats.Count
				sum += row.Stats.Time
				for _, s := range row.Stacks {
					stacks += s.Time
				}
			}
			want := map[string]viewapi.StateTime{"blocked": threads.Sum.Blocked, "waited": threads.Sum.Waited}[kind]
			assert.Equal(t, want, viewapi.StateTime{Count: count, Time: sum}, kind)
			assert.Equal(t, sum, callers.Sum.Stats.Time)
			if kind == "blocked" {
				assert.Equal(t, sum, stacks)
			}
		}

		var sum viewapi.StateTime
		for _, row := range ask[viewapi.Locks](f, "/locks?limit=500").Locks {
			sum.Count += row.Blocked.Count
			sum.Time += row.Blocked.Time
		}
		assert.Equal(t, threads.Sum.Blocked, sum)
	}
}

// The table of several threads is the sum of their tables; tables of adjacent ranges add up.
func TestSelectionsAddUp(t *testing.T) {
	f := newFixture(t, 3, 10, 4, 1500, 700)
	total := ask[viewapi.Classes](f, "/classes?threads=2,4-6").Sum
	var sum viewapi.StateTime
	for _, id := range []int{2, 4, 5, 6} {
		s := ask[viewapi.Classes](f, fmt.Sprintf("/classes?threads=%d", id)).Sum
		sum.Count += s.Blocked.Count
		sum.Time += s.Blocked.Time
	}
	assert.Equal(t, viewapi.StateTime{Count: total.Blocked.Count, Time: total.Blocked.Time}, sum)

	all := ask[viewapi.Threads](f, "/threads")
	middle := (all.From + all.To) / 2
	a := ask[viewapi.Threads](f, fmt.Sprintf("/threads?to=%d", middle))
	b := ask[viewapi.Threads](f, fmt.Sprintf("/threads?from=%d", middle))
	for s := range all.Sum.States {
		got := viewapi.StateTime{Count: a.Sum.States[s].Count + b.Sum.States[s].Count, Time: a.Sum.States[s].Time + b.Sum.States[s].Time}
		assert.Equal(t, all.Sum.States[s], got)
	}
}

// Each state is drawn for its duration, parks for what others hold as blocked: exactly in the minimap, within the rounding of one step in lanes.
func TestLanesAccountForAllTime(t *testing.T) {
	f := newFixture(t, 5, 12, 3, 3000, 900)
	all := ask[viewapi.Threads](f, "/threads")
	want := make([]int64, store.NumShown)
	for s := range all.Sum.States {
		want[s] = all.Sum.States[s].Time
	}
	assert.Zero(t, all.Sum.Idle) // TestPoolsMatchThreads has idle ones
	contended := want[jvmthread.StateParked] - ask[viewapi.Classes](f, "/classes").Sum.Parked.Time
	assert.Positive(t, contended)
	want[jvmthread.StateParked] -= contended
	want[jvmthread.StateBlocked] += contended
	m := ask[viewapi.Minimap](f, "/minimap?width=77")
	for s, list := range m.Time {
		var sum int64
		for _, v := range list {
			sum += v
		}
		assert.Equal(t, want[s], sum)
	}
	for _, width := range []int{1, 7, 100, 1280} {
		lanes := ask[viewapi.Lanes](f, fmt.Sprintf("/lanes?width=%d", width))
		require.Len(t, lanes.Lanes, len(all.Threads))
		for _, l := range lanes.Lanes {
			require.Len(t, l.Code, len(l.Width))
			steps := 0
			for i, w := range l.Width {
				require.Positive(t, w)
				steps += w
				c := l.Code[i]
				if c>>12&viewapi.MarkMixed == 0 {
					assert.Equal(t, viewapi.NoState, c>>4&15)
					assert.Equal(t, 15, c>>8&15)
				}
			}
			assert.Equal(t, lanes.Steps, steps, "width %d, thread %d", width, l.Thread.ID)
		}
		assert.GreaterOrEqual(t, int64(lanes.Steps)*lanes.Step, lanes.To-lanes.From)
	}
}

// Shown and hidden arrows add up to all interactions; a sufficient limit keeps arrows of each kind.
func TestHiddenArrowsAreCounted(t *testing.T) {
	f := newFixture(t, 9, 12, 3, 6000, 900)
	s := ask[viewapi.Session](f, "")
	for _, limit := range []int{1, 2, 3, jvmthread.NumInteractionKinds, 50, 1000} {
		a := ask[viewapi.Arrows](f, fmt.Sprintf("/interactions?limit=%d", limit))
		total, hidden := 0, 0
		for kind, k := range a.Kinds {
			total += k.Total
			hidden += k.Hidden
			if k.Total > 0 && limit >= jvmthread.NumInteractionKinds {
				assert.Less(t, k.Hidden, k.Total, "kind %d", kind)
			}
		}
		assert.NotEmpty(t, a.Arrows)
		assert.LessOrEqual(t, len(a.Arrows), limit)
		assert.Equal(t, total, len(a.Arrows)+hidden)
		assert.Contains(t, []int{s.Interactions, s.Interactions - 1}, total) // the effect of the last one may lie at the end of the range
		for _, x := range a.Arrows {
			assert.LessOrEqual(t, x.FromTime, x.ToTime)
			assert.NotEqual(t, x.From, x.To)
		}
	}
}

// An interval links to its cause, and the cause links back.
func TestIntervalLinksToItsCause(t *testing.T) {
	f := newFixture(t, 4, 10, 3, 2000, 800)
	n := 0
	for _, x := range ask[viewapi.Arrows](f, "/interactions?kinds=handoff,notify").Arrows {
		iv := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=%d&at=%d", x.To, x.ToStart))
		if iv.To != x.ToTime {
			continue // empty
		}
		require.NotNil(t, iv.Cause)
		assert.Equal(t, x.From, iv.Cause.Thread.ID)
		assert.Equal(t, x.FromTime, iv.Cause.Time)
		require.NotNil(t, iv.Cause.Interval)
		require.NotNil(t, iv.Span)
		assert.Contains(t, iv.Span.URL, iv.Span.TraceID)
		from := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=%d&at=%d&seq=%d", x.From, iv.Cause.Interval.Time, iv.Cause.Interval.Seq))
		found := false
		for _, e := range from.Effects {
			found = found || e.Interval.Seq == iv.Seq && e.Interval.Thread == iv.Thread
		}
		assert.True(t, found || from.More > 0)
		n++
	}
	assert.Greater(t, n, 10)
}

// The pages of the log add up to the complete log.
func TestLogIsPaged(t *testing.T) {
	f := newFixture(t, 6, 8, 3, 2000, 800)
	whole := ask[viewapi.Log](f, "/log?limit=1000&to=9000")
	require.Greater(t, len(whole.Lines), 60)
	require.Empty(t, whole.Cursor)
	var lines []viewapi.Triple
	cursor := ""
	for range 1000 {
		l := ask[viewapi.Log](f, "/log?limit=13&to=9000&cursor="+strings.ReplaceAll(cursor, "+", "%2B"))
		lines = append(lines, l.Lines...)
		if cursor = l.Cursor; cursor == "" {
			break
		}
	}
	assert.Equal(t, whole.Lines, lines)
}

// A path tiles the range, and its tables add up to the range's length.
func TestPathTilesTheRange(t *testing.T) {
	f := newFixture(t, 8, 10, 3, 4000, 800)
	for _, what := range []string{"/path", "/path?mode=unbounded", "/path?thread=3", "/path?from=2000&to=9000"} {
		p := ask[viewapi.Path](f, what)
		require.NotEmpty(t, p.Segments)
		at := p.From
		n := 0
		for _, s := range p.Segments {
			assert.Equal(t, at, s.From)
			at = s.To
			n += s.Joined
		}
		assert.Equal(t, p.To, at)
		assert.Equal(t, p.Total, n)
		for _, rows := range [][]viewapi.PathRow{p.PerThread, p.PerKind} {
			var sum int64
			for _, r := range rows {
				sum += r.Time
				assert.True(t, r.First != nil || r.Name == "start_latency" || r.Name == "unknown" || r.Thread != nil, r.Name)
			}
			assert.Equal(t, p.To-p.From, sum)
		}
	}
}
