// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// lanes returns what Jaeger's page shows below the root of each window, in the order of the page: by start, in microseconds.
func lanes(t *testing.T, spans ptrace.SpanSlice) (out [][]string) {
	t.Helper()
	roots := map[pcommon.SpanID]int{}
	var below [][]ptrace.Span
	for _, s := range spans.All() {
		if s.ParentSpanID().IsEmpty() {
			roots[s.SpanID()] = len(below)
			below = append(below, nil)
		} else if at, ok := roots[s.ParentSpanID()]; ok {
			below[at] = append(below[at], s)
		}
	}
	for _, all := range below {
		slices.SortFunc(all, func(a, b ptrace.Span) int { return cmp.Compare(a.StartTimestamp()/1000, b.StartTimestamp()/1000) })
		var names []string
		for i, s := range all {
			if i > 0 && s.StartTimestamp()/1000 == all[i-1].StartTimestamp()/1000 {
				t.Errorf("%s and %s start in the same microsecond", title(all[i-1]), title(s))
			}
			names = append(names, strings.TrimPrefix(title(s), "thread "))
		}
		out = append(out, names)
	}
	return out
}

// Lanes are in the order of what their waits cost, a deadlock first.
func TestOrderOfLanes(t *testing.T) {
	const second = 1_000_000_000
	at := func(s float64, text string) string { return fmt.Sprintf("%d %s\n", int64(s*second), text) }
	history := at(1, "a threadStart") + at(1, "b threadStart") + at(1, "c threadStart") + at(1, "d threadStart") + at(1, "e threadStart") +
		at(1, "f threadStart") + at(12, "b contendedEnter lock=Book owner=f") + at(13, "b contendedEntered lock=Book") +
		at(12, "c contendedEnter lock=Tape owner=e") + at(16, "c contendedEntered lock=Tape") +
		at(22, "e contendedEnter lock=Tape owner=d") + at(22.1, "d contendedEnter lock=Book owner=e") +
		at(22, "a contendedEnter lock=Desk owner=f") + at(29, "a contendedEntered lock=Desk") + at(30, "f yield")
	have := lanes(t, traceOf(t, history, "", false))
	want := [][]string{
		{"critical path", "a", "b", "c", "d", "e", "f"}, // no waits: in the order of ids
		{"critical path", "c", "e", "b", "f"},           // of a and d there are no events; e kept c waiting, so it is on the path
		{"critical path", "e", "d", "a", "f"},           // d and e are in a deadlock
	}
	for i := range want {
		if i >= len(have) || !slices.Equal(have[i], want[i]) {
			t.Errorf("have %q, want %q", have[min(i, len(have)-1)], want[i])
		}
	}
}

// Each state lies within the span of its thread, and each lane within the root, although lanes start at different times.
func TestLanesContainTheirStates(t *testing.T) {
	seen := make(map[pcommon.SpanID]ptrace.Span)
	for _, start := range []int{1, 900, 5_000_000_000} {
		for _, s := range traceOf(t, fmt.Sprintf("%d a threadStart\n%d b threadStart\n%d c threadStart\n%d a sleepStart\n%d a sleepEnd\n",
			start, start, start, start+100, start+20_000_000_000), "", false).All() {
			seen[s.SpanID()] = s
		}
	}
	for _, s := range seen {
		wellFormed(t, s, seen)
	}
}

func TestManyFoldedThreadsAreNamed(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		name := string([]rune{'a' + rune(i/10), 'a' + rune(i%10)})
		fmt.Fprintf(&b, "1 %s-timer threadStart\n2 %s-timer sleepStart\n", name, name)
	}
	b.WriteString("1 busy threadStart\n1000000000 busy yield\n")
	names, _ := traceWithin(t, b.String(), "", false, 2000).At(0).Attributes().Get("weft.folded.thread.names")
	if want := "aa-timer, ab-timer, ac-timer, ad-timer, ae-timer and 95 more"; names.Str() != want {
		t.Errorf("have %s, want %s", names.Str(), want)
	}
}

func TestFoldedThreadsAreNamed(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "1 exec-%d threadStart\n2 exec-%d sleepStart\n", i, i)
	}
	b.WriteString("1 busy threadStart\n1000000000 busy yield\n")
	for _, budget := range []int{0, 2000} {
		root := traceWithin(t, b.String(), "", false, budget).At(0)
		names, _ := root.Attributes().Get("weft.folded.thread.names")
		count, _ := root.Attributes().Get("weft.folded.threads")
		if budget == 0 {
			if count.Int() != 0 || names.Str() != "" {
				t.Errorf("without a budget, %d threads are folded: %s", count.Int(), names.Str())
			}
		} else if count.Int() != 30 || names.Str() != "exec-* (30)" {
			t.Errorf("%d threads are folded: %s", count.Int(), names.Str())
		}
	}
}
