// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// play applies a history to a timeline and a binder and returns the interactions, one per line.
func play(t *testing.T, text string, flags jvmthread.Flags) (*threadtest.History, *interaction.Binder, string) {
	t.Helper()
	h, err := threadtest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	tl := timeline.New(timeline.DefaultMaxThreads, nil)
	binder := interaction.New(tl, interaction.DefaultMaxLocks)
	var out []jvmthread.Interaction
	for i := range h.Events {
		ev := &h.Events[i]
		ev.Flags |= flags
		list, th, ok := tl.Apply(ev)
		if !ok {
			continue
		}
		closed := new(jvmthread.Interval)
		if len(list) == 1 && list[0].Thread == ev.Thread {
			closed = &list[0]
		}
		out = append(out, binder.Apply(ev, th, closed)...)
	}
	lines := make([]string, len(out))
	for i, ia := range out {
		lines[i] = h.Interaction(ia)
	}
	return h, binder, strings.Join(lines, "\n")
}

// The rows T108 to T117 are those of docs/requirements.md.
func TestBinding(t *testing.T) {
	const start = "0 A threadStart\n0 B threadStart\n0 C threadStart\n"
	tests := []struct {
		name, events, want string
		unbound            interaction.Counters
	}{
		{
			name: "T108, T109: a contendedEntered takes the lock from the owner that contendedEnter named",
			events: `10 A contendedEnter lock=M owner=B
				20 A contendedEntered lock=M`,
			want: "handoff B/1 -> A/2 at 20..20 lock=M exact",
		},
		{
			name: "T109: the thread that entered is the next owner",
			events: `10 A contendedEnter lock=M owner=B
				12 C contendedEnter lock=M owner=B
				20 A contendedEntered lock=M
				30 C contendedEntered lock=M`,
			want: "handoff B/1 -> A/2 at 20..20 lock=M exact\nhandoff A/3 -> C/2 at 30..30 lock=M exact",
		},
		{
			name: "T110: each contendedEntered has at most one handoff; without a known owner none",
			events: `10 A contendedEnter lock=M
				20 A contendedEntered lock=M`,
			unbound: interaction.Counters{HandoffsUnbound: 1},
		},
		{
			name: "T110: without a named owner, the last thread that entered is likely, but not certain",
			events: `10 A contendedEnter lock=M owner=B
				12 C contendedEnter lock=M
				20 A contendedEntered lock=M
				30 C contendedEntered lock=M`,
			want: "handoff B/1 -> A/2 at 20..20 lock=M exact\nhandoff A/3 -> C/2 at 30..30 lock=M inferred",
		},
		{
			name: "a source that names the previous owner",
			events: `10 A contendedEnter lock=M owner=C
				20 A contendedEntered lock=M owner=B`,
			want: "handoff B/1 -> A/2 at 20..20 lock=M exact",
		},
		{
			name: "the owner releases the lock by waiting",
			events: `10 A contendedEnter lock=M owner=B
				15 B wait lock=M
				20 A contendedEntered lock=M`,
			want: "handoff B/1 -> A/2 at 15..20 lock=M exact",
		},
		{
			name: "T111: an interrupt ends a sleep",
			events: `10 A sleepStart
				20 B interruptCalled target=A
				25 A sleepEnd interrupted`,
			want: "interrupt B/1 -> A/2 at 20..25 exact",
		},
		{
			name: "T111: an interrupt ends a wait",
			events: `10 A wait lock=Q
				20 B interruptCalled target=A
				25 A waited lock=Q`,
			want: "interrupt B/1 -> A/2 at 20..25 lock=Q exact",
		},
		{
			name: "T111: an interrupt that the running thread noticed ends nothing later",
			events: `20 B interruptCalled target=A
				25 A interrupted
				30 A wait lock=Q
				40 A waited lock=Q`,
			unbound: interaction.Counters{WakeUpsUnbound: 1},
		},
		{
			name: "T112, T115: one notifyAll wakes several threads",
			events: `10 A wait lock=Q
				12 C wait lock=Q
				20 B notifyAll lock=Q
				21 A waited lock=Q
				22 C waited lock=Q`,
			want: "notify_all B/1 -> A/2 at 20..21 lock=Q exact\nnotify_all B/1 -> C/2 at 20..22 lock=Q exact",
		},
		{
			name: "T113: a notify wakes the only waiter",
			events: `10 A wait lock=Q
				20 B notify lock=Q
				21 A waited lock=Q`,
			want: "notify B/1 -> A/2 at 20..21 lock=Q exact",
		},
		{
			name: "T114: of several waiters the first one is woken",
			events: `10 A wait lock=Q
				12 C wait lock=Q
				20 B notify lock=Q
				21 A waited lock=Q`,
			want: "notify B/1 -> A/2 at 20..21 lock=Q fifo",
		},
		{
			name: "T114: a notify on another object wakes no one",
			events: `10 A wait lock=Q
				20 B notify lock=R
				21 A waited lock=Q`,
			unbound: interaction.Counters{NotifiesUnbound: 1, WakeUpsUnbound: 1},
		},
		{
			name: "a notify that missed a waiter that timed out goes to the next",
			events: `10 A wait lock=Q
				12 C wait lock=Q
				20 B notify lock=Q
				21 A waited lock=Q timedOut
				22 C waited lock=Q`,
			want: "notify B/1 -> C/2 at 20..22 lock=Q ambiguous",
		},
		{
			name: "a source that names the notifier",
			events: `10 A wait lock=Q
				21 A waited lock=Q owner=B`,
			want: "notify B/1 -> A/2 at 21..21 lock=Q exact",
		},
		{
			name: "T116 is for recordings with single-ended waits only",
			events: `10 A wait lock=Q
				20 A waited lock=Q
				25 B notify lock=Q`,
			unbound: interaction.Counters{NotifiesUnbound: 1, WakeUpsUnbound: 1},
		},
		{
			name: "T117: the end of a thread ends a join",
			events: `10 A joinStart target=B lock=T
				20 B threadEnd
				25 A waited lock=T`,
			want: "join B/1 -> A/2 at 20..25 lock=T exact",
		},
		{
			name: "T117: a join that timed out was ended by no thread",
			events: `10 A joinStart target=B lock=T
				20 A waited lock=T timedOut
				25 B threadEnd`,
		},
		{
			name: "a thread is started",
			events: `10 A startCalled target=D
				12 D threadStart`,
			want: "start A/1 -> D/1 at 10..12 exact",
		},
		{
			name: "an unpark ends a park",
			events: `10 A park
				20 B unpark target=A
				21 A unparked`,
			want: "unpark B/1 -> A/2 at 20..21 exact",
		},
		{
			name: "a permit that came before the park ended nothing",
			events: `5 B unpark target=A
				10 A park
				11 A unparked`,
		},
		{
			name: "events without a lock are not beyond the limit of locks",
			events: `10 A contendedEnter
				20 A contendedEntered
				30 A wait
				40 A waited
				50 B notify`,
		},
		{
			name: "a gap of all threads makes the owners unknown",
			events: `10 A contendedEnter lock=M owner=B
				15 - gap
				20 A contendedEntered lock=M`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, binder, got := play(t, start+test.events, 0)
			if got != test.want {
				t.Errorf("want - got +:\n%s", cmp.Diff(test.want, got))
			}
			if diff := cmp.Diff(test.unbound, binder.Counters()); diff != "" {
				t.Errorf("counters: want - got +:\n%s", diff)
			}
		})
	}
}

