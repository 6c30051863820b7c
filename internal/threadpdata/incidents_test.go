// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

// incidentsOf returns the spans of the windows of a history, and those of its incidents.
func incidentsOf(t *testing.T, events []jvmthread.Event, sym *symbols.Table, length time.Duration) (windows, incidents []ptrace.Span) {
	t.Helper()
	cfg := engine.DefaultConfig()
	cfg.Window = length
	e := drive.New(cfg, sym)
	emitter, paths := threadpdata.NewEmitter(session, sym, e.Waits()), window.NewFinder()
	finder := incident.NewFinder(incident.Options{MinTime: 10 * time.Millisecond, MaxPerWindow: 20})
	finder.Waits = e.Waits()
	yield := func(w *window.Window) {
		spans := ptrace.NewSpanSlice()
		emitter.Append(w, threadpdata.Prepare(w, paths, 0), spans)
		n := spans.Len()
		emitter.AppendIncidents(finder.Find(w), spans.At(0), spans)
		for i, s := range spans.All() {
			if i < n {
				windows = append(windows, s)
			} else {
				incidents = append(incidents, s)
			}
		}
	}
	e.Batch(events, 0, events[len(events)-1].Time+1, yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	return windows, incidents
}

// A report that blocks matchers, and a pool that runs dry.
func TestTracesOfIncidents(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	events := threadtest.ReportAndMatchers(sym)
	windows, incidents := incidentsOf(t, events, sym, time.Second)
	seen := make(map[pcommon.SpanID]ptrace.Span)
	for _, s := range append(windows, incidents...) {
		require.NotContains(t, seen, s.SpanID(), s.Name())
		seen[s.SpanID()] = s
	}
	td, perTrace := ptrace.NewTraces(), make(map[pcommon.TraceID]int)
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for _, s := range windows {
		wellFormed(t, s, seen)
	}
	for _, s := range incidents {
		wellFormed(t, s, seen)
		perTrace[s.TraceID()]++
		if s.ParentSpanID().IsEmpty() || len(perTrace) == 1 { // of the others the root only
			s.CopyTo(spans.AppendEmpty())
		}
	}
	for id, n := range perTrace {
		assert.LessOrEqual(t, n, 50, "trace %v", id)
	}
	checkSums(t, windows, incidents)
	var b strings.Builder
	printTrace(&b, td)
	golden.Compare(t, "testdata/incidents.txt", b.String())
}

// checkSums checks that the times of the incidents, and of those that the windows only count, are the contended time of the windows.
func checkSums(t *testing.T, windows, incidents []ptrace.Span) {
	t.Helper()
	sum := func(spans []ptrace.Span, key string) (sum int64) {
		for _, s := range spans {
			if v, ok := s.Attributes().Get(key); ok && s.ParentSpanID().IsEmpty() {
				sum += v.Int()
			}
		}
		return sum
	}
	reported := sum(incidents, "weft.incident.blocked.time")
	assert.Positive(t, reported)
	assert.Equal(t, reported, sum(windows, "weft.incident.time"))
	assert.Equal(t, sum(windows, "weft.contended.time")+sum(windows, "weft.starved.time"), reported+sum(windows, "weft.incident.folded.time"))
}

// Where an incident is cut, its rest and another incident may begin with a wait of the same thread.
func TestRestHasItsOwnTrace(t *testing.T) {
	id := incident.ID{Start: 70, First: 1}
	rest := id
	rest.Rest = true
	assert.NotEqual(t, threadpdata.IncidentTraceID(session, id), threadpdata.IncidentTraceID(session, rest))
}

// explanations returns those of the incidents of a history. Its threads have their names, its locks are named after their classes, and its stacks
// are numbered from 1.
func explanations(t *testing.T, history string, stacks ...string) (all []string) {
	t.Helper()
	h, err := threadtest.Parse(history)
	require.NoError(t, err)
	sym := h.Symbols()
	for _, stack := range stacks {
		sym.InternStack(stack)
	}
	for line := range strings.Lines(strings.TrimSpace(history)) {
		name := strings.Fields(line)[1]
		sym.SetThread(jvmthread.Thread{ID: h.Thread(name), Name: name})
	}
	_, incidents := incidentsOf(t, h.Events, sym, 10*time.Second)
	for _, s := range incidents {
		if s.ParentSpanID().IsEmpty() {
			value, _ := s.Attributes().Get("weft.explanation")
			all = append(all, value.AsString())
		}
	}
	return all
}

// Threads are counted for each lock. B has Tape and waits for Book; C and D wait for Tape, and then C has Tape and E waits for Disk, which C has.
func TestExplanationCountsThreadsOfALock(t *testing.T) {
	assert.Equal(t, []string{
		"A held Book for 81 ms, asleep; B waited 81 ms for it; because of that, 2 threads waited 145 ms for Tape, E 61 ms for Disk",
	}, explanations(t, `
0         A threadStart
0         B threadStart
0         C threadStart
0         D threadStart
0         E threadStart
10000000  A sleepStart
20000000  B contendedEnter lock=Book owner=A
30000000  C contendedEnter lock=Tape owner=B
40000000  D contendedEnter lock=Tape owner=B
45000000  E contendedEnter lock=Disk owner=C
100000000 A sleepEnd
101000000 B contendedEntered lock=Book
105000000 C contendedEntered lock=Tape
106000000 E contendedEntered lock=Disk
110000000 D contendedEntered lock=Tape
`))
}

// X was the cause in one window only, in which A waited for it. What A held is the cause of most.
func TestExplanationOfSeveralRoots(t *testing.T) {
	assert.Equal(t, []string{"A held Book for 57.9 s, runnable; B waited 57.9 s for it; 3 threads waited 26.7 s for Tape"}, explanations(t, `
0           A threadStart
0           B threadStart
0           C threadStart
0           D threadStart
0           X threadStart
1000000000  B contendedEnter lock=Book owner=A
20000000000 X sleepStart
20100000000 A contendedEnter lock=Tape owner=X
20100000000 C contendedEnter lock=Tape owner=X
20100000000 D contendedEnter lock=Tape owner=X
28999000000 X sleepEnd
29000000000 A contendedEntered lock=Tape
29001000000 C contendedEntered lock=Tape
29002000000 D contendedEntered lock=Tape
58900000000 B contendedEntered lock=Book
`))
}

// A pool that ran dry is an error if a wait timed out.
func TestPoolThatTimedOut(t *testing.T) {
	h, err := threadtest.Parse(`
0 A threadStart
0 B threadStart
0 C threadStart
1000000 B park lock=java.util.concurrent.SynchronousQueue arg=50000000 stack=1
2000000 C park lock=java.util.concurrent.SynchronousQueue arg=50000000 stack=1
30000000 A unpark target=B
30001000 B unparked
52001000 C unparked
60000000 A yield
`)
	require.NoError(t, err)
	sym := h.Symbols()
	sym.InternStack("at java.util.concurrent.locks.LockSupport.parkNanos(LockSupport.java:252)\n" +
		"at com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:162)\nat com.acme.Shop.buy(Shop.java:20)")
	for _, name := range []string{"A", "B", "C"} {
		sym.SetThread(jvmthread.Thread{ID: h.Thread(name), Name: name})
	}
	_, incidents := incidentsOf(t, h.Events, sym, time.Second)
	require.NotEmpty(t, incidents)
	root := incidents[0]
	assert.Equal(t, "pool exhausted HikariPool", root.Name())
	assert.Equal(t, ptrace.StatusCodeError, root.Status().Code())
	assert.Equal(t, "1 wait timed out", root.Status().Message()) // a thread may wait several times
	for key, want := range map[string]string{
		"error.type": "timeout", "weft.incident.timed_out": "1", "weft.incident.kind": "pool_exhausted",
		"weft.explanation": "2 threads waited 79 ms for a connection of HikariPool; 2 threads held one, runnable; 1 wait timed out",
	} {
		value, _ := root.Attributes().Get(key)
		assert.Equal(t, want, value.AsString(), key)
	}
}

// A virtual thread that has no carrier says who keeps them, and where: the agent takes the stack of a thread that computes.
func TestExplanationNamesWhoKeepsCarriers(t *testing.T) {
	history := `
0         main threadStart
1000000   main startCalled target=hog virtualPeer
1000000   main startCalled target=a virtualPeer
1000000   main startCalled target=b virtualPeer
2000000   hog mount target=C virtual
2000000   hog threadStart virtual
22000000  hog running target=C arg=20000000 stack=1 virtual
102000000 hog threadEnd virtual
102000000 hog unmount target=C virtual
103000000 a mount target=C virtual
103000000 a threadStart virtual
104000000 a threadEnd virtual
104000000 a unmount target=C virtual
105000000 b mount target=C virtual
`
	assert.Equal(t, []string{
		"2 threads waited 206 ms for a carrier; hog kept one for 100 ms, runnable in Orders.total",
	}, explanations(t, history, "at com.acme.Orders.total(Orders.java:7)\n"))
}

// Of short runs, none is to blame.
func TestExplanationOfTooFewCarriers(t *testing.T) {
	assert.Equal(t, []string{
		"b waited 11 ms for a carrier; no thread kept one for 10 ms: there are too few for the load",
	}, explanations(t, `
0        main threadStart
1000000  main startCalled target=a virtualPeer
1000000  main startCalled target=b virtualPeer
2000000  a mount target=C virtual
7000000  a yield virtual
7000000  a unmount target=C virtual
8000000  a mount target=C virtual
11000000 a yield virtual
11000000 a unmount target=C virtual
12000000 b mount target=C virtual
13000000 b yield virtual
`))
}
