// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// play applies a history to a new timeline and returns the intervals that it closed, one per line.
func play(t *testing.T, text string) (*threadtest.History, *timeline.Timeline, string) {
	t.Helper()
	h, err := threadtest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	tl := timeline.New(timeline.DefaultMaxThreads, nil)
	var out []jvmthread.Interval
	for i := range h.Events {
		closed, _, _ := tl.Apply(&h.Events[i])
		out = append(out, closed...)
	}
	var b strings.Builder
	for _, iv := range out {
		b.WriteString(h.Interval(iv) + "\n")
	}
	return h, tl, b.String()
}

// enter maps each state to a history that brings thread A into it at time 10.
var enter = []struct {
	state  jvmthread.State
	events string
}{
	{jvmthread.StateUnknown, "10 A gap"},
	{jvmthread.StateRunnable, "10 A threadStart"},
	{jvmthread.StateBlocked, "10 A contendedEnter lock=M owner=B"},
	{jvmthread.StateWaiting, "10 A wait lock=Q"},
	{jvmthread.StateReentering, "5 A wait lock=Q\n10 A waited lock=Q"},
	{jvmthread.StateJoining, "10 A joinStart lock=Q target=B"},
	{jvmthread.StateSleeping, "10 A sleepStart"},
	{jvmthread.StateParked, "10 A park"},
	{jvmthread.StateDeadlocked, "10 A contendedEnter lock=M owner=B"}, // and Deadlock
	{jvmthread.StateSuspended, "1 A threadStart\n10 B suspend target=A"},
	{jvmthread.StateQueued, "0 B threadStart\n1 A park virtual\n10 B unpark target=A virtualPeer"},
	{jvmthread.StateDead, "1 A threadStart\n10 A threadEnd"},
}

// Each cell is the state after the event of the row in the state of the column. An exclamation mark means that the event did not fit the
// state, so the interval that it ended is unknown. A dot means that the event was ignored.
const transitions = `
                  unkno  runna  block  waiti  reent  joini  sleep  parke  deadl  suspe  queue  dead
threadStart       runna  runna! runna! runna! runna! runna! runna! runna! runna! runna! runna  .
threadEnd         dead   dead   dead!  dead!  dead!  dead!  dead!  dead!  dead   dead!  dead   .
startCalled       runna  runna  runna! runna! runna! runna! runna! runna! runna! runna! runna  .
interruptCalled   runna  runna  runna! runna! runna! runna! runna! runna! runna! runna! runna  .
interrupted       unkno  runna  block  waiti  reent  joini  sleep  parke  deadl  suspe  queue  .
contendedEnter    block  block  block! block! block  block! block! block! block! block! block  .
contendedEntered  runna  runna! runna  reent! reent! reent! runna! runna! runna  runna! runna! .
wait              waiti  waiti  waiti! waiti! waiti! waiti! waiti! waiti! waiti! waiti! waiti  .
waited            reent  reent! reent! reent  reent! reent  reent! reent! reent! reent! reent! .
waitReturned      runna  runna! runna! runna  runna  runna! runna! runna! runna! runna! runna! .
notify            runna  runna  runna! runna! runna! runna! runna! runna! runna! runna! runna  .
notifyAll         runna  runna  runna! runna! runna! runna! runna! runna! runna! runna! runna  .
joinStart         joini  joini  joini! joini! joini! joini! joini! joini! joini! joini! joini  .
joinEnd           runna  runna! runna! runna! runna  runna  runna! runna! runna! runna! runna! .
sleepStart        sleep  sleep  sleep! sleep! sleep! sleep! sleep! sleep! sleep! sleep! sleep  .
sleepEnd          runna  runna! runna! runna! runna! runna! runna  runna! runna! runna! runna! .
park              parke  parke  parke! parke! parke! parke! parke! parke! parke! parke! parke  .
unparked          runna  runna! runna! runna! runna! runna! runna! runna  runna  runna! runna  .
unpark            runna  runna  runna! runna! runna! runna! runna! runna! runna! runna! runna  .
yield             runna  runna  runna! runna! runna! runna! runna! runna! runna! runna! runna  .
suspend           runna  runna  runna! runna! runna! runna! runna! runna! runna! runna! runna  .
resume            runna  runna  runna! runna! runna! runna! runna! runna! runna! runna! runna  .
stop              runna  runna  runna! runna! runna! runna! runna! runna! runna! runna! runna  .
mount             unkno  runna  block  waiti  reent  joini  sleep  parke  deadl  suspe  runna  .
unmount           unkno  runna  block  waiti  reent  joini  sleep  parke  deadl  suspe  queue  .
gap               unkno  unkno  unkno  unkno  unkno  unkno  unkno  unkno  unkno  unkno  unkno  .
context           unkno  runna  block  waiti  reent  joini  sleep  parke  deadl  suspe  queue  .
ownerStack        unkno  runna  block  waiti  reent  joini  sleep  parke  deadl  suspe  queue  .
cpu               unkno  runna  block  waiti  reent  joini  sleep  parke  deadl  suspe  queue  .
ownerContext      unkno  runna  block  waiti  reent  joini  sleep  parke  deadl  suspe  queue  .
requestEnd        unkno  runna  block  waiti  reent  joini  sleep  parke  deadl  suspe  queue  .
running           unkno  runna  block  waiti  reent  joini  sleep  parke  deadl  suspe  queue  .
runQueue          unkno  runna  block  waiti  reent  joini  sleep  parke  deadl  suspe  queue  .
`

