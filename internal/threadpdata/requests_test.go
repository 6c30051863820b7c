// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

const requestHistory = `
0 report threadStart
0 worker threadStart
0 other threadStart
1000000 report context span=nightly
1000000 worker context span=order
2000000 worker contendedEnter lock=book owner=report stack=1
2500000 report sleepStart stack=2
4000000 other contendedEnter lock=book owner=report stack=1
52000000 report sleepEnd
53000000 worker contendedEntered lock=book
54000000 worker contendedEnter lock=book owner=other stack=1
54800000 worker contendedEntered lock=book
55000000 worker contendedEnter lock=book owner=other stack=1
55700000 worker contendedEntered lock=book
60000000 worker requestEnd span=order arg=59000000 lock=orders
60000000 worker context span=-
70000000 other contendedEntered lock=book
`

// requestSpans returns the spans that are added to the application's traces.
func requestSpans(t *testing.T, text string, cfg requests.Config) ptrace.Traces {
	t.Helper()
	h, err := threadtest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	sym := symbols.New(symbols.DefaultLimits())
	for _, name := range []string{"report", "worker", "other"} {
		sym.SetThread(jvmthread.Thread{ID: h.Thread(name), Name: name})
	}
	sym.InternClass("com.acme.OrderBook")
	sym.InternClass("POST /orders")
	sym.InternStack("at com.acme.OrderBook.add(OrderBook.java:42)\nat com.acme.Worker.run(Worker.java:7)")
	sym.InternStack("at java.lang.Thread.sleep(Native Method)\nat com.acme.Report.write(Report.java:20)")
	c := engine.DefaultConfig()
	c.Requests = &cfg
	e := drive.New(c, sym)
	emitter := threadpdata.NewEmitter(session, sym, e.Waits())
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	e.Add(ordering.Batch{Number: 1, Watermark: h.Events[len(h.Events)-1].Time + 1, Events: h.Events})
	e.Close(jvmthread.NoTime, window.CutEnd, func(*window.Window) {})
	emitter.AppendRequests(e.Requests().Take(), spans)
	return td
}

func TestSpansOfRequests(t *testing.T) {
	var b strings.Builder
	td := requestSpans(t, requestHistory, requests.Config{MinDuration: time.Millisecond, MinCaused: time.Millisecond, MaxPerSpan: 9, MaxPerSecond: 1000})
	printTrace(&b, td)
	golden.Compare(t, "testdata/requests.txt", b.String())
}

// What is added is a child of the application's span, has IDs of its own, and lasts at least a nanosecond less than what it shows.
func TestSpansOfRequestsFit(t *testing.T) {
	var h threadtest.History
	of := map[pcommon.SpanID]jvmthread.SpanContext{}
	for _, name := range []string{"nightly", "order"} {
		c := h.Span(name)
		of[pcommon.SpanID(c.SpanID)] = c
	}
	seen := map[pcommon.SpanID]bool{}
	td := requestSpans(t, requestHistory, requests.Config{MinCaused: 1, MaxPerSpan: 9, MaxPerSecond: 1000})
	for _, s := range spansOf(td) {
		parent, ok := of[s.ParentSpanID()]
		if !ok || pcommon.TraceID(parent.TraceID) != s.TraceID() {
			t.Errorf("%s is in the trace %v, with the parent %v", s.Name(), s.TraceID(), s.ParentSpanID())
		}
		if seen[s.SpanID()] || s.SpanID().IsEmpty() || of[s.SpanID()] != (jvmthread.SpanContext{}) {
			t.Errorf("%s: the ID %v is not its own", s.Name(), s.SpanID())
		}
		seen[s.SpanID()] = true
		if s.EndTimestamp() <= s.StartTimestamp() || s.Flags()&1 == 0 {
			t.Errorf("%s: %d..%d, flags %x", s.Name(), s.StartTimestamp(), s.EndTimestamp(), s.Flags())
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %d spans", len(seen))
	}
}

// Threads of one request may wait for each other: a link to the parent would add nothing, and Jaeger would have an orphan.
func TestSpansOfRequestsDoNotLinkToTheirParent(t *testing.T) {
	text := strings.ReplaceAll(requestHistory, "span=nightly", "span=order")
	td := requestSpans(t, text, requests.Config{MinDuration: time.Millisecond, MinCaused: 1, MaxPerSpan: 9, MaxPerSecond: 1000})
	spans := spansOf(td)
	if len(spans) < 3 {
		t.Fatalf("only %d spans", len(spans))
	}
	for _, s := range spans {
		for _, l := range s.Links().All() {
			if l.SpanID() == s.ParentSpanID() {
				t.Errorf("%s links to its parent: %v", s.Name(), l.Attributes().AsRaw())
			}
		}
	}
}
