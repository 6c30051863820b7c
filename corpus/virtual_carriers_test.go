// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"math"
	"strconv"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/weft-otel/weft/corpus/spantest"
)

// starved is what the program Starved measured, in nanoseconds. Least and most are bounds.
type starved struct {
	Hogs []struct {
		ID     int64  `json:"id"`
		Name   string `json:"name"`
		Class  string `json:"class"`
		Method string `json:"method"`
		Most   int64  `json:"most"` // that it had a carrier
	} `json:"hogs"`
	Waiting      int64 `json:"waiting"`
	Starved      bool  `json:"starved"`
	Count        int64 `json:"count"`
	Least        int64 `json:"least"`
	Most         int64 `json:"most"`
	LongestLeast int64 `json:"longest_least"`
	LongestMost  int64 `json:"longest_most"`
}

// checkStarved compares the incident and the metrics with what a program measured: two threads computed on the only carriers while others waited
// for one. The incident names both, with their methods.
func checkStarved(t spantest.T, r *run) {
	t.Helper()
	var truth starved
	r.know(t, &truth)
	require.True(t, truth.Starved, "no other thread ran before all were started")
	root := longestStarvation(r)
	require.NotNil(t, root, "an incident named carriers starved")
	assert.Equal(t, truth.Waiting, root.Number("weft.incident.threads"))
	checkWithin(t, "blocked time", root.Number("weft.incident.blocked.time"), truth.Least, truth.Most)
	checkWithin(t, "longest wait", root.Number("weft.incident.wait.max"), truth.LongestLeast, truth.LongestMost)
	require.Len(t, truth.Hogs, 2)
	for _, hog := range truth.Hogs {
		assert.Contains(t, root.Text("weft.explanation"), hog.Name+" kept one for ")
		assert.Contains(t, root.Text("weft.explanation"), "runnable in "+hog.Class+"."+hog.Method)
		hold := holdOf(r, root, hog.ID)
		require.NotNil(t, hold, "a span for %s", hog.Name)
		assert.Equal(t, hog.Class+"."+hog.Method, hold.Text("weft.lock.holder.function"), hog.Name)
		checkWithin(t, hog.Name, hold.Number("weft.interval.time"), truth.LongestLeast, hog.Most)
	}
	queue := r.distribution("weft.virtual.queue.duration")
	assert.Equal(t, truth.Count, queue.count)
	checkWithin(t, "waits for carriers", queue.sum, truth.Least, truth.Most)
	checkExemplars(t, r, queue)
}

func checkWithin(t spantest.T, what string, got, least, most int64) {
	t.Helper()
	assert.True(t, least <= got && got <= most, "%s: %v is not within %v to %v", what, time.Duration(got), time.Duration(least), time.Duration(most))
}

func longestStarvation(r *run) (root *spantest.Span) {
	for _, s := range r.Incidents {
		if s.IsRoot() && s.Text("weft.incident.kind") == "carriers_starved" &&
			(root == nil || s.Number("weft.incident.blocked.time") > root.Number("weft.incident.blocked.time")) {
			root = s
		}
	}
	return root
}

// holdOf returns the longest hold of a thread in the trace of an incident.
func holdOf(r *run, root *spantest.Span, thread int64) (hold *spantest.Span) {
	for _, s := range r.Incidents {
		if s.TraceID() == root.TraceID() && s.Text("weft.incident.role") == "holder" && s.Number("thread.id") == thread &&
			(hold == nil || s.Number("weft.interval.time") > hold.Number("weft.interval.time")) {
			hold = s
		}
	}
	return hold
}

// checkPinned compares the metric of waits on carriers with what a program measured that waits in a class initializer, and elsewhere.
func checkPinned(t spantest.T, r *run) {
	t.Helper()
	var truth struct{ Count, Kept int64 }
	r.know(t, &truth)
	millis, err := strconv.Atoi(r.entry.program[2])
	require.NoError(t, err)
	pinned := r.distribution("weft.virtual.pinned.duration")
	var waits []int64
	for _, s := range r.Of(r.service, func(s *spantest.Span) bool { return s.IsState() && s.Has("weft.virtual.pinned") }) {
		waits = append(waits, s.Number("weft.interval.time"))
	}
	assert.EqualValues(t, len(waits), pinned.count)
	if r.jdk >= 24 {
		assert.Len(t, waits, int(truth.Count))
	}
	assert.Len(t, longer(waits, int64(millis)*int64(time.Millisecond)/2), int(truth.Count))
	// A virtual thread first tries to leave its carrier, and takes that time off its timeout.
	checkWithin(t, "waits on a carrier", pinned.sum, truth.Count*int64(millis-1)*int64(time.Millisecond), truth.Kept)
	checkExemplars(t, r, pinned)
}

// distribution is a histogram, summed over its series.
type distribution struct {
	count, sum int64 // nanoseconds
	exemplars  []pmetric.Exemplar
}

func (r *run) distribution(name string) (d distribution) {
	for m := range r.played.allMetrics() {
		if m.Name() != name {
			continue
		}
		for _, p := range m.Histogram().DataPoints().All() {
			d.count += int64(p.Count())
			d.sum += nanoseconds(p.Sum())
			for _, e := range p.Exemplars().All() {
				d.exemplars = append(d.exemplars, e)
			}
		}
	}
	return d
}

func nanoseconds(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }

// checkExemplars checks that exemplars are the spans of waits with their durations.
func checkExemplars(t spantest.T, r *run, d distribution) {
	t.Helper()
	assert.NotEmpty(t, d.exemplars)
	for _, e := range d.exemplars {
		s := r.ByID[spantest.ID{Trace: e.TraceID(), Span: e.SpanID()}]
		if assert.NotNil(t, s, "the span of an exemplar is missing") {
			assert.Equal(t, s.End()-s.Began(), nanoseconds(e.DoubleValue()), "%s: %s", s.Name(), s.Text("weft.state"))
		}
	}
}
