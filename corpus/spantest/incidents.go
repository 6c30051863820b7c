// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// MaxIncidentSpans is the limit that the processor's README states.
const MaxIncidentSpans = 50

// CheckIncidents checks the traces of incidents, and that their times add up to the contended time of the windows.
func CheckIncidents(t T, o *Output, but Exception) {
	t.Helper()
	perTrace, roots := map[pcommon.TraceID]int{}, map[pcommon.TraceID]*Span{}
	reported := map[string]int64{}
	for _, s := range o.Incidents {
		perTrace[s.TraceID()]++
		if s.IsRoot() {
			roots[s.TraceID()] = s
			reported[s.Session] += s.Number("weft.incident.blocked.time")
			assert.Zero(t, s.Links().Len(), "a root has no links")
		}
	}
	for _, s := range o.Incidents {
		checkIncidentSpan(t, o, s, roots[s.TraceID()], but)
	}
	for trace, n := range perTrace {
		assert.LessOrEqual(t, n, MaxIncidentSpans, "trace %v", trace)
	}
	if but == NoException {
		checkIncidentSums(t, o, reported)
	}
}

func checkIncidentSpan(t T, o *Output, s, root *Span, but Exception) {
	t.Helper()
	if !assert.NotNil(t, root, "%s has a root", s.Name()) {
		return
	}
	assert.True(t, root.StartTimestamp() <= s.StartTimestamp() && s.StartTimestamp() <= s.EndTimestamp() && s.EndTimestamp() <= root.EndTimestamp(),
		"%s [%d, %d] is outside of %s [%d, %d]", s.Name(), s.Begin(), s.EndTimestamp(), root.Name(), root.Begin(), root.EndTimestamp())
	assert.False(t, s.IsState(), "%s would count twice", s.Name())
	assert.NotZero(t, s.SpanID()[0])
	checkTypes(t, s.Attributes())
	for _, l := range s.Links().All() {
		to := o.ByID[ID{l.TraceID(), l.SpanID()}]
		switch kind := (Link{SpanLink: l}).Kind(); {
		case toApplication(kind):
		case to == nil:
			assert.Equal(t, LinksMayPointAtAnotherCollector, but, "%s: the %s link points nowhere", s.Name(), kind)
		case kind == "detail":
			if to.Number("thread.id") != int64(jvmthread.PausesThread) { // a pause, or the thread's span if that is left out
				assert.Equal(t, s.Number("thread.id"), to.Number("thread.id"), "%s: detail", s.Name())
			}
			assert.False(t, to.OfIncident(), s.Name())
		default:
			assert.Equal(t, s.TraceID(), to.TraceID(), "%s: %s", s.Name(), kind)
		}
	}
}

// checkIncidentSums checks for each session that each blocked nanosecond is in one incident, in the counted rest, or in an incident that is still
// open.
func checkIncidentSums(t T, o *Output, reported map[string]int64) {
	t.Helper()
	type sums struct{ contended, reported, folded, open, until int64 }
	of := map[string]*sums{}
	for _, s := range o.Spans {
		if !s.Has("weft.window.cut") {
			continue
		}
		if of[s.Session] == nil {
			of[s.Session] = &sums{}
		}
		sum := of[s.Session]
		sum.contended += s.Number("weft.contended.time") + s.Number("weft.starved.time")
		sum.reported += s.Number("weft.incident.time")
		sum.folded += s.Number("weft.incident.folded.time")
		if end := int64(s.EndTimestamp()); end >= sum.until {
			sum.until, sum.open = end, s.Number("weft.incident.open.time")
		}
	}
	for session, sum := range of {
		assert.Equal(t, sum.contended, sum.reported+sum.folded+sum.open, "session %s: %+v", session, *sum)
		assert.Equal(t, sum.reported, reported[session], "session %s", session)
	}
}
