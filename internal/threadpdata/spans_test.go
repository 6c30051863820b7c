// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

const history = `
1000000 main threadStart
1500000 main startCalled target=worker stack=1
2000000 worker threadStart
3000000 worker contendedEnter lock=book owner=main stack=2
7000000 main wait lock=queue arg=1000000 stack=3
7500000 worker contendedEntered lock=book
8000000 main waited lock=queue timedOut
8100000 main waitReturned lock=queue
8200000 main wait lock=queue stack=3
9000000 worker notify lock=queue stack=4
9500000 main waited lock=queue
9900000 main waitReturned lock=queue
10000000 main joinStart target=worker lock=worker-object stack=5
12000000 worker threadEnd
12100000 main waited lock=worker-object
12200000 main joinEnd target=worker lock=worker-object
12300000 main sleepStart arg=5000000
`

var session = jvmthread.SessionID{0xab, 1, 2, 3}

// traces runs the history through the engine with windows of the given length, and returns a trace for each.
func traces(t testing.TB, text string, length time.Duration, maxSpans int) (out []ptrace.Traces) {
	t.Helper()
	h, err := threadtest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	sym := symbols.New(symbols.DefaultLimits())
	sym.SetThread(jvmthread.Thread{ID: h.Thread("main"), Name: "main", Group: "main"})
	sym.SetThread(jvmthread.Thread{ID: h.Thread("worker"), Name: "worker-1", Group: "workers", Daemon: true})
	for _, name := range []string{"com.acme.OrderBook", "com.acme.Queue$Inner", "java.lang.Thread"} {
		sym.InternClass(name)
	}
	for _, stack := range []string{
		"at java.lang.Thread.start0(Native Method)\nat com.acme.Main.main(Main.java:12)",
		"at com.acme.OrderBook.add(OrderBook.java:42)\nat com.acme.Worker.run(Worker.java:7)",
		"at java.lang.Object.wait0(Native Method)\nat java.lang.Object.wait(Object.java:366)\nat com.acme.Queue.take(Queue.java:20)",
		"at com.acme.Queue.put(Queue.java:31)",
		"at java.lang.Thread.join(Thread.java:1313)\nat com.acme.Main.main(Main.java:20)",
		"at java.util.concurrent.locks.LockSupport.unpark(LockSupport.java:181)\nat org.apache.kafka.clients.producer.internals.BufferPool.deallocate(BufferPool.java:260)",
	} {
		sym.InternStack(stack)
	}
	cfg := engine.DefaultConfig()
	cfg.Window = length
	e, emitter := drive.New(cfg, nil), threadpdata.NewEmitter(session, sym, nil)
	finder := window.NewFinder()
	yield := func(w *window.Window) {
		for _, err := range threadtest.Validate(w) {
			t.Error(err)
		}
		td := ptrace.NewTraces()
		emitter.Append(w, threadpdata.Prepare(w, finder, maxSpans), td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans())
		out = append(out, td)
	}
	e.Add(ordering.Batch{Number: 1, Watermark: 15_000_000, Events: h.Events})
	e.Advance(yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	return out
}

func spansOf(td ptrace.Traces) (out []ptrace.Span) {
	for _, s := range td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		out = append(out, s)
	}
	return out
}

// The golden is readable: each span has its attributes and is indented below its parent.
func TestTraceOfAWindow(t *testing.T) {
	var b strings.Builder
	for _, td := range traces(t, history, time.Hour, 0) {
		printTrace(&b, td)
	}
	golden.Compare(t, "testdata/window.txt", b.String())
}

func printTrace(b *strings.Builder, td ptrace.Traces) {
	spans := spansOf(td)
	names := make(map[pcommon.SpanID]string)
	for _, s := range spans {
		names[s.SpanID()] = fmt.Sprintf("%s @%d", title(s), s.StartTimestamp())
	}
	depth := map[pcommon.SpanID]int{}
	for _, s := range spans {
		if !s.ParentSpanID().IsEmpty() {
			depth[s.SpanID()] = depth[s.ParentSpanID()] + 1
		}
		indent := strings.Repeat("  ", depth[s.SpanID()])
		fmt.Fprintf(b, "%s%s %d..%d\n", indent, title(s), s.StartTimestamp(), s.EndTimestamp())
		printMap(b, indent+"    ", s.Attributes())
		for _, ev := range s.Events().All() {
			fmt.Fprintf(b, "%s    * %s at %d\n", indent, ev.Name(), ev.Timestamp())
			printMap(b, indent+"        ", ev.Attributes())
		}
		for _, l := range s.Links().All() {
			target := names[l.SpanID()]
			if l.TraceID() != s.TraceID() {
				target = "another window"
			}
			fmt.Fprintf(b, "%s    -> %s\n", indent, target)
			printMap(b, indent+"        ", l.Attributes())
		}
	}
}