// A park does not report why it ended. It timed out if nothing else ended it and it lasted as long as its timeout.
func TestTimedOutPark(t *testing.T) {
	tests := []struct {
		name, events string
		want         jvmthread.Marks
	}{
		{"it lasted as long as its timeout", "10 A park arg=5000\n5010 A unparked", jvmthread.MarkTimedOut},
		{"by a clock that is a little slower", "10 A park arg=5000\n5005 A unparked", jvmthread.MarkTimedOut},
		{"a return for no reason, or by a permit", "10 A park arg=5000\n4000 A unparked", 0},
		{"an unpark ended it", "10 A park arg=5000\n5000 B unpark target=A\n5010 A unparked", 0},
		{"an interrupt ended it", "10 A park arg=5000\n5000 B interruptCalled target=A\n5010 A unparked", 0},
		{"an interrupt that it had noticed before", "5 B interruptCalled target=A\n10 A park arg=5000\n5010 A unparked", jvmthread.MarkTimedOut},
		{"no timeout", "10 A park\n5010 A unparked", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, err := threadtest.Parse("0 A threadStart\n0 B threadStart\n" + test.events)
			if err != nil {
				t.Fatal(err)
			}
			tl := timeline.New(timeline.DefaultMaxThreads, nil)
			binder := interaction.New(tl, interaction.DefaultMaxLocks)
			var last jvmthread.Interval
			for i := range h.Events {
				list, th, _ := tl.Apply(&h.Events[i])
				closed := &last
				if len(list) == 1 {
					closed = &list[0]
				}
				binder.Apply(&h.Events[i], th, closed)
				last = *closed
			}
			if last.State != jvmthread.StateParked || last.Marks != test.want {
				t.Errorf("%v", h.Interval(last))
			}
		})
	}
}