func TestTransitions(t *testing.T) {
	abbreviate := func(s jvmthread.State) string { return s.String()[:min(5, len(s.String()))] }
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-17s", "")
	for _, from := range enter {
		fmt.Fprintf(&b, " %-6s", abbreviate(from.state))
	}
	header := strings.TrimRight(b.String(), " ") + "\n"
	b.Reset()
	b.WriteString(header)
	for kind := jvmthread.KindNone + 1; int(kind) < jvmthread.NumKinds; kind++ {
		if !kind.Valid() {
			continue
		}
		var row strings.Builder
		fmt.Fprintf(&row, "%-17s", kind)
		for _, from := range enter {
			fmt.Fprintf(&row, " %-6s", after(t, from.state, from.events, kind, abbreviate))
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	if diff := cmp.Diff(transitions, b.String()); diff != "" {
		t.Errorf("want - got +:\n%s", diff)
	}
}

func after(t *testing.T, from jvmthread.State, events string, kind jvmthread.Kind, abbreviate func(jvmthread.State) string) string {
	t.Helper()
	h, tl, _ := play(t, events)
	a := h.Thread("A")
	if from == jvmthread.StateDeadlocked {
		tl.Deadlock(a, 1, 10)
	}
	if got := tl.Thread(a).Open().State; got != from {
		t.Fatalf("%q leads to %s, want %s", events, got, from)
	}
	odd := tl.Counters().Inconsistent
	out, _, taken := tl.Apply(&jvmthread.Event{Time: 20, Thread: a, Kind: kind, Lock: h.Lock("Q")})
	switch {
	case !taken:
		return "."
	case tl.Counters().Inconsistent == odd:
		return abbreviate(tl.Thread(a).Open().State)
	case len(out) > 0 && (out[0].State != jvmthread.StateUnknown || from != jvmthread.StateDeadlocked && out[0].Was != from):
		t.Errorf("%s while %s: the interval is %s and was %s, want unknown and %s", kind, from, out[0].State, out[0].Was, from)
	}
	return abbreviate(tl.Thread(a).Open().State) + "!"
}

func TestIntervals(t *testing.T) {
	tests := []struct{ name, events, want string }{
		{
			"a wait has three parts",
			"0 A threadStart\n10 A wait lock=Q arg=5\n20 A waited lock=Q timedOut\n30 A waitReturned lock=Q",
			"A/1 runnable 0..10\nA/2 waiting 10..20 lock=Q timeout=5 timedOut\nA/3 reentering 20..30 lock=Q\n",
		},
		{
			"blocked inside a wait, the thread goes back to reentering",
			"0 A threadStart\n10 A wait lock=Q\n20 A waited lock=Q\n22 A contendedEnter lock=Q owner=B\n25 A contendedEntered lock=Q\n30 A waitReturned lock=Q",
			"A/1 runnable 0..10\nA/2 waiting 10..20 lock=Q\nA/3 reentering 20..22 lock=Q\nA/4 blocked 22..25 lock=Q peer=B\nA/5 reentering 25..30 lock=Q\n",
		},
		{
			"an interrupt ends a sleep",
			"0 A threadStart\n10 A sleepStart arg=50\n20 A sleepEnd interrupted",
			"A/1 runnable 0..10\nA/2 sleeping 10..20 timeout=50 interrupted\n",
		},
		{
			"before the first event of a thread its state is unknown",
			"0 A threadStart\n10 B sleepStart\n20 A threadEnd",
			"B/1 unknown 0..10 partial\nA/1 runnable 0..20\n",
		},
		{
			"an owner is followed from the first contention on",
			"0 A threadStart\n10 A contendedEnter lock=M owner=B\n20 B yield",
			"A/1 runnable 0..10\nB/1 unknown 0..20 partial\n",
		},
		{
			"a gap of one thread makes only that thread unknown",
			"0 A threadStart\n0 B threadStart\n10 A gap\n20 A yield\n20 B threadEnd",
			"A/1 runnable 0..10\nA/2 unknown 10..20 partial\nB/1 runnable 0..20\n",
		},
		{
			"a resumed thread continues what it did",
			"0 A threadStart\n0 B threadStart\n10 A park\n20 B suspend target=A\n30 B resume target=A\n40 A unparked",
			"A/1 runnable 0..10\nA/2 parked 10..20\nA/3 suspended 20..30\nA/4 parked 30..40\n",
		},
		{
			"a snapshot of a known state changes nothing",
			"0 A threadStart\n10 A park\n15 A park snapshot\n20 A unparked",
			"A/1 runnable 0..10\nA/2 parked 10..20\n",
		},
		{
			"a state that a snapshot found began at some time before",
			"0 A threadStart\n15 A park snapshot\n20 A unparked",
			"A/1 runnable 0..15\nA/2 parked 15..20 partial\n",
		},
		{
			"contendedEntered alone leaves the state",
			"0 A threadStart\n10 A contendedEntered lock=M\n20 A threadEnd",
			"A/1 runnable 0..20\n",
		},
		{
			"waited alone leaves the state of a virtual thread",
			"0 V threadStart virtual\n0 V mount target=C virtual\n10 V unmount target=C virtual\n15 V mount target=C virtual\n16 V waited lock=Q virtual\n20 V threadEnd virtual",
			"V/1 runnable 0..20\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, _, got := play(t, test.events); got != test.want {
				t.Errorf("want - got +:\n%s", cmp.Diff(test.want, got))
			}
		})
	}
}

