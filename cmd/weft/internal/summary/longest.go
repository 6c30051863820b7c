// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// maxLongest is how many of the longest times of being blocked are kept.
const maxLongest = 100

// longest holds the longest times of being blocked, and now and then some more.
type longest struct {
	blocked map[blockedKey]*Blocked
	floor   time.Duration // what is shorter is not among the longest
}

// blockedKey is the same for all pieces of one time of being blocked.
type blockedKey struct {
	session string
	thread  int64
	start   int64
}

func (c *collection) addState(span ptrace.Span, service, session string) {
	attrs := span.Attributes()
	if state := text(attrs, "weft.state"); state != "blocked" && state != "deadlocked" {
		return
	}
	start := int64(span.StartTimestamp())
	end := start + number(attrs, "weft.interval.time")
	if earlier := number(attrs, "weft.interval.start"); earlier != 0 {
		start = earlier
	}
	key := blockedKey{session, number(attrs, "thread.id"), start}
	owner := text(attrs, "weft.lock.owner.thread.name")
	if owner == "" && span.Links().Len() > 0 {
		c.unowned[span.Links().At(0).SpanID()] = append(c.unowned[span.Links().At(0).SpanID()], key)
	}
	c.longest.add(key, Blocked{
		Thread:   text(attrs, "thread.name"),
		Class:    text(attrs, "weft.lock.class"),
		Time:     time.Duration(end - start),
		Owner:    owner,
		Function: text(attrs, "code.function.name"),
		Service:  service,
		At:       pcommon.Timestamp(start).AsTime(),
		TraceID:  span.TraceID().String(),
	})
}

// findOwners finds who handed locks over to those of whom no owner is told, as in flight recordings: links lead to spans of the same trace.
func (c *collection) findOwners(td ptrace.Traces) {
	if len(c.unowned) == 0 {
		return
	}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				for _, key := range c.unowned[span.SpanID()] {
					if b := c.longest.blocked[key]; b != nil {
						b.Owner = text(span.Attributes(), "thread.name")
					}
				}
			}
		}
	}
	clear(c.unowned)
}

func (l *longest) add(key blockedKey, b Blocked) {
	if b.Time < l.floor {
		return
	}
	if known := l.blocked[key]; known != nil {
		if known.Time < b.Time {
			*known = b
		}
		return
	}
	if l.blocked == nil {
		l.blocked = make(map[blockedKey]*Blocked)
	}
	l.blocked[key] = &b
	if len(l.blocked) >= 8*maxLongest {
		l.floor = l.sorted()[maxLongest-1].Time
		for key, b := range l.blocked {
			if b.Time < l.floor {
				delete(l.blocked, key)
			}
		}
	}
}

func (l *longest) sorted() []Blocked {
	var all []Blocked
	for _, b := range l.blocked {
		all = append(all, *b)
	}
	slices.SortFunc(all, func(a, b Blocked) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), a.At.Compare(b.At), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Service, b.Service))
	})
	return all[:min(maxLongest, len(all))]
}
