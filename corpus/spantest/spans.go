// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// ID identifies a span.
type ID struct {
	Trace pcommon.TraceID
	Span  pcommon.SpanID
}

// Span is a span with its resource.
type Span struct {
	ptrace.Span
	Service  string
	Instance string // service.instance.id
	Session  string // empty: a span of the application
	Resource pcommon.Map
}

// ID identifies the span.
func (s *Span) ID() ID { return ID{s.TraceID(), s.SpanID()} }

// Parent identifies the span above it.
func (s *Span) Parent() ID { return ID{s.TraceID(), s.ParentSpanID()} }

// Text returns an attribute, empty if it is missing.
func (s *Span) Text(name string) string { return Text(s.Attributes(), name) }

// Number returns an attribute, 0 if it is missing.
func (s *Span) Number(name string) int64 { return Number(s.Attributes(), name) }

// Has reports whether the span has an attribute.
func (s *Span) Has(name string) bool {
	_, ok := s.Attributes().Get(name)
	return ok
}

// IsRoot reports whether no span is above it.
func (s *Span) IsRoot() bool { return s.ParentSpanID().IsEmpty() }

// OfIncident reports whether the span is in the trace of an incident.
func (s *Span) OfIncident() bool { return s.Has("weft.incident.kind") || s.Has("weft.incident.role") }

// InRequest reports whether Weft added the span to the trace of an application.
func (s *Span) InRequest() bool {
	return s.Has("weft.wait.time") || s.Has("weft.request.time") || s.Has("weft.request.waiters")
}

// IsState reports whether the span is the state of a thread.
func (s *Span) IsState() bool { return s.Has("weft.state") }

// Begin is the start of the span.
func (s *Span) Begin() int64 { return int64(s.StartTimestamp()) }

// End is the exact end of a state: its span ends a microsecond early.
func (s *Span) End() int64 { return s.Begin() + s.Number("weft.interval.time") }

// Began is the start of the state, which may be in an earlier window.
func (s *Span) Began() int64 {
	if s.Has("weft.interval.start") {
		return s.Number("weft.interval.start")
	}
	return s.Begin()
}

// LinkKinds returns the kinds of the links of the span.
func (s *Span) LinkKinds() (kinds []string) {
	for _, l := range s.Links().All() {
		kinds = append(kinds, Link{SpanLink: l}.Kind())
	}
	return kinds
}

// Text returns an attribute, empty if it is missing.
func Text(attrs pcommon.Map, name string) string {
	value, ok := attrs.Get(name)
	if !ok {
		return ""
	}
	return value.Str()
}

// Number returns an attribute, 0 if it is missing.
func Number(attrs pcommon.Map, name string) int64 {
	value, ok := attrs.Get(name)
	if !ok {
		return 0
	}
	return value.Int()
}

// Link is a link with both ends.
type Link struct {
	ptrace.SpanLink
	From *Span // the woken one, which has the link
	To   *Span // nil if it points nowhere
}

// Kind is how the woken thread was released.
func (l Link) Kind() string {
	value, ok := l.Attributes().Get("weft.link.kind")
	if !ok {
		return ""
	}
	return value.Str()
}

// Output is all spans of a run.
type Output struct {
	Spans     []*Span // of windows
	Incidents []*Span // of incidents, which repeat what those of windows say
	Requests  []*Span // in the traces of applications, which repeat it, too
	ByID      map[ID]*Span
	Twice     []*Span // spans with a repeated id
}

// New returns an Output without spans.
func New() *Output { return &Output{ByID: map[ID]*Span{}} }

