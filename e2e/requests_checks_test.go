// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// slowRequest is a request that somebody looks at.
const slowRequest = 100 * time.Millisecond

// served is what a program with OpenTelemetry's SDK exported, what Weft added to its traces, and what the program measured.
type served struct {
	own   map[spanID]*span // of the program
	slow  map[string]*span // of these, the slow requests by trace
	added []*span          // Weft's, in these traces
	waits map[string][]*span
	holds map[string][]hold // by trace
	of    map[string][]hold // by what was held
}

func newServed(t *testing.T, o *output, service string, holds []hold) *served {
	t.Helper()
	r := &served{
		own: map[spanID]*span{}, slow: map[string]*span{}, waits: map[string][]*span{}, holds: map[string][]hold{}, of: map[string][]hold{},
	}
	traces := map[pcommon.TraceID]bool{}
	for _, s := range o.Of(service, func(s *span) bool { return s.Session == "" }) {
		r.own[s.ID()] = s
		traces[s.TraceID()] = true
		if s.IsRoot() && s.Name() != "restock" && time.Duration(s.EndTimestamp()-s.StartTimestamp()) > slowRequest {
			r.slow[s.TraceID().String()] = s
		}
	}
	r.added = o.Of(service, func(s *span) bool { return s.Session != "" && traces[s.TraceID()] })
	for _, s := range r.added {
		if s.Has("weft.wait.time") {
			r.waits[s.TraceID().String()] = append(r.waits[s.TraceID().String()], s)
		}
	}
	for _, h := range holds {
		r.holds[h.Trace] = append(r.holds[h.Trace], h)
		r.of[h.Of] = append(r.of[h.Of], h)
	}
	for _, of := range r.of {
		slices.SortFunc(of, func(a, b hold) int { return cmp.Compare(a.Acquired, b.Acquired) })
	}
	return r
}

// names counts the program's spans.
func (r *served) names() map[string]int {
	counts := map[string]int{}
	for _, s := range r.own {
		counts[s.Name()]++
	}
	return counts
}

// covered is how much of a time the spans cover together; they are in order.
func covered(spans []*span, from, to int64) (sum int64) {
	for _, s := range spans {
		begin, end := max(from, int64(s.StartTimestamp())), min(to, int64(s.EndTimestamp()))
		if begin < end {
			sum += end - begin
			from = end
		}
	}
	return sum
}

// checkCoverage checks that the traces of slow requests show where they lost their time.
func (r *served) checkCoverage(t *testing.T) {
	// The program's times include those in which the thread ran or lacked a processor. For a virtual thread that is not known; on a busy machine,
	// it is 0.35 ms on average.
	const ofVirtual = int64(500 * time.Microsecond)
	lost, shown, excused := map[string]int64{}, map[string]int64{}, map[string]int64{}
	var shares []float64
	for trace := range r.slow {
		var own, seen int64
		for _, h := range r.holds[trace] {
			took, part := h.Acquired-h.Called, covered(r.waits[trace], h.Called, h.Acquired)
			lost[h.Of] += took
			shown[h.Of] += part
			if h.Busy > 0 {
				excused[h.Of] += min(h.Busy, took-part)
			} else {
				excused[h.Of] += ofVirtual
			}
			own += took
			seen += part
		}
		if own > int64(slowRequest/2) {
			shares = append(shares, float64(seen)/float64(own))
		}
	}
	require.Greater(t, len(shares), 100, "slow requests that waited")
	for _, of := range []string{"Inventory.lock", "Prices.lock", "HikariPool"} {
		t.Logf("%s: lost %v, shown %v, excused %v", of, time.Duration(lost[of]), time.Duration(shown[of]), time.Duration(excused[of]))
		assert.GreaterOrEqual(t, float64(shown[of]+excused[of]), 0.95*float64(lost[of]), of)
	}
	slices.Sort(shares)
	t.Logf("%d slow requests; least shares %.3f, median %.4f", len(r.slow), shares[:3], shares[len(shares)/2])
	assert.GreaterOrEqual(t, shares[len(shares)/20], 0.95, "share of 95 %% of the requests")
}

