// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// maxLongest bounds the blocked times that are listed.
const maxLongest = 100

// longest holds at least the maxLongest longest blocked times.
type longest struct {
	blocked map[blockedKey]*Blocked
	floor   time.Duration // shorter times are not among the longest
}

// blockedKey identifies a blocked time across the windows and the states that contain a piece of it.
type blockedKey struct {
	session string
	thread  int64
	start   int64
}

// addState adds the span of a wait.
func (c *collection) addState(span ptrace.Span, from origin) {
	attrs := span.Attributes()
	kind, length := kindOf(attrs), duration(attrs, "weft.interval.time")
	if kind == jvmthread.WaitNone {
		return
	}
	c.addSite(attrs, kind, length)
	if !kind.Contended() {
		return
	}
	o := c.addWait(attrs, kind, length, from)
	start := int64(span.StartTimestamp())
	end := start + int64(length)
	start = cmp.Or(number(attrs, "weft.wait.start"), number(attrs, "weft.interval.start"), start)
	key := blockedKey{from.session, number(attrs, "thread.id"), start}
	owner := cmp.Or(text(attrs, "weft.lock.owner.thread.name"), text(attrs, "weft.lock.holder.thread.name"))
	if owner == "" && span.Links().Len() > 0 {
		link := span.Links().At(0).SpanID()
		c.unowned[link] = append(c.unowned[link], key)
	}
	b := Blocked{
		Thread:   text(attrs, "thread.name"),
		Class:    o.class,
		Kind:     kind.String(),
		Name:     o.name,
		Time:     time.Duration(end - start),
		Owner:    owner,
		Function: text(attrs, "code.function.name"),
		Entry:    text(attrs, "weft.wait.entry"),
		Holders:  text(attrs, "weft.lock.holders"),
		Service:  from.service,
		At:       pcommon.Timestamp(start).AsTime(),
		TraceID:  from.trace,
	}
	if holders := holdersOf(attrs); len(holders) > 0 {
		b.Holder = Holder{
			Thread: holders[0].name, Share: holders[0].share, Held: time.Duration(holders[0].share * float64(length)),
			State: text(attrs, "weft.lock.holder.state"), Function: text(attrs, "weft.lock.holder.function"),
		}
	}
	c.longest.add(key, b)
}

// findOwners fills in who handed the lock over where the owner is unknown, as in flight recordings. Links point to spans of the same trace.
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
		maps.DeleteFunc(l.blocked, func(_ blockedKey, b *Blocked) bool { return b.Time < l.floor })
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
