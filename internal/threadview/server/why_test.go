// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest/golden"
	"github.com/weft-otel/weft/internal/viewapi"
)

// Each file has events and queries, each of which is followed by its answer.
func TestWhy(t *testing.T) {
	golden.Each(t, "testdata/why/*.txt", func(t *testing.T, file string) {
		t.Helper()
		names, bodies := golden.Read(t, file)
		f := historyOf(t, bodies["events"], 3*time.Second)
		for i, name := range names {
			if strings.HasPrefix(name, "query") {
				why := ask[viewapi.Why](f, "/why?"+strings.TrimSpace(bodies[name]))
				addsUp(t, &why)
				bodies[names[i+1]] = whyText(&why)
			}
		}
		golden.Compare(t, file, golden.Join(names, bodies))
	})
}

// whyText shows all that an answer says: a step with its waits, the first of which is that of the path's thread.
func whyText(w *viewapi.Why) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d..%d\n%s\n", w.Thread.Name, w.From, w.To, w.Text)
	if w.Summed {
		b.WriteString("summed\n")
	}
	where := func(method, line string) {
		if method != "" {
			fmt.Fprintf(&b, ", in %s (%s)", method, line)
		}
	}
	for i := range w.Steps {
		s := &w.Steps[i]
		fmt.Fprintf(&b, "\n%d..%d %d ns: %s\n  ", s.From, s.To, s.Time, s.Text)
		if s.Count > 1 {
			fmt.Fprintf(&b, "%d × ", s.Count)
		}
		fmt.Fprintf(&b, "%s (%s) %s: %s", s.Kind, s.Title, s.Thread.Name, s.Doing)
		if s.Wait != "" {
			fmt.Fprintf(&b, ", waits for %s %q %s", s.Wait, s.Object, s.Lock.Class)
		}
		where(s.Method, s.Line)
		b.WriteString("\n")
		for k := range s.Waits {
			wait := &s.Waits[k]
			fmt.Fprintf(&b, "  while %s waited: %s, %s %q %s", wait.Thread.Name, wait.Title, wait.Wait, wait.Object, wait.Lock.Class)
			where(wait.Method, wait.Line)
			if wait.Holder != nil {
				fmt.Fprintf(&b, ", held by %s", wait.Holder.Name)
			}
			b.WriteString("\n")
		}
	}
	if w.Hidden > 0 {
		fmt.Fprintf(&b, "\n%d ns in %d more\n", w.Rest, w.Hidden)
	}
	return b.String()
}

// addsUp checks that the steps and the rest add up to the range, to the nanosecond.
func addsUp(t *testing.T, w *viewapi.Why) {
	t.Helper()
	sum := w.Rest
	for i := range w.Steps {
		s := &w.Steps[i]
		assert.Positive(t, s.Time)
		assert.LessOrEqual(t, s.Time, s.To-s.From)
		assert.GreaterOrEqual(t, s.From, w.From)
		assert.LessOrEqual(t, s.To, w.To)
		assert.Equal(t, s.Depth, len(s.Waits)+s.Hidden)
		if n := len(s.Waits); n > 0 {
			assert.NotEqual(t, s.Thread.ID, s.Waits[n-1].Thread.ID, "a wait leads to another thread")
		}
		switch {
		case i == 0:
		case w.Summed:
			assert.LessOrEqual(t, s.Time, w.Steps[i-1].Time)
		default:
			assert.GreaterOrEqual(t, s.From, w.Steps[i-1].From)
		}
		sum += s.Time
	}
	assert.Equal(t, w.Total, sum)
	assert.Equal(t, w.To-w.From, w.Total)
	assert.Equal(t, w.Hidden > 0, w.Rest > 0)
}

// Steps add up whoever is asked about, for whichever range and however few are requested; and, by kind, to the same as the critical path.
func TestWhyAddsUp(t *testing.T) {
	summed, chained := 0, 0
	for seed := range uint64(8) {
		f := newFixture(t, seed, 10, 4, 1500, 700)
		s := ask[viewapi.Session](f, "")
		for _, of := range []string{"", "&thread=1", "&thread=4", "&thread=7"} {
			middle := fmt.Sprintf("&from=%d&to=%d", s.From+(s.To-s.From)/3, s.To-(s.To-s.From)/5)
			for _, span := range []string{"", middle, "&from=-100&to=900", "&from=500&to=501"} {
				for _, limit := range []int{1, 5, 20, 200} {
					why := ask[viewapi.Why](f, fmt.Sprintf("/why?limit=%d%s%s", limit, of, span))
					addsUp(t, &why)
					require.LessOrEqual(t, len(why.Steps), limit)
					assert.True(t, why.Summed || why.Hidden == 0)
					assert.NotEmpty(t, why.Text)
					if why.Summed {
						summed++
					}
					if limit < 200 || why.Hidden > 0 {
						continue
					}
					got, want := map[string]int64{}, map[string]int64{}
					for i := range why.Steps {
						got[why.Steps[i].Kind] += why.Steps[i].Time
						chained = max(chained, why.Steps[i].Depth)
					}
					path := ask[viewapi.Path](f, "/path?mode=bounded"+of+span)
					for i := range path.PerKind {
						want[path.PerKind[i].Name] = path.PerKind[i].Time
					}
					assert.Equal(t, want, got)
					assert.Equal(t, path.Thread, why.Thread)
				}
			}
		}
	}
	assert.Positive(t, summed)
	assert.Greater(t, chained, 1)
}

// A thread that holds up ten others in turn leads to a chain of ten waits: the first one and the last four are listed.
func TestWhyOfALongChain(t *testing.T) {
	const threads = 10
	var b strings.Builder
	for i := range threads {
		fmt.Fprintf(&b, "0 t%d threadStart\n", i)
	}
	for i := threads - 1; i > 0; i-- {
		fmt.Fprintf(&b, "%d t%d contendedEnter lock=l%d owner=t%d\n", 2000-i, i, i, i-1)
	}
	b.WriteString("9000000 t0 yield\n")
	f := historyOf(t, b.String(), time.Second)
	why := ask[viewapi.Why](f, "/why?thread=10")
	last := why.Steps[len(why.Steps)-1]
	assert.Equal(t, 9, last.Depth)
	assert.Equal(t, 4, last.Hidden)
	assert.Equal(t, "blocked l9, which t8 held, blocked l8, and 6 more, which t1 held, blocked l1, which t0 held, runnable", last.Text)
	var chain []string
	for _, w := range last.Waits {
		chain = append(chain, w.Thread.Name+" "+w.Object+" "+w.Holder.Name)
	}
	assert.Equal(t, []string{"t9 l9 t8", "t4 l4 t3", "t3 l3 t2", "t2 l2 t1", "t1 l1 t0"}, chain)
}