// A wait is pinned if the agent says so, at its beginning or at its end. The events are those of a real agent, with or without mounts.
func TestPinned(t *testing.T) {
	tests := []struct{ name, events, want string }{
		{
			"a park that could not leave its carrier",
			"0 A park virtual lock=G\n0 A unmount target=C\n2 A mount target=C\n2 A unparked virtual\n" +
				"3 A park virtual pinned lock=G\n20 B unpark target=A virtualPeer\n30 A unparked virtual pinned\n40 A threadEnd",
			"A/1 unknown 0..0 partial\nA/2 parked 0..2 lock=G\nA/3 runnable 2..3\nB/1 unknown 0..20 partial\n" +
				"A/4 parked 3..30 lock=G pinned\nA/5 runnable 30..40\n",
		},
		{
			"the same without mounts",
			"0 A park virtual lock=G\n2 A unparked virtual\n3 A park virtual pinned lock=G\n30 A unparked virtual pinned",
			"A/1 unknown 0..0 partial\nA/2 parked 0..2 lock=G\nA/3 runnable 2..3\nA/4 parked 3..30 lock=G pinned\n",
		},
		{
			"a park that left its carrier",
			"0 A mount target=C\n10 A park virtual lock=G\n11 A unmount target=C\n30 A mount target=C\n30 A unparked virtual",
			"A/1 unknown 0..10 partial\nA/2 parked 10..30 lock=G\n",
		},
		{
			"a deadlock found between the park and the unmount",
			"0 A mount target=C\n0 A yield virtual\n10 A park virtual lock=G\n20 A gap",
			"A/1 unknown 0..0 partial\nA/2 runnable 0..10\nA/3 parked 10..20 lock=G\n",
		},
		{
			"a monitor that keeps the carrier",
			"0 A mount target=C\n0 A yield virtual\n10 A contendedEnter virtual lock=M owner=-\n30 A contendedEntered virtual pinned lock=M",
			"A/1 unknown 0..0 partial\nA/2 runnable 0..10\nA/3 blocked 10..30 lock=M pinned\n",
		},
		{
			"a monitor below a native frame: the JVM tries to unmount the thread",
			"0 A yield virtual\n10 A contendedEnter virtual lock=M owner=-\n11 A unmount target=C\n12 A mount target=C\n" +
				"30 A contendedEntered virtual pinned lock=M",
			"A/1 unknown 0..0 partial\nA/2 runnable 0..10\nA/3 blocked 10..30 lock=M pinned\n",
		},
		{
			"a monitor that lets the thread go, first back on the same carrier",
			"0 A yield virtual\n10 A contendedEnter virtual lock=M owner=-\n11 A unmount target=C\n30 A mount target=C\n" +
				"30 A contendedEntered virtual lock=M",
			"A/1 unknown 0..0 partial\nA/2 runnable 0..10\nA/3 blocked 10..30 lock=M\n",
		},
		{
			"a wait, and what comes after it",
			"0 A yield virtual\n10 A wait virtual lock=Q\n30 A waited virtual pinned lock=Q\n35 A notify virtual lock=Q\n40 A park virtual",
			"A/1 unknown 0..0 partial\nA/2 runnable 0..10\nA/3 waiting 10..30 lock=Q pinned\nA/4 runnable 30..40\n",
		},
		{
			"a wait of an interrupted thread ends at once",
			"0 A mount target=C\n0 A yield virtual\n10 A wait virtual lock=Q\n11 A waited virtual lock=Q\n40 A park virtual",
			"A/1 unknown 0..0 partial\nA/2 runnable 0..10\nA/3 waiting 10..11 lock=Q\nA/4 runnable 11..40\n",
		},
		{
			"a flag without a wait",
			"0 A yield virtual\n10 A contendedEntered virtual pinned lock=M\n20 A yield virtual\n30 A threadEnd",
			"A/1 unknown 0..0 partial\nA/2 runnable 0..30\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, _, got := play(t, test.events); got != test.want {
				t.Errorf("want - got +:\n%s", cmp.Diff(test.want, got))
			}
		})
	}
}