func TestLateNotify(t *testing.T) {
	const waits = `0 A threadStart
		0 B threadStart
		0 C threadStart
		10 A wait lock=Q
		12 B wait lock=Q
		20 A waited lock=Q
		22 B waited lock=Q
		`
	tests := []struct{ name, events, want string }{
		{"T116: a notify is bound to the first wait", "30 C notify lock=Q", "notify C/1 -> A/2 at 20..20 lock=Q ambiguous"},
		{
			"T116: a notifyAll is bound to all waits", "30 C notifyAll lock=Q",
			"notify_all C/1 -> A/2 at 20..20 lock=Q ambiguous\nnotify_all C/1 -> B/2 at 22..22 lock=Q ambiguous",
		},
		{"T116: on the same object only", "30 C notify lock=R", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, _, got := play(t, waits+test.events, jvmthread.FlagLateNotify); got != test.want {
				t.Errorf("want - got +:\n%s", cmp.Diff(test.want, got))
			}
		})
	}
}

func TestOwners(t *testing.T) {
	tests := []struct {
		name, events, owner string
		blocked             int
	}{
		{"named by a blocked thread", "10 A contendedEnter lock=M owner=B", "B", 1},
		{"entered", "10 A contendedEnter lock=M owner=B\n20 A contendedEntered lock=M", "A", 0},
		{"notified", "10 A notify lock=M", "A", 0},
		{"released by a wait", "5 A notify lock=M\n10 A wait lock=M", "-", 0},
		{"back from a wait", "10 A wait lock=M\n20 A waited lock=M timedOut\n21 A waitReturned lock=M", "A", 0},
		{"two blocked", "10 A contendedEnter lock=M owner=B\n11 C contendedEnter lock=M owner=B", "B", 2},
		{
			"the named owner has not entered yet",
			"10 A contendedEnter lock=M owner=B\n20 C contendedEnter lock=M owner=A", "B", 2,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, binder, _ := play(t, test.events, 0)
			owner, blocked := binder.Owner(h.Lock("M"))
			if owner != h.Thread(test.owner) || blocked != test.blocked {
				t.Errorf("owner %d with %d blocked, want %d (%s) with %d", owner, blocked, h.Thread(test.owner), test.owner, test.blocked)
			}
		})
	}
}

// TestOwnerThatEnded checks that a thread holds no lock beyond its end, although others are still blocked.
func TestOwnerThatEnded(t *testing.T) {
	const events = `0 A threadStart
		0 B threadStart
		10 A contendedEnter lock=M owner=B
		15 B threadEnd`
	h, binder, _ := play(t, events, 0)
	holds, _ := binder.Cut(20, nil, nil)
	want := []jvmthread.Hold{{
		Start: 10, End: 15, Lock: h.Events[2].Lock, Thread: h.Events[2].Peer,
		Marks: jvmthread.HoldSinceBefore | jvmthread.HoldInferred,
	}}
	if diff := cmp.Diff(want, holds); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if holds, _ := binder.Cut(30, nil, nil); len(holds) > 0 {
		t.Errorf("%+v again", holds)
	}
	for held := range binder.Held {
		t.Errorf("%+v is held by a thread that has ended", held)
	}
	_, _, got := play(t, events+"\n20 A contendedEntered lock=M", 0)
	if want := "handoff B/1 -> A/2 at 15..20 lock=M exact"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
