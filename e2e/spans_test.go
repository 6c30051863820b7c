// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

type spanID struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// span is a span with its resource.
type span struct {
	ptrace.Span
	service  string
	instance string // service.instance.id
	session  string // empty: a span of the application
	resource pcommon.Map
}

func (s *span) id() spanID { return spanID{s.TraceID(), s.SpanID()} }

func (s *span) parent() spanID { return spanID{s.TraceID(), s.ParentSpanID()} }

func (s *span) text(name string) string { return text(s.Attributes(), name) }

func (s *span) number(name string) int64 { return number(s.Attributes(), name) }

func (s *span) has(name string) bool {
	_, ok := s.Attributes().Get(name)
	return ok
}

func (s *span) isRoot() bool { return s.ParentSpanID().IsEmpty() }

func (s *span) ofIncident() bool { return s.has("weft.incident.kind") || s.has("weft.incident.role") }

func (s *span) isState() bool { return s.has("weft.state") }

// begin and end are the exact times of a state span: the span itself ends a microsecond early.
func (s *span) begin() int64 { return int64(s.StartTimestamp()) }

func (s *span) end() int64 { return s.begin() + s.number("weft.interval.time") }

// began is the start of the state, which may be in an earlier window.
func (s *span) began() int64 {
	if s.has("weft.interval.start") {
		return s.number("weft.interval.start")
	}
	return s.begin()
}

func text(attrs pcommon.Map, name string) string {
	value, ok := attrs.Get(name)
	if !ok {
		return ""
	}
	return value.Str()
}

func number(attrs pcommon.Map, name string) int64 {
	value, ok := attrs.Get(name)
	if !ok {
		return 0
	}
	return value.Int()
}

// link is a link with both ends.
type link struct {
	ptrace.SpanLink
	from *span // the woken one, which has the link
	to   *span // nil if it points nowhere
}

func (l link) kind() string {
	value, ok := l.Attributes().Get("weft.link.kind")
	if !ok {
		return ""
	}
	return value.Str()
}

// output is all spans of a run.
type output struct {
	spans     []*span // of windows
	incidents []*span // of incidents, which repeat what those of windows say
	byID      map[spanID]*span
	twice     []*span // spans with a repeated id
}

func newOutput() *output { return &output{byID: map[spanID]*span{}} }

func (o *output) add(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		service, _ := rs.Resource().Attributes().Get("service.name")
		instance, session := text(rs.Resource().Attributes(), "service.instance.id"), text(rs.Resource().Attributes(), "weft.session.id")
		for _, ss := range rs.ScopeSpans().All() {
			for _, raw := range ss.Spans().All() {
				s := &span{Span: raw, service: service.Str(), instance: instance, session: session, resource: rs.Resource().Attributes()}
				if o.byID[s.id()] != nil {
					o.twice = append(o.twice, s)
					continue
				}
				o.byID[s.id()] = s
				if s.ofIncident() {
					o.incidents = append(o.incidents, s)
				} else {
					o.spans = append(o.spans, s)
				}
			}
		}
	}
}

// readSpans reads a file of OTLP JSON lines; it skips an incomplete last line.
func readSpans(t *testing.T, file string) *output {
	t.Helper()
	o := newOutput()
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return o
	}
	require.NoError(t, err)
	content = content[:bytes.LastIndexByte(content, '\n')+1]
	var decoder ptrace.JSONUnmarshaler
	for line := range bytes.Lines(content) {
		td, err := decoder.UnmarshalTraces(line)
		require.NoError(t, err)
		o.add(td)
	}
	return o
}

// of returns the spans of one service that meet a condition, ordered by time.
func (o *output) of(service string, condition func(*span) bool) []*span {
	var found []*span
	for _, s := range o.spans {
		if s.service == service && condition(s) {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b *span) int { return cmp.Compare(a.StartTimestamp(), b.StartTimestamp()) })
	return found
}

func (o *output) roots(service string) []*span { return o.of(service, (*span).isRoot) }

// cuts counts the windows of a service by why they ended.
func (o *output) cuts(service string) map[string]int {
	counts := make(map[string]int)
	for _, root := range o.roots(service) {
		counts[root.text("weft.window.cut")]++
	}
	return counts
}

// states returns the pieces of one thread in one state.
func (o *output) states(service string, thread int64, state string) []*span {
	return o.of(service, func(s *span) bool { return s.text("weft.state") == state && s.number("thread.id") == thread })
}

// unnamed returns the names that no span has, nor the thread of one.
func (o *output) unnamed(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(o.spans, func(s *span) bool { return s.Name() == name || s.Name() == "thread" && s.text("thread.name") == name })
	})
}

// began counts the waits of one thread for locks of one class.
func (o *output) began(service string, thread int64, state, class string) int {
	return len(slices.DeleteFunc(o.states(service, thread, state), func(s *span) bool {
		return s.text("weft.lock.class") != class || s.has("weft.interval.start") // continued from the previous window
	}))
}

// links returns the links of one kind, ordered by the time at which the woken thread continued.
func (o *output) links(service, kind string) []link {
	var found []link
	for _, s := range o.of(service, func(*span) bool { return true }) {
		for _, l := range s.Links().All() {
			if candidate := (link{l, s, o.byID[spanID{l.TraceID(), l.SpanID()}]}); candidate.kind() == kind {
				found = append(found, candidate)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b link) int { return cmp.Compare(a.from.end(), b.from.end()) })
	return found
}

// total adds up an attribute of the thread spans of one thread over all windows.
func (o *output) total(service string, thread int64, attribute string) int64 {
	var sum int64
	for _, s := range o.of(service, func(s *span) bool { return !s.isState() && s.number("thread.id") == thread }) {
		sum += s.number(attribute)
	}
	return sum
}

// lockTotal adds up an attribute of the roots' events about one lock class, or about all if none is given.
func (o *output) lockTotal(service, class, attribute string) int64 {
	var sum int64
	for _, s := range o.roots(service) {
		for _, event := range s.Events().All() {
			if name, ok := event.Attributes().Get("weft.lock.class"); ok && event.Name() == "weft.lock" && (class == "" || name.Str() == class) {
				sum += number(event.Attributes(), attribute)
			}
		}
	}
	return sum
}
