// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"time"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// A session has at most so many names with a class or a lock: the first ones, whatever they are, then those that threads waited for. Stores index names, Jaeger lists all of them in its search form, and span metrics make a series of each.
const (
	firstObjects = 10
	maxObjects   = 20
	otherObjects = 5 // of waits that are not contended
	// worthName is the time of waits in a window that is worth a name: locks of class loaders that made a thread wait once at the start are not.
	worthName = 10 * time.Millisecond
)

// names gives spans names of which there are few: they contain no threads and no numbers, and of the objects only the first ones. The others
// are in the attributes.
type names struct {
	known   map[titleKey]string
	objects map[string]bool // names with an object
	other   int             // those of waits that are not contended
	path    map[string]string
}

func newNames() names {
	return names{known: make(map[titleKey]string), objects: make(map[string]bool), path: make(map[string]string)}
}

// limit returns a name that contains an object, or the one without it if there are too many.
func (n *names) limit(name, without string, contended bool) string {
	blocked := time.Duration(0)
	if contended {
		blocked = worthName
	}
	name, _ = n.limitTo(name, without, blocked)
	return name
}

// limitTo is limit with the time of all waits for the object in a window, 0 if they are not contended. It reports whether the name is that with
// the object.
func (n *names) limitTo(name, without string, blocked time.Duration) (limited string, ok bool) {
	most := firstObjects
	if blocked >= worthName {
		most = maxObjects
	}
	switch {
	case name == without || n.objects[name]:
		return name, true
	case len(n.objects) >= most || blocked == 0 && n.other >= otherObjects:
		return without, false
	case blocked == 0:
		n.other++
	}
	n.objects[name] = true
	return name, true
}

// intervalName returns the name of the span of an interval.
func (e *Emitter) intervalName(iv *jvmthread.Interval) string {
	k := titleKey{class: iv.Lock.Class, stack: iv.Stack, state: iv.State, wait: iv.Wait}
	if k == (titleKey{state: iv.State}) || iv.State == jvmthread.StateJoining {
		return wording.Verb(iv.State)
	}
	name, ok := e.names.known[k]
	if ok {
		return name
	}
	title, blocked := e.title(k), time.Duration(0)
	if iv.Wait.Contended() {
		blocked = max(1, e.blocked[title], iv.Waited())
	}
	name, ok = e.names.limitTo(title, wording.Title(k.state, k.wait, "", false), blocked)
	if ok {
		if len(e.names.known) >= maxTexts {
			clear(e.names.known)
		}
		e.names.known[k] = name
	}
	return name
}

// rootName states what there is to find in the window: a deadlock, or the lock that blocked threads longest.
func (e *Emitter) rootName() string {
	w := e.window
	length := w.End.Sub(w.Start)
	most, blocked := e.mostBlocked()
	if w.Totals[jvmthread.StateDeadlocked].Time > 0 {
		return "threads: deadlock"
	}
	if blocked > 0 && blocked >= length/minorPart {
		return "threads: " + e.intervalName(&most)
	}
	silent := w.Silent() // in native code, where threads wait unseen
	ran := w.Totals[jvmthread.StateRunnable].Time - silent.Totals[jvmthread.StateRunnable].Time
	if len(w.Lanes) > 0 && ran < length/minorPart {
		return "threads: idle"
	}
	return "threads"
}

// minorPart is the part of a window, a hundredth, below which blocked time is not a finding and running threads make no load: the sum of all
// threads.
const minorPart = 100

// mostBlocked returns a contended wait for what threads waited for longest, all together, and the time.
func (e *Emitter) mostBlocked() (most jvmthread.Interval, time time.Duration) {
	clear(e.blocked)
	for _, l := range e.window.Lanes {
		if l.Waits.Contended().Time == 0 {
			continue
		}
		for i := range l.Intervals.Len() {
			if !l.Intervals.Wait(i).Contended() {
				continue
			}
			iv := l.Intervals.At(i)
			title := e.title(titleKey{class: iv.Lock.Class, stack: iv.Stack, state: iv.State, wait: iv.Wait})
			sum := e.blocked[title] + e.window.Length(iv)
			if e.blocked[title] = sum; sum > time {
				most, time = iv, sum
			}
		}
	}
	return most, time
}

// segmentName is what the thread was doing, or why the path does not lead any further.
func (e *Emitter) segmentName(p *plan) string {
	doing := e.segmentTitle(p)
	name, ok := e.names.path[doing]
	if !ok {
		name = "critical path: " + doing
		e.names.path[doing] = name
	}
	return name
}

func (e *Emitter) segmentTitle(p *plan) string {
	switch kind := p.segment.Kind; kind { //exhaustive:enforce
	case criticalpath.KindRun:
		return "runnable"
	case criticalpath.KindWakeLatency:
		return "wake-up latency"
	case criticalpath.KindStartLatency:
		return "start-up latency"
	case criticalpath.KindRunQueue:
		return "wait for carrier"
	case criticalpath.KindCycle, criticalpath.KindTooDeep, criticalpath.KindCut:
		return "unexplained"
	case criticalpath.KindUnknown, criticalpath.KindSleep, criticalpath.KindSuspended, criticalpath.KindBlockedUnknown,
		criticalpath.KindWaitUnknown, criticalpath.KindTimer, criticalpath.KindDeadlock, criticalpath.KindIdle:
	}
	if p.hasOther {
		return e.intervalName(&p.other)
	}
	return "unknown"
}
