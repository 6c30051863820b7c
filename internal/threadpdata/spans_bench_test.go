// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// benchBudget is the default of max_spans_per_window.
const benchBudget = 2000

// BenchmarkSpans creates the spans of a window as the processor does: with stacks, links, and the critical path. BenchmarkSpansFloor creates as
// many plain spans as an instrumentation would, with ten attributes and a link. One operation is one span in both. The goal is a ratio of 2.
func BenchmarkSpans(b *testing.B) {
	withWindow(b, func(w *window.Window, e *threadpdata.Emitter) {
		segments := threadpdata.Prepare(w, window.NewFinder(), benchBudget)
		defer reportCPU(b)()
		for done := 0; done < b.N; {
			td := ptrace.NewTraces()
			spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
			e.Append(w, segments, spans)
			done += spans.Len()
		}
	})
}

func BenchmarkSpansFloor(b *testing.B) {
	defer reportCPU(b)()
	for done := 0; done < b.N; done += benchBudget {
		td := ptrace.NewTraces()
		spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		spans.EnsureCapacity(benchBudget)
		for i := range benchBudget {
			plainSpan(spans.AppendEmpty(), i)
		}
	}
}

// plainSpan fills a span as the instrumentation of an HTTP server would.
func plainSpan(s ptrace.Span, i int) {
	s.SetTraceID(pcommon.TraceID{1, byte(i)})
	s.SetSpanID(pcommon.SpanID{2, byte(i), byte(i >> 8)})
	s.SetParentSpanID(pcommon.SpanID{3, byte(i), byte(i >> 8)})
	s.SetName("GET /orders/{id}")
	s.SetKind(ptrace.SpanKindServer)
	s.SetStartTimestamp(pcommon.Timestamp(i))
	s.SetEndTimestamp(pcommon.Timestamp(i + 1))
	a := s.Attributes()
	a.EnsureCapacity(10)
	a.PutStr("http.request.method", "GET")
	a.PutStr("http.route", "/orders/{id}")
	a.PutInt("http.response.status_code", 200)
	a.PutStr("url.scheme", "https")
	a.PutStr("url.path", "/orders/17")
	a.PutStr("server.address", "shop.example.com")
	a.PutInt("server.port", 443)
	a.PutStr("user_agent.original", "curl/8.5.0")
	a.PutInt("thread.id", int64(i))
	a.PutStr("thread.name", "http-exec-1")
	l := s.Links().AppendEmpty()
	l.SetTraceID(pcommon.TraceID{4, byte(i)})
	l.SetSpanID(pcommon.SpanID{5, byte(i)})
}

// reportCPU starts a measurement. Besides the elapsed time it reports the CPU time of the process, with the garbage collector's.
func reportCPU(b *testing.B) (stop func()) {
	b.Helper()
	cpu := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu()
	return func() {
		b.StopTimer()
		b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op")
	}
}

// withWindow runs a contended program and calls do with its window.
func withWindow(b *testing.B, do func(*window.Window, *threadpdata.Emitter)) {
	b.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	for _, name := range []string{"com.acme.OrderBook", "com.acme.Queue", "com.acme.Account", "com.acme.Ledger"} {
		sym.InternClass(name)
	}
	for i := range benchStacks {
		sym.InternStack(deepStack(i))
	}
	e := drive.New(engine.DefaultConfig(), sym)
	var events []jvmthread.Event
	for lock := range benchLocks {
		for _, evs := range turns(lock) {
			id := evs[0].Thread
			sym.SetThread(jvmthread.Thread{ID: id, Name: fmt.Sprintf("http-nio-8080-exec-%d", id), Group: "main"})
			events = append(events, evs...)
		}
	}
	e.Add(ordering.Batch{Number: 1, Events: events})
	emitter := threadpdata.NewEmitter(jvmthread.SessionID{1}, sym, e.Waits())
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
		if w.End.Sub(w.Start) > time.Microsecond {
			do(w, emitter)
		}
	})
}

const (
	benchLocks   = 4
	benchThreads = 5 // at each lock
	benchTurns   = 60
	benchStacks  = 12
)

// turns returns the events of threads that use a lock in turn. Every third one sleeps while it holds the lock.
func turns(lock int) (byThread [benchThreads][]jvmthread.Event) {
	const tick, hold = jvmthread.Time(time.Microsecond), 40 * jvmthread.Time(time.Microsecond)
	id := func(th int) jvmthread.ThreadID { return jvmthread.ThreadID(1 + lock*benchThreads + th) }
	add := func(th int, at jvmthread.Time, ev jvmthread.Event) {
		ev.Time, ev.Thread, ev.Stack = at, id(th), jvmthread.StackID(1+(lock+th)%benchStacks)
		byThread[th] = append(byThread[th], ev)
	}
	at := 1000*tick + jvmthread.Time(lock)
	of := jvmthread.LockID{Class: jvmthread.ClassID(1 + lock), Hash: uint32(lock + 1)}
	for th := range benchThreads {
		add(th, at+jvmthread.Time(th)*benchLocks, jvmthread.Event{Kind: jvmthread.KindThreadStart})
	}
	for turn := range benchTurns * benchThreads {
		owner, next := turn%benchThreads, (turn+1)%benchThreads
		for th := range benchThreads { // all others at first, then the one that had the lock before
			if th != owner && (turn == 0 || th == (turn+benchThreads-1)%benchThreads) {
				add(th, at+2*tick+jvmthread.Time(th), jvmthread.Event{Kind: jvmthread.KindContendedEnter, Lock: of, Peer: id(owner)})
			}
		}
		if turn%3 == 0 {
			add(owner, at+5*tick, jvmthread.Event{Kind: jvmthread.KindSleepStart, Arg: int64(20 * tick)})
			add(owner, at+30*tick, jvmthread.Event{Kind: jvmthread.KindSleepEnd})
		}
		at += hold
		add(next, at+tick, jvmthread.Event{Kind: jvmthread.KindContendedEntered, Lock: of})
	}
	return byThread
}

// deepStack returns a stack like those in Tomcat: the JDK's waiting, two frames of the application, and many of the server.
func deepStack(i int) string {
	lines := []string{
		"at jdk.internal.misc.Unsafe.park(Native Method)",
		"at java.util.concurrent.locks.LockSupport.park(LockSupport.java:211)",
		"at java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire(AbstractQueuedSynchronizer.java:715)",
		"at java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:322)",
		fmt.Sprintf("at com.acme.orders.OrderBook.add(OrderBook.java:%d)", 40+i),
		fmt.Sprintf("at com.acme.orders.OrderServlet.doPost(OrderServlet.java:%d)", 70+i),
	}
	for frame := range 20 {
		lines = append(lines, fmt.Sprintf("at org.apache.catalina.core.StandardWrapperValve.invoke(StandardWrapperValve.java:%d)", frame))
	}
	return strings.Join(append(lines, "at java.lang.Thread.run(Thread.java:840)"), "\n")
}
