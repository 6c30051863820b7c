// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// traceOf returns the spans of a history in one window. All waits have the given stack.
func traceOf(t *testing.T, text, stack string, complete bool) (spans ptrace.SpanSlice) {
	t.Helper()
	return traceWithin(t, text, stack, complete, 0)
}

func traceWithin(t *testing.T, text, stack string, complete bool, budget int) (spans ptrace.SpanSlice) {
	t.Helper()
	h, err := threadtest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	sym := h.Symbols()
	id := sym.InternStack(stack)
	for i := range h.Events {
		h.Events[i].Stack = id
	}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 1 {
			sym.SetThread(jvmthread.Thread{ID: h.Thread(words[1]), Name: words[1]})
		}
	}
	spans = ptrace.NewSpanSlice()
	e, emitter, finder := drive.New(engine.DefaultConfig(), sym), threadpdata.NewEmitter(session, sym, nil), window.NewFinder()
	emitter.CompleteStacks = complete
	e.Add(ordering.Batch{Number: 1, Events: h.Events})
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) { emitter.Append(w, threadpdata.Prepare(w, finder, budget), spans) })
	return spans
}

// texts returns the different texts of an attribute on spans with a name.
func texts(spans ptrace.SpanSlice, name, key string) (all []string) {
	seen := map[string]bool{}
	for _, s := range spans.All() {
		if v, ok := s.Attributes().Get(key); ok && strings.HasPrefix(s.Name(), name) && !seen[v.Str()] {
			seen[v.Str()] = true
			all = append(all, v.Str())
		}
	}
	return all
}

// onPath returns the explanations of a thread's segments of the critical path.
func onPath(spans ptrace.SpanSlice, thread string) (all []string) {
	for _, s := range spans.All() {
		if name, ok := s.Attributes().Get("weft.critical_path.thread.name"); ok && name.Str() == thread && strings.HasPrefix(s.Name(), "critical path: ") {
			if explanation, ok := s.Attributes().Get("weft.explanation"); ok && !slices.Contains(all, explanation.Str()) {
				all = append(all, explanation.Str())
			}
		}
	}
	return all
}

// Each thread waits for a lock that the one before holds; a runs meanwhile.
const chain = `
1 a threadStart
1 b threadStart
1 c threadStart
1 d threadStart
1 e threadStart
1 f threadStart
1000 f contendedEnter lock=five owner=e
1100 e contendedEnter lock=four owner=d
1200 d contendedEnter lock=three owner=c
1300 c contendedEnter lock=two owner=b
1400 b contendedEnter lock=one owner=a
900000 b contendedEntered lock=one
900100 c contendedEntered lock=two
900200 d contendedEntered lock=three
900300 e contendedEntered lock=four
900400 f contendedEntered lock=five
900500 f threadEnd
`

func TestExplanationOfALongChain(t *testing.T) {
	spans := traceOf(t, chain, "", false)
	have := onPath(spans, "a")
	const want = "899 µs: a runnable, while b was in: blocked one (899 µs), while c was in: blocked two (899 µs), and 2 more, " +
		"while f was in: blocked five (899 µs)"
	if len(have) != 1 || have[0] != want {
		t.Errorf("have %q, want %q", have, want)
	}
	if have := onPath(spans, "d"); !slices.Contains(have, "100 ns: d runnable, while e was in: blocked four (899 µs), while f was in: blocked five (899 µs)") {
		t.Errorf("a short chain is %q", have)
	}
}

// However long a chain of waits is, its explanation has three of them.
func TestExplanationHasThreeWaits(t *testing.T) {
	const threads = 63
	var b strings.Builder
	for i := range threads {
		fmt.Fprintf(&b, "1 t%d threadStart\n", i)
	}
	for i := threads - 1; i > 0; i-- {
		fmt.Fprintf(&b, "%d t%d contendedEnter lock=l%d owner=t%d\n", 2000-i, i, i, i-1)
	}
	fmt.Fprintf(&b, "9000000 t%d yield\n", 0)
	have := onPath(traceOf(t, b.String(), "", false), "t0")
	const want = "9 ms: t0 runnable, while t1 was in: blocked l1 (9 ms), while t2 was in: blocked l2 (9 ms), and 59 more, while t62 was in: blocked l62 (9 ms)"
	if !slices.Contains(have, want) {
		t.Errorf("have %q", have)
	}
}

// b waits for a lock that a holds nearly all of the time, c a fortieth of it, and d for a moment.
const shared = `
1 a threadStart
1 b threadStart
1 c threadStart
1 d threadStart
1000 d contendedEnter lock=one owner=a
1001 c contendedEnter lock=one owner=a
1002 b contendedEnter lock=one owner=a
970000 c contendedEntered lock=one
994000 d contendedEntered lock=one
994002 b contendedEntered lock=one
`

func TestHoldersOfAMomentAreNotListed(t *testing.T) {
	have := texts(traceOf(t, shared, "", false), "blocked one", "weft.lock.holders")
	if !slices.Contains(have, "a 98 %, c 2 %, ...") {
		t.Errorf("have %q", have)
	}
}

func TestStacksOfSpans(t *testing.T) {
	const head = "at java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:322)\nat com.acme.A.b(A.java:3)"
	const frame = "\nat org.apache.catalina.core.Valve.invoke(Valve.java:1)"
	stack := head + strings.Repeat(frame, 20)
	for _, test := range []struct {
		complete bool
		want     string
	}{
		{false, head + frame + "\n... 19 frames"},
		{true, stack},
	} {
		if have := texts(traceOf(t, chain, stack, test.complete), "blocked", "code.stacktrace"); len(have) != 1 || have[0] != test.want {
			t.Errorf("have %q, want %q", have, test.want)
		}
	}
}