// title returns the name of a span, of a thread's with that of the thread.
func title(s ptrace.Span) string {
	if name, ok := s.Attributes().Get("thread.name"); ok && s.Name() == "thread" {
		return "thread " + name.Str()
	}
	return s.Name()
}

func printMap(b *strings.Builder, indent string, m pcommon.Map) {
	keys := make([]string, 0, m.Len())
	for k := range m.All() {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare)
	for _, k := range keys {
		v, _ := m.Get(k)
		fmt.Fprintf(b, "%s%s = %s\n", indent, k, strings.ReplaceAll(v.AsString(), "\n", " | "))
	}
}

// Jaeger and Tempo require these properties of every trace.
func TestTracesAreWellFormed(t *testing.T) {
	for _, length := range []time.Duration{time.Hour, 3 * time.Millisecond, 500 * time.Microsecond} {
		for _, maxSpans := range []int{0, 5, 9} {
			seen := make(map[pcommon.SpanID]ptrace.Span)
			var all []ptrace.Span
			for _, td := range traces(t, history, length, maxSpans) {
				spans := spansOf(td)
				if maxSpans > 0 && len(spans) > maxSpans {
					t.Errorf("%d spans, the budget is %d", len(spans), maxSpans)
				}
				for _, s := range spans {
					if _, twice := seen[s.SpanID()]; twice || s.SpanID()[0] == 0 || s.TraceID()[0] == 0 {
						t.Errorf("span id %s of %q is used twice or begins with a zero", s.SpanID(), s.Name())
					}
					seen[s.SpanID()] = s
				}
				all = append(all, spans...)
			}
			for _, s := range all {
				wellFormed(t, s, seen)
			}
		}
	}
}

// A thread's span normally ends a microsecond before its window, but a state may begin in that last microsecond.
func TestStateInTheLastMicrosecond(t *testing.T) {
	const text = `
1000000 main threadStart
1500000 main startCalled target=worker stack=1
2000000 worker threadStart
2999500 main sleepStart arg=1000
4000000 main sleepEnd
5999999 worker sleepStart arg=1000
6500000 worker sleepEnd
7000000 worker threadEnd
`
	seen := make(map[pcommon.SpanID]ptrace.Span)
	for _, td := range traces(t, text, 3*time.Millisecond, 0) {
		for _, s := range spansOf(td) {
			seen[s.SpanID()] = s
		}
	}
	for _, s := range seen {
		wellFormed(t, s, seen)
	}
}

// Where a running thread released a lock is what it did only if that is a method of the application.
func TestHolderRunsInTheApplication(t *testing.T) {
	const history = "1000000 main threadStart\n1000000 worker threadStart\n2000000 main park lock=book owner=worker\n" +
		"5000000 worker unpark target=main stack=%d\n5001000 main unparked\n6000000 main yield\n"
	for stack, want := range map[int]string{4: "com.acme.Queue.put", 6: ""} {
		found := false
		for _, td := range traces(t, fmt.Sprintf(history, stack), time.Second, 0) {
			for _, s := range spansOf(td) {
				if holder, ok := s.Attributes().Get("weft.lock.holder.thread.name"); ok && holder.Str() == "worker-1" {
					found = true
					have := ""
					if function, ok := s.Attributes().Get("weft.lock.holder.function"); ok {
						have = function.Str()
					}
					if have != want {
						t.Errorf("stack %d: have %q, want %q", stack, have, want)
					}
				}
			}
		}
		if !found {
			t.Errorf("stack %d: no holder", stack)
		}
	}
}

