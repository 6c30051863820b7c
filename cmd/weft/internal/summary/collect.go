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

	"github.com/weft-otel/weft/internal/engine/contention"
	windows "github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// States in the order in which they are shown.
var states = [...]jvmthread.State{
	jvmthread.StateBlocked, jvmthread.StateDeadlocked, jvmthread.StateReentering, jvmthread.StateWaiting, jvmthread.StateJoining,
	jvmthread.StateParked, jvmthread.StateSleeping, jvmthread.StateQueued, jvmthread.StateRunnable, jvmthread.StateSuspended,
	jvmthread.StateUnknown,
}

// otherLocks is the row for contention that a window counts but lists under no class: it lists the hottest classes only.
const otherLocks = "(other locks)"

type spanKey struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// threadKey is threads with one name, or a group of virtual threads.
type threadKey struct {
	session, name string
	virtual       bool
}

// origin is where a span comes from.
type origin struct{ service, session, trace string }

type collection struct {
	sum      Summary
	seen     map[spanKey]struct{} // roots and thread spans
	services map[string]struct{}
	sessions map[string]struct{}
	cuts     map[string]int
	totals   windows.Totals
	locks    map[string]*Lock
	threads  map[threadKey]*Thread
	ids      map[threadKey]map[int64]struct{}
	waits    windows.Waits
	objects  map[objectKey]*object
	sites    map[siteKey]time.Duration
	repeated map[spanKey]struct{} // thread spans in the current input
	longest  longest
	unowned  map[pcommon.SpanID][]blockedKey // by the span that their link points to
}

func newCollection() *collection {
	return &collection{
		seen: map[spanKey]struct{}{}, services: map[string]struct{}{}, sessions: map[string]struct{}{}, cuts: map[string]int{},
		locks: map[string]*Lock{}, threads: map[threadKey]*Thread{}, ids: map[threadKey]map[int64]struct{}{},
		objects: map[objectKey]*object{}, sites: map[siteKey]time.Duration{}, repeated: map[spanKey]struct{}{}, longest: longest{}, unowned: map[pcommon.SpanID][]blockedKey{},
	}
}

func (c *collection) add(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		from := origin{service: text(rs.Resource().Attributes(), "service.name")}
		from.session = cmp.Or(text(rs.Resource().Attributes(), "weft.session.id"), from.service)
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				from.trace = span.TraceID().String()
				c.addSpan(span, from)
			}
		}
	}
	c.findOwners(td)
	clear(c.repeated)
}

func (c *collection) addSpan(span ptrace.Span, from origin) {
	attrs := span.Attributes()
	has := func(key string) bool {
		_, ok := attrs.Get(key)
		return ok
	}
	isRoot := has("weft.window.cut")
	switch {
	case has("weft.incident.kind"), has("weft.incident.role"), has("weft.state") && !has("weft.interval.time"), has("weft.lock.held.time"),
		has("weft.request.time"):
		return // of an incident or a request: the trace of the window has the same waits
	case has("weft.state"):
		c.sum.Spans++
		if _, repeated := c.repeated[spanKey{span.TraceID(), span.ParentSpanID()}]; !repeated {
			c.addState(span, from)
		}
		return
	case has("weft.critical_path.thread.name"):
		c.sum.Spans++
		return
	case !isRoot && !has("thread.id"):
		return // not written by Weft
	}
	key := spanKey{span.TraceID(), span.SpanID()}
	if _, repeated := c.seen[key]; repeated {
		c.repeated[key] = struct{}{}
		return
	}
	c.seen[key] = struct{}{}
	c.sum.Spans++
	if isRoot {
		c.addWindow(span, from)
	} else {
		c.addThread(attrs, from)
	}
}

