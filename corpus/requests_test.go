// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/corpus/spantest"
)

// served is what a shop exported and measured, and what Weft added to its traces.
type served struct{ *spantest.Served }

// checkShop checks the traces of a server's requests. Each request takes a monitor, a ReentrantLock and a connection, and a job holds each of them for
// long. The program measures its own waits.
func checkShop(t spantest.T, r *run) {
	t.Helper()
	var truth struct {
		Truth struct{ Holds []spantest.Hold }
		Spans json.RawMessage
	}
	r.know(t, &truth)
	require.NotEmpty(t, truth.Truth.Holds)
	own, err := exported(truth.Spans)
	require.NoError(t, err)
	r.Add(own)
	s := served{spantest.NewServed(r.Output, r.service, truth.Truth.Holds)}
	requests, jobs := 0, 0
	for _, span := range s.Own {
		switch {
		case !span.IsRoot():
		case span.Name() == "restock":
			jobs++
		default:
			requests++
		}
	}
	assert.Equal(t, [2]int{shopClients*shopRequests + 2*shopBefore, 5}, [2]int{requests, jobs}, "requests and jobs that were exported")
	require.Greater(t, len(s.Slow), 20)
	s.checkCoverage(t)
	s.checkPlace(t)
	s.checkNames(t)
	s.checkHolders(t)
	s.checkHolds(t)
	s.checkPath(t)
	if r.entry.least == 0 { // the page does not have the whole time of each request on a virtual thread
		s.checkPage(t, r)
	}
}

// covered is how much of a time the spans cover together; they are in order.
func covered(spans []*spantest.Span, from, to int64) (sum int64) {
	for _, s := range spans {
		begin, end := max(from, s.Begin()), min(to, int64(s.EndTimestamp()))
		if begin < end {
			sum += end - begin
			from = end
		}
	}
	return sum
}

// checkCoverage checks that the traces of slow requests show where they lost their time. The program's times include those in which the thread ran or
// lacked a processor, which is not known for a virtual thread.
func (s served) checkCoverage(t spantest.T) {
	t.Helper()
	lost, shown := map[string]int64{}, map[string]int64{}
	for trace := range s.Slow {
		var own, seen int64
		for _, h := range s.Holds[trace] {
			took, part := h.Acquired-h.Called, covered(s.Waits[trace], h.Called, h.Acquired)
			part += min(h.Busy, took-part)
			lost[h.Of] += took
			shown[h.Of] += part
			own += took
			seen += part
		}
		if own > int64(spantest.SlowRequest/2) {
			assert.GreaterOrEqual(t, float64(seen), 0.95*float64(own), "of what trace %s lost", trace)
		}
	}
	for _, of := range []string{"Inventory.lock", "Prices.lock", "HikariPool"} {
		assert.Positive(t, lost[of], of)
		assert.GreaterOrEqual(t, float64(shown[of]), 0.95*float64(lost[of]), of)
	}
}

// checkPlace checks that the added spans lie within their parents and have their resource.
func (s served) checkPlace(t spantest.T) {
	t.Helper()
	require.Greater(t, len(s.Added), len(s.Slow))
	for _, added := range s.Added {
		parent := s.Own[added.Parent()]
		if !assert.NotNil(t, parent, "%s is an orphan", added.Name()) {
			continue
		}
		assert.Equal(t, parent.Instance, added.Instance)
		// The SDK reads two clocks when a span starts: a thread that is preempted in between shifts its span.
		const near = int64(200 * time.Microsecond)
		assert.True(t, parent.Begin()-near <= added.Begin() && int64(added.EndTimestamp()) <= int64(parent.EndTimestamp())+near,
			"%s is outside of %s by %v, %v", added.Name(), parent.Name(), time.Duration(parent.Begin()-added.Begin()),
			time.Duration(int64(added.EndTimestamp())-int64(parent.EndTimestamp())))
	}
}

// checkNames checks that each slow request has one span that says where its time went, with the name that the instrumentation gave it.
func (s served) checkNames(t spantest.T) {
	t.Helper()
	found := map[string][]string{}
	for _, added := range s.Added {
		if added.Has("weft.request.time") {
			found[added.TraceID().String()] = append(found[added.TraceID().String()], added.Text("weft.request.name"))
		}
	}
	for trace, root := range s.Slow {
		assert.Equal(t, []string{root.Name()}, found[trace], "trace %s", trace)
	}
}

// linked returns the spans that links of a kind refer to.
func linked(links ptrace.SpanLinkSlice, kind string) (found []spantest.Request) {
	for _, l := range links.All() {
		if value, _ := l.Attributes().Get("weft.link.kind"); value.AsString() == kind {
			found = append(found, spantest.Request{Trace: l.TraceID().String(), Span: l.SpanID().String()})
		}
	}
	return found
}

// checkPath checks that the critical path of Jaeger's page leads through the longest wait for a lock or a connection of each slow request.
func (s served) checkPath(t spantest.T) {
	t.Helper()
	const short = int64(10 * time.Millisecond)
	for trace, root := range s.Slow {
		spans := slices.Clone(s.Waits[trace])
		var longest *spantest.Span
		for _, wait := range spans {
			if wait.Contended() && (longest == nil || wait.Number("weft.wait.time") > longest.Number("weft.wait.time")) {
				longest = wait
			}
		}
		if longest == nil || longest.Number("weft.wait.time") < short {
			continue
		}
		for _, own := range s.Own {
			if own.TraceID() == root.TraceID() {
				spans = append(spans, own)
			}
		}
		for _, added := range s.Added {
			if added.TraceID() == root.TraceID() && !added.Has("weft.wait.time") {
				spans = append(spans, added)
			}
		}
		visited := map[*line]bool{}
		tree(t, spans).visit(visited)
		on := false
		for l := range visited {
			on = on || l.Span == longest
		}
		assert.True(t, on, "%s is not on the critical path of trace %s", longest.Name(), trace)
	}
}
