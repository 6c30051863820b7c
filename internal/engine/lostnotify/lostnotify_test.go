// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package lostnotify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/lostnotify"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// Times are milliseconds.
const ms = 1_000_000

func TestFound(t *testing.T) {
	const gone = "5 P notify lock=Q stack=3\n10 C wait lock=Q stack=4\n"
	tests := []struct{ name, events, want string }{
		{"the wait timed out", gone + "510 C waited lock=Q timedOut", "P notify 5: C 10..510 timed out"},
		{"notifyAll", "5 P notifyAll lock=Q\n10 C wait lock=Q\n510 C waited lock=Q timedOut", "P notifyAll 5: C 10..510 timed out"},
		{"the wait did not end", gone, "P notify 5: C 10..1000 open"},
		{"for over a minute", gone + "90000 P yield", "P notify 5: C 10..90000 open"},
		{"others waited, too", gone + "20 D wait lock=Q\n510 C waited lock=Q timedOut", "P notify 5: C 10..510 timed out, D 20..510"},
		{"it is reported once", gone + "510 C waited lock=Q timedOut\n520 C wait lock=Q\n999 C waited lock=Q timedOut", "P notify 5: C 10..510 timed out"},
		{"the last of several", "1 P notify lock=Q\n" + gone + "510 C waited lock=Q timedOut", "P notify 5: C 10..510 timed out"},
		{"a thread that waited was woken before", "1 C wait lock=Q\n2 P notify lock=Q\n3 C waited lock=Q\n4 C waitReturned lock=Q\n" + gone, "P notify 5: C 10..1000 open"},
		{"a second notify for one waiter", "1 C wait lock=Q\n2 P notify lock=Q\n5 P notify lock=Q\n6 C waited lock=Q\n10 C wait lock=Q\n510 C waited lock=Q timedOut", "P notify 5: C 10..510 timed out"},

		{"no thread waits afterwards", "5 P notify lock=Q", ""},
		{"no notify", "10 C wait lock=Q\n510 C waited lock=Q timedOut", ""},
		{"on another object", "5 P notify lock=R\n10 C wait lock=Q\n510 C waited lock=Q timedOut", ""},
		{"a later notify wakes it", gone + "500 P notify lock=Q\n501 C waited lock=Q", ""},
		{"a later notify wakes it, then it waits again", gone + "500 P notify lock=Q\n501 C waited lock=Q\n510 C wait lock=Q\n999 C waited lock=Q timedOut", ""},
		{"a later notifyAll wakes all", gone + "20 D wait lock=Q\n500 P notifyAll lock=Q\n501 C waited lock=Q\n502 D waited lock=Q", ""},
		{"a later notify wakes another one", gone + "20 D wait lock=Q\n500 P notify lock=Q\n501 C waited lock=Q\n510 D waited lock=Q timedOut", ""},
		{"the notify woke a thread", "1 C wait lock=Q\n5 P notify lock=Q\n6 C waited lock=Q\n10 D wait lock=Q\n510 D waited lock=Q timedOut", ""},
		{"it was interrupted", gone + "510 P interruptCalled target=C\n511 C waited lock=Q\n512 C waitReturned lock=Q interrupted", ""},
		{"a short wait", gone + "19 C waited lock=Q timedOut\n20 C waitReturned lock=Q", ""},
		{"a wait that was not seen to begin", "5 P notify lock=Q\n6 D waited lock=Q\n10 C wait lock=Q\n510 C waited lock=Q timedOut", ""},
		{"a wait found by a snapshot", "5 P notify lock=Q\n6 D wait lock=Q snapshot\n10 C wait lock=Q\n510 C waited lock=Q timedOut", ""},
		{"events were lost", "5 P notify lock=Q\n6 D gap arg=3\n10 C wait lock=Q\n510 C waited lock=Q timedOut", ""},
		{"the thread itself waits", "5 C notify lock=Q\n10 C wait lock=Q\n510 C waited lock=Q timedOut", ""},
		{"it waits for a task", "5 P notify lock=Q\n10 C wait lock=Q stack=7\n510 C waited lock=Q timedOut", ""},
		{"a join", "5 P notify lock=Q\n10 C joinStart lock=Q target=P\n510 C waited lock=Q timedOut", ""},
		{"its notify came at the timeout", gone + "510 P notify lock=Q\n510 C waited lock=Q timedOut", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, err := threadtest.Parse("0 P threadStart\n0 C threadStart\n0 D threadStart\n" + test.events)
			require.NoError(t, err)
			f := lostnotify.New(func(ev *jvmthread.Event) bool { return ev.Stack != 7 })
			now := jvmthread.Time(1000 * ms)
			for i := range h.Events {
				h.Events[i].Time *= ms
				now = max(now, h.Events[i].Time)
			}
			for i := range h.Events {
				f.Apply(&h.Events[i])
			}
			var got []string
			for _, found := range append(f.Take(now, false), f.Take(now, true)...) {
				got = append(got, text(h, &found))
			}
			assert.Equal(t, test.want, strings.Join(got, "\n"))
			assert.Empty(t, f.Take(now, true), "it is reported twice")
		})
	}
}

