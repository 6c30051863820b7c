// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

var errAnswer = errors.New("the answer was lost")

// link is the network between two collectors, or to the backend.
type link struct {
	mu      sync.Mutex
	down    bool // nothing arrives
	answers int  // how many of the next answers are lost
}

func (l *link) isDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down
}

func (l *link) loses() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answers == 0 {
		return false
	}
	l.answers--
	return true
}

func (l *link) set(down bool, answers int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.answers = down, answers
}

type spanID struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// span is a span with what its resource says.
type span struct {
	ptrace.Span

	service string
}

func (s *span) id() spanID { return spanID{s.TraceID(), s.SpanID()} }

func (s *span) isWindow() bool { return s.ParentSpanID().IsEmpty() && s.text("weft.window.cut") != "" }

func (s *span) text(name string) string {
	v, ok := s.Attributes().Get(name)
	if !ok {
		return ""
	}
	return v.AsString()
}

func (s *span) number(name string) int64 {
	v, ok := s.Attributes().Get(name)
	if !ok {
		return 0
	}
	return v.Int()
}

// backend keeps the spans that it gets.
type backend struct {
	mu       sync.Mutex
	byID     map[spanID]*span
	order    []*span // without repeats
	twice    []*span
	rejects  int // how many of the next requests it does not accept, for good
	rejected map[spanID]bool
}

func newBackend() *backend {
	return &backend{byID: make(map[spanID]*span), rejected: make(map[spanID]bool)}
}

// take accepts the spans of a request, or rejects them for good.
func (b *backend) take(_ context.Context, td ptrace.Traces) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	reject := b.rejects > 0
	if reject {
		b.rejects--
	}
	for _, rs := range td.ResourceSpans().All() {
		service, _ := rs.Resource().Attributes().Get("service.name")
		for _, ss := range rs.ScopeSpans().All() {
			for _, own := range ss.Spans().All() {
				s := &span{own, service.AsString()}
				switch {
				case reject:
					b.rejected[s.id()] = true
				case b.byID[s.id()] != nil:
					b.twice = append(b.twice, s)
				default:
					b.byID[s.id()] = s
					b.order = append(b.order, s)
				}
			}
		}
	}
	if reject {
		return consumererror.NewPermanent(errors.New("rejected"))
	}
	return nil
}

// windows returns the windows of a service, and those that came again and ended otherwise, by ID and cut: if a collector is killed after the
// shutdown has delivered a window, and before the journal knows, the next life makes a longer one.
func (b *backend) windows(service string) map[spanID]map[string]*span {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[spanID]map[string]*span)
	for _, s := range slices.Concat(b.order, b.twice) {
		if s.service == service && s.isWindow() {
			if all[s.id()] == nil {
				all[s.id()] = make(map[string]*span)
			}
			all[s.id()][s.text("weft.window.cut")] = s
		}
	}
	return all
}

// of returns the spans of a service.
func (b *backend) of(service string) (all []*span) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.order {
		if s.service == service {
			all = append(all, s)
		}
	}
	return all
}