func (c *collection) addWindow(root ptrace.Span, from origin) {
	attrs := root.Attributes()
	start := root.StartTimestamp()
	if exact := number(attrs, "weft.window.start"); exact > 0 { // absent in files of earlier versions
		start = pcommon.Timestamp(exact)
	}
	c.addSession(from.service, from.session, start.AsTime(), root.EndTimestamp().AsTime())
	c.cuts[text(attrs, "weft.window.cut")]++
	c.sum.Windows++
	c.sum.Events += number(attrs, "weft.events.count")
	c.sum.EventsLost += number(attrs, "weft.events.lost")
	c.sum.EventsMissed += number(attrs, "weft.events.missed")
	c.sum.FoldedThreads += number(attrs, "weft.folded.threads")
	totals := totalsOf(attrs)
	for state := range totals {
		c.addTime(jvmthread.State(state), totals[state])
	}
	waits := waitsOf(root, &totals)
	for kind, sum := range waits {
		c.addKind(jvmthread.Wait(kind), sum)
	}
	rest := Lock{Waits: int64(totals[jvmthread.StateWaiting].Count), Waited: totals[jvmthread.StateWaiting].Time}
	rest.Contentions, rest.Blocked = contendedOf(attrs, &totals)
	for _, event := range root.Events().All() {
		switch event.Name() {
		case "weft.deadlock":
			c.addDeadlock(event.Attributes(), from)
		case "weft.lock":
			lock := lockOf(event.Attributes())
			c.lock(lock.Class).add(lock)
			c.addChain(event.Attributes(), start.AsTime(), from)
			rest.Contentions -= lock.Contentions
			rest.Blocked -= lock.Blocked
			rest.Waits -= lock.Waits
			rest.Waited -= lock.Waited
		}
	}
	if rest != (Lock{}) {
		c.lock(otherLocks).add(rest)
	}
}

// addSession notes which session was observed, and when.
func (c *collection) addSession(service, session string, start, end time.Time) {
	c.services[service] = struct{}{}
	c.sessions[session] = struct{}{}
	if c.sum.Start.IsZero() || start.Before(c.sum.Start) {
		c.sum.Start = start
	}
	if end.After(c.sum.End) {
		c.sum.End = end
	}
}

func (c *collection) addTime(state jvmthread.State, sum windows.Sum) {
	c.totals[state].Count += sum.Count
	c.totals[state].Time += sum.Time
}

func (c *collection) addKind(kind jvmthread.Wait, sum windows.Sum) {
	c.waits[kind].Count += sum.Count
	c.waits[kind].Time += sum.Time
}

func (c *collection) addThread(attrs pcommon.Map, from origin) {
	key := threadKey{from.session, text(attrs, "thread.name"), flag(attrs, "weft.thread.virtual")}
	if key.virtual {
		if key.name == wording.ThreadName("", jvmthread.ThreadID(number(attrs, "thread.id"))) {
			key.name = ""
		}
		key.name = contention.VirtualGroup(nil, key.name)
	}
	thread := c.threads[key]
	if thread == nil {
		thread = &Thread{Name: key.name, Virtual: key.virtual, Service: from.service}
		c.threads[key] = thread
		c.ids[key] = map[int64]struct{}{}
	}
	c.ids[key][number(attrs, "thread.id")] = struct{}{}
	totals := totalsOf(attrs)
	blocks, blocked := contendedOf(attrs, &totals)
	thread.Blocks += blocks
	thread.Blocked += blocked
	thread.Waits += int64(totals[jvmthread.StateWaiting].Count)
	thread.Waited += totals[jvmthread.StateWaiting].Time
	for state := range totals {
		thread.Time += totals[state].Time
	}
	c.sum.FoldedCount += number(attrs, "weft.folded.count")
	c.sum.FoldedTime += duration(attrs, "weft.folded.time")
}

// summary returns the sorted sums.
func (c *collection) summary() Summary {
	s := c.sum
	s.Services = slices.Sorted(maps.Keys(c.services))
	s.Sessions = len(c.sessions)
	for _, reason := range slices.Sorted(maps.Keys(c.cuts)) {
		s.Cuts = append(s.Cuts, Cut{reason, c.cuts[reason]})
	}
	s.States = []State{}
	for _, state := range states {
		if sum := c.totals[state]; sum != (windows.Sum{}) {
			s.States = append(s.States, State{state.String(), int64(sum.Count), sum.Time})
		}
	}
	slices.SortFunc(s.Deadlocks, func(a, b Deadlock) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	for _, lock := range c.locks {
		s.Locks = append(s.Locks, *lock)
	}
	slices.SortFunc(s.Locks, func(a, b Lock) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(b.Contentions, a.Contentions),
			cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.Class, b.Class))
	})
	for key, thread := range c.threads {
		thread.Threads = len(c.ids[key])
		s.Threads = append(s.Threads, *thread)
	}
	slices.SortFunc(s.Threads, func(a, b Thread) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(b.Waited, a.Waited),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Service, b.Service), cmp.Compare(b.Time, a.Time))
	})
	s.Longest = c.longest.sorted()
	s.Waits = c.byKind()
	objects := c.sorted()
	for i := range s.Locks {
		s.Locks[i].describe(objects)
	}
	for _, o := range objects[:min(maxObjects, len(objects))] {
		s.Objects = append(s.Objects, o.public())
	}
	s.Headline = s.headline(objects)
	return s
}
