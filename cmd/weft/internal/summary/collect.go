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

// States in the order in which they are shown.
var states = [...]string{
	"blocked", "deadlocked", "reentering", "waiting", "joining", "parked", "sleeping", "runnable", "suspended", "unknown",
}

// otherLocks is the row of what a window counts in all but lists under no class, since it lists the hottest only.
const otherLocks = "(other locks)"

type spanKey struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

type threadKey struct{ session, name string }

type collection struct {
	sum      Summary
	seen     map[spanKey]struct{} // roots and thread spans; others are not added up
	services map[string]struct{}
	sessions map[string]struct{}
	cuts     map[string]int
	states   [len(states)]State
	locks    map[string]*Lock
	threads  map[threadKey]*Thread
	ids      map[threadKey]map[int64]struct{}
	longest  longest
	unowned  map[pcommon.SpanID][]blockedKey // by the span that the link of their span leads to
}

func newCollection() *collection {
	c := &collection{
		seen:     map[spanKey]struct{}{},
		services: map[string]struct{}{},
		sessions: map[string]struct{}{},
		cuts:     map[string]int{},
		locks:    map[string]*Lock{},
		threads:  map[threadKey]*Thread{},
		ids:      map[threadKey]map[int64]struct{}{},
		unowned:  map[pcommon.SpanID][]blockedKey{},
	}
	for i, name := range states {
		c.states[i].Name = name
	}
	return c
}

func (c *collection) add(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		service := text(rs.Resource().Attributes(), "service.name")
		session := text(rs.Resource().Attributes(), "weft.session.id")
		if session == "" {
			session = service
		}
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				c.addSpan(span, service, session)
			}
		}
	}
	c.findOwners(td)
}

func (c *collection) addSpan(span ptrace.Span, service, session string) {
	attrs := span.Attributes()
	_, isState := attrs.Get("weft.state")
	_, isRoot := attrs.Get("weft.window.cut")
	_, isThread := attrs.Get("thread.id")
	_, isPath := attrs.Get("weft.critical_path.thread.id")
	switch {
	case isState:
		c.sum.Spans++
		c.addState(span, service, session)
		return
	case isPath:
		c.sum.Spans++
		return
	case !isRoot && !isThread:
		return // somebody else's
	}
	key := spanKey{span.TraceID(), span.SpanID()}
	if _, twice := c.seen[key]; twice {
		return
	}
	c.seen[key] = struct{}{}
	c.sum.Spans++
	if isRoot {
		c.addWindow(span, service, session)
	} else {
		c.addThread(attrs, service, session)
	}
}

func (c *collection) addWindow(root ptrace.Span, service, session string) {
	attrs := root.Attributes()
	c.services[service] = struct{}{}
	c.sessions[session] = struct{}{}
	c.cuts[text(attrs, "weft.window.cut")]++
	c.sum.Windows++
	if start := root.StartTimestamp().AsTime(); c.sum.Start.IsZero() || start.Before(c.sum.Start) {
		c.sum.Start = start
	}
	if end := root.EndTimestamp().AsTime(); end.After(c.sum.End) {
		c.sum.End = end
	}
	c.sum.Events += number(attrs, "weft.events.count")
	c.sum.EventsLost += number(attrs, "weft.events.lost")
	c.sum.EventsMissed += number(attrs, "weft.events.missed")
	c.sum.FoldedThreads += number(attrs, "weft.folded.threads")
	for i := range c.states {
		c.states[i].Count += number(attrs, "weft.count."+states[i])
		c.states[i].Time += duration(attrs, "weft.time."+states[i])
	}
	rest := Lock{
		Contentions: number(attrs, "weft.count.blocked"),
		Blocked:     duration(attrs, "weft.time.blocked") + duration(attrs, "weft.time.deadlocked"),
		Waits:       number(attrs, "weft.count.waiting"),
		Waited:      duration(attrs, "weft.time.waiting"),
	}
	for _, event := range root.Events().All() {
		if event.Name() == "weft.deadlock" {
			c.addDeadlock(root, event.Attributes(), service)
		}
		if event.Name() != "weft.lock" {
			continue
		}
		lock := c.addLock(event.Attributes())
		c.addChain(root, event.Attributes(), service)
		rest.Contentions -= lock.Contentions
		rest.Blocked -= lock.Blocked
		rest.Waits -= lock.Waits
		rest.Waited -= lock.Waited
	}
	if rest != (Lock{}) {
		c.lock(otherLocks).add(rest)
	}
}

func (l *Lock) add(more Lock) {
	l.Contentions += more.Contentions
	l.Handoffs += more.Handoffs
	l.Blocked += more.Blocked
	l.BlockedMax = max(l.BlockedMax, more.BlockedMax)
	l.Waiters = max(l.Waiters, more.Waiters)
	l.Holds += more.Holds
	l.Held += more.Held
	l.HeldMax = max(l.HeldMax, more.HeldMax)
	l.Waits += more.Waits
	l.Waited += more.Waited
}

// summary sorts what was added up.
func (c *collection) summary() Summary {
	s := c.sum
	s.Services = sortedKeys(c.services)
	s.Sessions = len(c.sessions)
	for _, reason := range sortedKeys(c.cuts) {
		s.Cuts = append(s.Cuts, Cut{reason, c.cuts[reason]})
	}
	s.States = slices.DeleteFunc(c.states[:], func(st State) bool { return st.Count == 0 && st.Time == 0 })
	slices.SortFunc(s.Deadlocks, func(a, b Deadlock) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	s.Locks = c.sortedLocks()
	for key, thread := range c.threads {
		thread.Threads = len(c.ids[key])
		s.Threads = append(s.Threads, *thread)
	}
	slices.SortFunc(s.Threads, func(a, b Thread) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(b.Waited, a.Waited),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Service, b.Service))
	})
	s.Longest = c.longest.sorted()
	return s
}

func (c *collection) sortedLocks() []Lock {
	var locks []Lock
	for _, lock := range c.locks {
		locks = append(locks, *lock)
	}
	slices.SortFunc(locks, func(a, b Lock) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(b.Contentions, a.Contentions),
			cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.Class, b.Class))
	})
	return locks
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
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

func duration(attrs pcommon.Map, name string) time.Duration {
	return time.Duration(number(attrs, name))
}