func text(h *threadtest.History, f *lostnotify.Found) string {
	name := func(id jvmthread.ThreadID) string {
		return map[jvmthread.ThreadID]string{h.Thread("P"): "P", h.Thread("C"): "C", h.Thread("D"): "D"}[id]
	}
	what := "notify"
	if f.All {
		what = "notifyAll"
	}
	var waits []string
	for _, w := range f.Waits {
		s := fmt.Sprintf("%s %d..%d", name(w.Thread), w.Start/ms, w.End/ms)
		if w.TimedOut {
			s += " timed out"
		}
		waits = append(waits, s)
	}
	s := fmt.Sprintf("%s %s %d: %s", name(f.By), what, f.At/ms, strings.Join(waits, ", "))
	if f.Open {
		s += " open"
	}
	return s
}

// A wait of less than a minute is not reported before the JVM ends.
func TestOpenWaits(t *testing.T) {
	h, err := threadtest.Parse("5 P notify lock=Q\n10 C wait lock=Q")
	require.NoError(t, err)
	f := lostnotify.New(func(*jvmthread.Event) bool { return true })
	for i := range h.Events {
		f.Apply(&h.Events[i])
	}
	assert.Empty(t, f.Take(60_000*ms, false))
	assert.Len(t, f.Take(60_001*ms, false), 1)
	assert.Empty(t, f.Take(99_000*ms, true))
}

// However many objects are notified, and threads wait, the memory is bounded, and the newest notify is remembered.
func TestBounded(t *testing.T) {
	f := lostnotify.New(func(*jvmthread.Event) bool { return true })
	at := jvmthread.Time(0)
	event := func(ev jvmthread.Event) {
		at += ms
		ev.Time = at
		f.Apply(&ev)
	}
	for i := range 50_000 {
		lock := jvmthread.LockID{Class: 1, Hash: uint32(i + 1)}
		event(jvmthread.Event{Kind: jvmthread.KindNotify, Thread: 1, Lock: lock})
		if i%2 == 0 { // it is heard
			event(jvmthread.Event{Kind: jvmthread.KindWait, Thread: 2, Lock: lock})
			event(jvmthread.Event{Kind: jvmthread.KindNotify, Thread: 1, Lock: lock})
			event(jvmthread.Event{Kind: jvmthread.KindWaited, Thread: 2, Lock: lock})
		}
	}
	assert.Less(t, f.Held(), 2<<20)
	last := jvmthread.LockID{Class: 1, Hash: 50_000}
	event(jvmthread.Event{Kind: jvmthread.KindWait, Thread: 2, Lock: jvmthread.LockID{Class: 1, Hash: 2}}) // forgotten
	event(jvmthread.Event{Kind: jvmthread.KindWait, Thread: 3, Lock: last})
	found := f.Take(at+100_000*ms, false)
	require.Len(t, found, 1)
	assert.Equal(t, last, found[0].Lock)

	for i := range 100_000 {
		event(jvmthread.Event{Kind: jvmthread.KindWait, Thread: jvmthread.ThreadID(10 + i), Lock: last})
	}
	assert.Less(t, f.Held(), 1<<20, "with too many waiters, it stops")
}