// checkPlace checks that the added spans lie within their parents and have their resource. The SDK reads the wall clock and the clock that it
// counts from one after the other when a span starts: a thread that is preempted in between shifts its span, as the program sees too.
func (r *served) checkPlace(t *testing.T) {
	outside, shifted := 0, 0
	for _, s := range r.added {
		parent := r.own[s.Parent()]
		if !assert.NotNil(t, parent, "%s is an orphan", s.Name()) {
			continue
		}
		assert.Equal(t, parent.Instance, s.Instance)
		begin, end := int64(parent.StartTimestamp()), int64(parent.EndTimestamp())
		if begin <= int64(s.StartTimestamp()) && int64(s.EndTimestamp()) <= end {
			continue
		}
		for _, h := range r.holds[s.TraceID().String()] {
			begin, end = min(begin, h.Called), max(end, h.Released)
		}
		if near := int64(200 * time.Microsecond); begin-near <= int64(s.StartTimestamp()) && int64(s.EndTimestamp()) <= end+near {
			shifted++
			continue
		}
		outside++
		t.Logf("%s is outside of %s by %v, %v", s.Name(), parent.Name(), time.Duration(begin-int64(s.StartTimestamp())), time.Duration(int64(s.EndTimestamp())-end))
	}
	t.Logf("%d spans added, %d outside of their parents, and %d whose parents are shifted", len(r.added), outside, shifted)
	require.Greater(t, len(r.added), 1000)
	assert.LessOrEqual(t, outside, len(r.added)/1000) // the program does not see how its thread writes the response
}

// checkRequests checks that slow requests have one span that says where their time went, with the name that the instrumentation gave it.
func (r *served) checkRequests(t *testing.T) {
	found := map[string][]string{}
	for _, s := range r.added {
		if s.Has("weft.request.time") {
			found[s.TraceID().String()] = append(found[s.TraceID().String()], s.Text("weft.request.name"))
		}
	}
	missing := 0
	for trace, root := range r.slow {
		if len(found[trace]) == 0 {
			missing++ // beyond max_per_second
			continue
		}
		assert.Equal(t, []string{root.Name()}, found[trace], "trace %s", trace)
	}
	t.Logf("%d of %d slow requests have no span that says where their time went", missing, len(r.slow))
	assert.LessOrEqual(t, missing, len(r.slow)/100)
}

// holding are the names of what the program holds, by the lock that its threads wait for.
var holding = map[string]string{"Inventory.lock": "Inventory.lock", "Prices.lock": "Prices.lock", "ConcurrentBag.handoffQueue": "HikariPool"}

// checkHolders checks that each link leads to a request that held what the wait was for. It may lead to a span that was current for a part of
// the time, such as that of a statement in the database, so only the traces are compared.
func (r *served) checkHolders(t *testing.T) {
	all, without, wrong := map[string]int{}, map[string]int{}, map[string]int{}
	for _, s := range r.added {
		of := holding[s.Text("weft.lock.name")]
		if of == "" || !s.Has("weft.wait.time") {
			continue
		}
		holders := r.during(of, int64(s.StartTimestamp()), int64(s.EndTimestamp()))
		links := append(linked(s.Links(), "holder_context"), linked(s.Links(), "owner_context")...)
		all[of]++
		if len(links) == 0 && slices.ContainsFunc(holders, func(h hold) bool { return h.Span != "0000000000000000" }) {
			without[of]++
		}
		for _, l := range links {
			if !slices.ContainsFunc(holders, func(h hold) bool { return h.Trace == l.Trace }) {
				wrong[of]++
				t.Logf("%s %s: %s held by %v", s.TraceID(), s.Name(), s.Text("weft.explanation"), l)
			}
		}
	}
	t.Logf("waits %v, without a link %v, wrong links %v", all, without, wrong)
	for _, of := range []string{"Inventory.lock", "Prices.lock"} {
		// The owner may release the lock right after it was read, and another thread take it without having waited: no event shows that.
		assert.LessOrEqual(t, wrong[of], all[of]/100, of)
		assert.Less(t, without[of], all[of]/20, of)
	}
	// The agent does not see the return of a connection for which no thread waits.
	assert.LessOrEqual(t, wrong["HikariPool"], all["HikariPool"]/50, "HikariPool")
}