// A wait in which a virtual thread kept its carrier shows it, also one that is cut; a wait without a carrier does not.
func TestPinnedWaits(t *testing.T) {
	const history = `
1000000 main threadStart
1000000 worker threadStart virtual
1000000 worker mount target=main virtual
2000000 worker park lock=book virtual
2001000 worker unmount virtual
3000000 worker mount target=main virtual
3001000 worker unparked virtual
5000000 worker park lock=book virtual pinned
7000000 worker unparked virtual pinned
8000000 worker sleepStart arg=9000000 virtual
`
	want := []string{"2000000: false", "5000000: true", "8000000: true"}
	var have []string
	for _, td := range traces(t, history, time.Hour, 0) {
		for _, s := range spansOf(td) {
			if kind, ok := s.Attributes().Get("weft.wait.kind"); ok && kind.Str() != "carrier" {
				pinned, ok := s.Attributes().Get("weft.virtual.pinned")
				have = append(have, fmt.Sprintf("%d: %v", s.StartTimestamp(), ok && pinned.Bool()))
			}
		}
	}
	if !slices.Equal(have, want) {
		t.Errorf("have %q, want %q", have, want)
	}
}

func wellFormed(t *testing.T, s ptrace.Span, seen map[pcommon.SpanID]ptrace.Span) {
	t.Helper()
	if s.ParentSpanID().IsEmpty() {
		if s.Links().Len() > 0 {
			t.Errorf("root %q has links", s.Name())
		}
	} else {
		p, ok := seen[s.ParentSpanID()]
		if !ok || s.StartTimestamp() < p.StartTimestamp() || s.EndTimestamp() > p.EndTimestamp() || s.EndTimestamp() < s.StartTimestamp() {
			t.Errorf("%q %d..%d is not inside its parent", s.Name(), s.StartTimestamp(), s.EndTimestamp())
		}
	}
	for _, l := range s.Links().All() {
		target, ok := seen[l.SpanID()]
		if !ok || target.TraceID() != l.TraceID() {
			t.Errorf("%q links to a span that does not exist", s.Name())
		}
	}
}

func TestEmissionIsDeterministic(t *testing.T) {
	marshal := func() (out []byte) {
		for _, td := range traces(t, history, 3*time.Millisecond, 9) {
			b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, b...)
		}
		return out
	}
	first := marshal()
	for range 20 {
		if !bytes.Equal(first, marshal()) {
			t.Fatal("the same events produced different bytes")
		}
	}
}

// The path's segments name the thread that a thread on the path joins.
func TestPathNamesTheJoinedThread(t *testing.T) {
	const text = `
1000000 main threadStart
2000000 worker threadStart
3000000 main joinStart target=worker lock=worker-object stack=5
4000000 worker sleepStart arg=5000000
9000000 worker sleepEnd
12000000 worker threadEnd
12200000 main joinEnd target=worker lock=worker-object
`
	var names []string
	for _, td := range traces(t, text, time.Hour, 0) {
		for _, s := range spansOf(td) {
			explanation, _ := s.Attributes().Get("weft.explanation")
			if s.Name() == "critical path: sleep" {
				names = append(names, explanation.AsString())
			}
		}
	}
	if want := []string{"5 ms: worker-1 asleep, while main was in: join worker-1 (9.2 ms)"}; !slices.Equal(names, want) {
		t.Errorf("have %q, want %q", names, want)
	}
}

// Any number is the ID of a thread: a damaged stream may contain it. The times are those of a recording without a clock.
func TestSpansOfAnyThread(t *testing.T) {
	events := []jvmthread.Event{
		{Time: -2, Thread: math.MaxUint64, Kind: jvmthread.KindThreadStart},
		{Time: -2, Thread: 1, Kind: jvmthread.KindThreadStart},
		{Time: -1, Thread: 1, Kind: jvmthread.KindContendedEnter, Lock: jvmthread.LockID{Class: 1, Hash: 1}, Peer: math.MaxUint64},
		{Time: 3, Thread: 1, Kind: jvmthread.KindContendedEntered, Lock: jvmthread.LockID{Class: 1, Hash: 1}},
	}
	sym := symbols.New(symbols.DefaultLimits())
	e, emitter, finder := drive.New(engine.DefaultConfig(), sym), threadpdata.NewEmitter(session, sym, nil), window.NewFinder()
	spans := ptrace.NewSpanSlice()
	yield := func(w *window.Window) { emitter.Append(w, threadpdata.Prepare(w, finder, 0), spans) }
	e.Batch(events, 0, 4, yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	seen := map[pcommon.SpanID]bool{}
	for _, s := range spans.All() {
		assert.False(t, seen[s.SpanID()], "%s has the ID of another span", s.Name())
		seen[s.SpanID()] = true
		assert.LessOrEqual(t, s.StartTimestamp(), s.EndTimestamp(), s.Name())
	}
	assert.Greater(t, len(seen), 4)
}