// What is open may be pinned so far, except for a thread that may have got its monitor back.
func TestPinnedSoFar(t *testing.T) {
	for events, want := range map[string]bool{
		"0 A mount target=C\n10 A contendedEnter virtual lock=M owner=-":                        true,
		"0 A mount target=C\n10 A contendedEnter virtual lock=M owner=-\n11 A unmount target=C": false,
		"0 A park virtual pinned": true,
		"0 A mount target=C\n1 A wait virtual lock=Q\n10 A waited virtual lock=Q": false,
		"0 A mount target=C\n1 A wait virtual lock=Q":                             true,
	} {
		h, tl, _ := play(t, events)
		piece := tl.Thread(h.Thread("A")).Piece(50)
		if got := piece.Marks.Has(jvmthread.MarkPinned); got != want {
			t.Errorf("%s: pinned %t", events, got)
		}
	}
}

func TestGapOfAllThreads(t *testing.T) {
	h, tl, _ := play(t, "0 A threadStart\n0 B threadStart\n0 C threadStart\n5 B sleepStart\n5 C threadEnd")
	out, th, ok := tl.Apply(&jvmthread.Event{Time: 10, Kind: jvmthread.KindGap, Arg: 3})
	if !ok || th != nil || len(out) != 2 {
		t.Fatalf("%d intervals end, want those of the two living threads", len(out))
	}
	for _, name := range []string{"A", "B"} {
		if open := tl.Thread(h.Thread(name)).Open(); open.State != jvmthread.StateUnknown || open.Start != 10 {
			t.Errorf("%s is %s since %d, want unknown since 10", name, open.State, open.Start)
		}
	}
}

func TestDeadlockSplitsTheInterval(t *testing.T) {
	h, tl, _ := play(t, "0 A threadStart\n10 A contendedEnter lock=M owner=B stack=7")
	out := tl.Deadlock(h.Thread("A"), 3, 15)
	open := *tl.Thread(h.Thread("A")).Open()
	want := jvmthread.Interval{
		Thread: h.Thread("A"), Seq: 3, Start: 15, Lock: h.Lock("M"), Peer: h.Thread("B"), Stack: 7, Cycle: 3,
		State: jvmthread.StateDeadlocked, Was: jvmthread.StateBlocked, Wait: jvmthread.WaitLock,
		Marks: jvmthread.MarkContinues, Timeout: 10 - 15,
	}
	if diff := cmp.Diff(want, open); diff != "" || len(out) != 1 || out[0].State != jvmthread.StateBlocked || out[0].End != 15 {
		t.Errorf("closed %v, open: want - got +:\n%s", out, diff)
	}
}

func TestLimitOfThreads(t *testing.T) {
	tl := timeline.New(2, nil)
	for id := range jvmthread.ThreadID(3) {
		tl.Apply(&jvmthread.Event{Time: 1, Thread: id + 1, Kind: jvmthread.KindThreadStart})
	}
	if c := tl.Counters(); tl.Len() != 2 || c.Refused != 1 {
		t.Errorf("%d threads, %+v", tl.Len(), c)
	}
	tl.Apply(&jvmthread.Event{Time: 2, Thread: 1, Kind: jvmthread.KindThreadEnd})
	tl.Apply(&jvmthread.Event{Time: 3, Thread: 1, Kind: jvmthread.KindYield})
	if c := tl.Counters(); c.AfterEnd != 1 {
		t.Errorf("%+v, want one event after the end", c)
	}
	tl.Forget(3, 0)
	tl.Apply(&jvmthread.Event{Time: 4, Thread: 3, Kind: jvmthread.KindThreadStart})
	if tl.Thread(1) != nil || tl.Thread(3) == nil {
		t.Error("the place of a thread that ended is not free again")
	}
	if a, b := tl.Thread(2).Slot(), tl.Thread(3).Slot(); a == b || a+b != 1 {
		t.Errorf("slots %d and %d, want 0 and 1", a, b)
	}
}
