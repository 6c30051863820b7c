// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incidents

import (
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/lostnotify"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// Limits of what a session reports of locks that threads took in both orders, and of lost notifies.
const (
	maxPairs = 16 // pairs of classes, each once
	maxCalls = 64 // pairs of a call of notify and a wait
	// again is when the same code may be reported again: it may run in a loop.
	again = jvmthread.Time(10 * time.Minute)
)

// classes are those of two locks, the smaller one first.
type classes [2]jvmthread.ClassID

// call is code that notifies, and code that then waited in vain.
type call struct {
	class        jvmthread.ClassID
	notify, wait jvmthread.StackID
}

// hint keeps a potential deadlock, unless one of such locks was kept before.
func (k *Keeper) hint(h *deadlock.Hint, w *window.Window) {
	pair := classes{min(h.First.Class, h.Second.Class), max(h.First.Class, h.Second.Class)}
	if k.pairs[pair] || len(k.pairs) >= maxPairs {
		return
	}
	k.pairs[pair] = true
	t := k.emitter.HintText(h)
	k.session.AddIncident(store.Incident{
		IncidentID: store.IncidentID{Kind: store.KindPotentialDeadlock, Start: h.At, First: h.Other}, End: h.At,
		Name: "potential deadlock", Text: t.Text, Object: t.First + ", " + t.Second, Threads: 2,
		Cast: []jvmthread.ThreadID{h.Holder, h.Other},
		Holds: []store.IncidentPart{
			k.ordered(w, h.Before, h.Holder, t.Holder, t.First, t.Second),
			k.ordered(w, h.At, h.Other, t.Other, t.Second, t.First),
		},
	})
}

// ordered is a thread that held one lock and wanted another.
func (k *Keeper) ordered(w *window.Window, at jvmthread.Time, thread jvmthread.ThreadID, name, held, wanted string) store.IncidentPart {
	part := store.IncidentPart{Start: at, End: at, Thread: thread, Name: name, Object: held, Text: name + " held " + held + " and wanted " + wanted}
	for iv := range w.IntervalsOf(thread, at, at+1) {
		if iv.Wait == jvmthread.WaitLock {
			part.Function, part.Frames = k.waits.Site(iv.Stack).Function, k.frames(iv.Stack)
		}
	}
	return part
}

// lost keeps a lost notify, unless the same code was reported shortly before.
func (k *Keeper) lost(f *lostnotify.Found) {
	c := call{f.Lock.Class, f.Stack, f.Waits[0].Stack}
	last, known := k.calls[c]
	if known && f.At-last < again || !known && len(k.calls) >= maxCalls {
		return
	}
	k.calls[c] = f.At
	t := k.emitter.LostText(f)
	inc := store.Incident{
		IncidentID: store.IncidentID{Kind: store.KindLostNotify, Start: f.At, First: f.By}, End: f.End, Open: f.Open,
		Name: strings.TrimSpace("lost notify " + t.Object), Text: t.Text, Object: t.Object, Count: uint64(len(f.Waits) + f.More), Threads: len(f.Waits) + f.More,
		Cast: []jvmthread.ThreadID{f.By}, More: f.More,
		Holds: []store.IncidentPart{{
			Start: f.At, End: f.At, Thread: f.By, Name: t.By, Object: t.Object, Text: t.Called,
			Function: k.waits.Site(f.Stack).Function, Frames: k.frames(f.Stack),
		}},
	}
	var waiters []jvmthread.ThreadID
	for i := range f.Waits {
		w := &f.Waits[i]
		waiters = append(waiters, w.Thread)
		inc.Blocked += w.End.Sub(w.Start)
		inc.Longest = max(inc.Longest, w.End.Sub(w.Start))
		if w.TimedOut {
			inc.TimedOut++
		}
		if w.Thread != f.By {
			inc.Cast = append(inc.Cast, w.Thread)
		}
		inc.Waits = append(inc.Waits, store.IncidentPart{
			Start: w.Start, End: w.End, Thread: w.Thread, Name: t.Threads[i], Object: t.Object, Text: t.Waits[i],
			Function: k.waits.Site(w.Stack).Function, Frames: k.frames(w.Stack),
		})
	}
	inc.Waiters = k.waiters(waiters)
	k.session.AddIncident(inc)
}