// Add adds the spans of a request.
func (o *Output) Add(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		service, _ := rs.Resource().Attributes().Get("service.name")
		instance, session := Text(rs.Resource().Attributes(), "service.instance.id"), Text(rs.Resource().Attributes(), "weft.session.id")
		for _, ss := range rs.ScopeSpans().All() {
			for _, raw := range ss.Spans().All() {
				s := &Span{Span: raw, Service: service.Str(), Instance: instance, Session: session, Resource: rs.Resource().Attributes()}
				if o.ByID[s.ID()] != nil {
					o.Twice = append(o.Twice, s)
					continue
				}
				o.ByID[s.ID()] = s
				switch {
				case s.OfIncident():
					o.Incidents = append(o.Incidents, s)
				case s.InRequest():
					o.Requests = append(o.Requests, s)
				default:
					o.Spans = append(o.Spans, s)
				}
			}
		}
	}
}

// Read reads a file of OTLP JSON lines; it skips an incomplete last line.
func Read(t T, file string) *Output {
	t.Helper()
	o := New()
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
		o.Add(td)
	}
	return o
}

// Of returns the spans of one service that meet a condition, ordered by time.
func (o *Output) Of(service string, condition func(*Span) bool) []*Span {
	var found []*Span
	for _, s := range o.Spans {
		if s.Service == service && condition(s) {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b *Span) int { return cmp.Compare(a.StartTimestamp(), b.StartTimestamp()) })
	return found
}

// Roots returns the roots of the windows of a service, ordered by time.
func (o *Output) Roots(service string) []*Span { return o.Of(service, (*Span).IsRoot) }

// Cuts counts the windows of a service by why they ended.
func (o *Output) Cuts(service string) map[string]int {
	counts := make(map[string]int)
	for _, root := range o.Roots(service) {
		counts[root.Text("weft.window.cut")]++
	}
	return counts
}

// States returns the pieces of one thread in one state.
func (o *Output) States(service string, thread int64, state string) []*Span {
	return o.Of(service, func(s *Span) bool { return s.Text("weft.state") == state && s.Number("thread.id") == thread })
}

// Unnamed returns the names that no span has, nor the thread of one.
func (o *Output) Unnamed(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(o.Spans, func(s *Span) bool { return s.Name() == name || s.Name() == "thread" && s.Text("thread.name") == name })
	})
}

// Began counts the waits of one thread for locks of one class.
func (o *Output) Began(service string, thread int64, state, class string) int {
	return len(slices.DeleteFunc(o.States(service, thread, state), func(s *Span) bool {
		return s.Text("weft.lock.class") != class || s.Has("weft.interval.start") // continued from the previous window
	}))
}

// Links returns the links of one kind, ordered by the time at which the woken thread continued.
func (o *Output) Links(service, kind string) []Link {
	var found []Link
	for _, s := range o.Of(service, func(*Span) bool { return true }) {
		for _, l := range s.Links().All() {
			if candidate := (Link{l, s, o.ByID[ID{l.TraceID(), l.SpanID()}]}); candidate.Kind() == kind {
				found = append(found, candidate)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Link) int { return cmp.Compare(a.From.End(), b.From.End()) })
	return found
}

// Total adds up an attribute of the thread spans of one thread over all windows.
func (o *Output) Total(service string, thread int64, attribute string) int64 {
	var sum int64
	for _, s := range o.Of(service, func(s *Span) bool { return !s.IsState() && s.Number("thread.id") == thread }) {
		sum += s.Number(attribute)
	}
	return sum
}

// LockTotal adds up an attribute of the roots' events about one lock class, or about all if none is given.
func (o *Output) LockTotal(service, class, attribute string) int64 {
	var sum int64
	for _, s := range o.Roots(service) {
		for _, event := range s.Events().All() {
			if name, ok := event.Attributes().Get("weft.lock.class"); ok && event.Name() == "weft.lock" && (class == "" || name.Str() == class) {
				sum += Number(event.Attributes(), attribute)
			}
		}
	}
	return sum
}

// RootTotal adds up an attribute of the roots: a window counts all of its locks, and lists only the hottest classes.
func (o *Output) RootTotal(service, attribute string) int64 {
	var sum int64
	for _, s := range o.Roots(service) {
		sum += s.Number(attribute)
	}
	return sum
}