// checkHolds checks that the spans of holds are those of holds of the program, and are not longer: the JVM does not report the release of a
// monitor, and a thread that takes one without having waited is seen only when the next one waits for it. A span covers the part after the
// holder's own last wait, so this compares the time in its attributes.
func (r *served) checkHolds(t *testing.T) {
	all, unknown := 0, 0
	var shown, held int64
	for _, s := range r.added {
		of := holding[s.Text("weft.lock.name")]
		if !s.Has("weft.lock.held.time") || of == "" || of == "HikariPool" {
			continue
		}
		all++
		end := int64(s.EndTimestamp())
		begin := end - s.Number("weft.lock.held.time")
		known := int64(0)
		for _, h := range r.during(of, begin, end) {
			if h.Trace == s.TraceID().String() {
				known += max(0, min(end, h.Released)-max(begin, h.Acquired))
			}
		}
		if known == 0 {
			unknown++
			t.Logf("%s held %s for %v until %d, but not according to the program", s.Text("thread.name"), of, time.Duration(end-begin), end)
		}
		shown += end - begin
		held += known
	}
	t.Logf("%d holds, %d of which the program does not know; %v shown, %v held", all, unknown, time.Duration(shown), time.Duration(held))
	require.Greater(t, all, 10)
	assert.LessOrEqual(t, unknown, all/100)
	assert.GreaterOrEqual(t, float64(held), 0.9*float64(shown))
}

// during returns who held something during a time. A thread may be preempted between the program's clock and the lock, so a lock that has one
// holder is held from the release before it was acquired until the acquisition after it was released.
func (r *served) during(of string, from, to int64) []hold {
	const tolerance = int64(time.Millisecond)
	all := r.of[of]
	return slices.Collect(func(yield func(hold) bool) {
		for i, h := range all {
			if of != "HikariPool" && i > 0 {
				h.Acquired = min(h.Acquired, all[i-1].Released)
			}
			if of != "HikariPool" && i+1 < len(all) {
				h.Released = max(h.Released, all[i+1].Acquired)
			}
			if h.Acquired < to+tolerance && h.Released > from-tolerance && !yield(h) {
				return
			}
		}
	})
}

// checkJaeger checks that the critical path of Jaeger's page leads through the longest wait for a lock or a connection of each slow request.
func (r *served) checkJaeger(t *testing.T, server *jaeger) {
	const short = int64(10 * time.Millisecond)
	checked, shifted := 0, 0
	for trace, root := range r.slow {
		var longest *span
		for _, s := range r.waits[trace] {
			if s.Contended() && (longest == nil || s.Number("weft.wait.time") > longest.Number("weft.wait.time")) {
				longest = s
			}
		}
		if longest == nil || longest.Number("weft.wait.time") < short {
			continue
		}
		if r.shifted(trace, root) {
			shifted++
			continue
		}
		var answer v1Answer
		poll(t, "Jaeger has the trace", func() bool {
			require.True(t, server.get(t, "/api/traces/"+trace, &answer))
			return slices.ContainsFunc(answer.Data[0].Spans, func(s v1Span) bool { return s.SpanID == longest.SpanID().String() })
		})
		roots, all := tree(t, answer.Data[0].Spans)
		require.Len(t, roots, 1)
		visited := map[*line]bool{}
		roots[0].visit(visited)
		assert.True(t, visited[all[longest.SpanID().String()]], "%s is not on the critical path of trace %s", longest.Name(), trace)
		checked++
	}
	t.Logf("the critical path of %d traces leads through the longest wait; the spans of %d more are shifted", checked, shifted)
	assert.Greater(t, checked, len(r.slow)*9/10)
}

// shifted reports whether the SDK's clock disagrees with the program's: a wait ends after the request, or a span begins while the program says
// that its thread waited. Such a span overlaps the wait, which Jaeger then leaves out.
func (r *served) shifted(trace string, root *span) bool {
	if slices.ContainsFunc(r.waits[trace], func(s *span) bool { return s.EndTimestamp() > root.EndTimestamp() }) {
		return true
	}
	for _, s := range r.own {
		if s.TraceID() != root.TraceID() || s == root {
			continue
		}
		begin := int64(s.StartTimestamp())
		if slices.ContainsFunc(r.holds[trace], func(h hold) bool { return h.Called < begin && begin < h.Acquired }) {
			return true
		}
	}
	return false
}
