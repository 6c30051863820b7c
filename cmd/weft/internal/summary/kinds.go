// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	windows "github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// kindNamed returns the kind with the name that attributes have; WaitNone if there is none.
func kindNamed(name string) jvmthread.Wait {
	for w := range jvmthread.Wait(jvmthread.NumWaits) {
		if w.String() == name {
			return w
		}
	}
	return jvmthread.WaitNone
}

// kindOf returns what the thread of a state span waited for. Versions before 0.2 did not write it.
func kindOf(attrs pcommon.Map) jvmthread.Wait {
	if kind := text(attrs, "weft.wait.kind"); kind != "" {
		return kindNamed(kind)
	}
	switch text(attrs, "weft.state") {
	case "blocked", "deadlocked":
		return jvmthread.WaitLock
	case "parked":
		if text(attrs, "weft.lock.owner.thread.name") != "" {
			return jvmthread.WaitLock
		}
	}
	return jvmthread.WaitNone
}

// waitsOf reads the sums of all waits of a window by kind. Versions before 0.2 wrote sums by state only.
func waitsOf(root ptrace.Span, totals *windows.Totals) (waits windows.Waits) {
	known := false
	for _, event := range root.Events().All() {
		if event.Name() == "weft.wait" {
			a := event.Attributes()
			waits[kindNamed(text(a, "weft.wait.kind"))] = windows.Sum{Count: uint64(number(a, "weft.wait.count")), Time: duration(a, "weft.wait.time")}
			known = true
		}
	}
	if known {
		return waits
	}
	for state, kind := range map[jvmthread.State]jvmthread.Wait{
		jvmthread.StateWaiting: jvmthread.WaitObject, jvmthread.StateReentering: jvmthread.WaitReenter, jvmthread.StateJoining: jvmthread.WaitJoin,
		jvmthread.StateSleeping: jvmthread.WaitSleep, jvmthread.StateParked: jvmthread.WaitPark, jvmthread.StateSuspended: jvmthread.WaitSuspend,
	} {
		waits[kind] = totals[state]
	}
	waits[jvmthread.WaitLock] = windows.Sum{Count: totals[jvmthread.StateBlocked].Count, Time: blockedTime(totals)}
	return waits
}

// contendedOf reads the sum of contended waits of a root or thread span. Versions before 0.2 counted monitors only.
func contendedOf(attrs pcommon.Map, totals *windows.Totals) (count int64, length time.Duration) {
	if _, ok := attrs.Get("weft.contended.count"); ok {
		return number(attrs, "weft.contended.count"), duration(attrs, "weft.contended.time")
	}
	return int64(totals[jvmthread.StateBlocked].Count), blockedTime(totals)
}

// kindWords name kinds in tables.
var kindWords = [jvmthread.NumWaits]string{
	jvmthread.WaitLock:      "waiting for locks",
	jvmthread.WaitPermit:    "waiting for permits",
	jvmthread.WaitPool:      "waiting for pools",
	jvmthread.WaitReenter:   "reentering monitors",
	jvmthread.WaitCondition: "waiting for conditions",
	jvmthread.WaitLatch:     "waiting at latches",
	jvmthread.WaitBarrier:   "waiting at barriers",
	jvmthread.WaitExchange:  "waiting at exchangers",
	jvmthread.WaitFuture:    "waiting for futures",
	jvmthread.WaitQueue:     "waiting at queues",
	jvmthread.WaitObject:    "Object.wait",
	jvmthread.WaitJoin:      "joining threads",
	jvmthread.WaitIO:        "waiting for I/O",
	jvmthread.WaitSleep:     "sleeping",
	jvmthread.WaitTimer:     "waiting for the time",
	jvmthread.WaitIdle:      "waiting for tasks",
	jvmthread.WaitSuspend:   "being suspended",
	jvmthread.WaitPark:      "being parked",
	jvmthread.WaitCarrier:   "waiting for carriers",
}

type siteKey struct {
	kind        jvmthread.Wait
	site, entry string
}

// addSite notes where a thread waited, for the table of kinds.
func (c *collection) addSite(attrs pcommon.Map, kind jvmthread.Wait, length time.Duration) {
	add(c.sites, siteKey{kind, text(attrs, "code.function.name"), text(attrs, "weft.wait.entry")}, length)
}

// byKind returns the waits of each kind, those without a task last.
func (c *collection) byKind() []Waits {
	list := []Waits{}
	for kind, sum := range c.waits {
		if sum == (windows.Sum{}) || kind == int(jvmthread.WaitNone) {
			continue
		}
		w := Waits{Kind: jvmthread.Wait(kind).String(), Count: int64(sum.Count), Time: sum.Time, Idle: jvmthread.Wait(kind).Idle()}
		w.Contended = jvmthread.Wait(kind).Contended()
		of := make(map[siteKey]time.Duration)
		for key, length := range c.sites {
			if key.kind == jvmthread.Wait(kind) && key.site != "" {
				of[key] = length
			}
		}
		top, _ := most(of, siteKey.compare)
		w.Site, w.Entry = top.site, top.entry
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b Waits) int {
		if a.Idle != b.Idle {
			if a.Idle {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

func (k siteKey) compare(o siteKey) int {
	return cmp.Or(cmp.Compare(k.kind, o.kind), cmp.Compare(k.site, o.site), cmp.Compare(k.entry, o.entry))
}
