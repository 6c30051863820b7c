// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package ordering_test

import (
	"testing"

	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/jvmthread"
)

const ms jvmthread.Time = 1_000_000

// call makes the event of a thread that has been in a system call for a while.
func call(thread jvmthread.ThreadID, at, since jvmthread.Time) jvmthread.Event {
	return jvmthread.Event{Thread: thread, Time: at, Kind: jvmthread.KindPark, Flags: jvmthread.FlagSnapshot | jvmthread.FlagSystemCall, Arg: int64(since)}
}

func other(thread jvmthread.ThreadID, at jvmthread.Time) jvmthread.Event {
	return jvmthread.Event{Thread: thread, Time: at, Kind: jvmthread.KindYield}
}

// A system call is placed where it began, also if that is before the watermark of the batch before.
func TestSystemCallsAreBackdated(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Add(ordering.Batch{Number: 1, Watermark: 1000 * ms, Events: []jvmthread.Event{call(1, 900*ms, 10*ms), other(2, 950*ms), other(2, 985*ms)}})
	want(t, q.Ready())
	if got := q.Watermark(); got != 800*ms {
		t.Errorf("all before %d is returned, want 800 ms", got)
	}
	q.Add(ordering.Batch{Number: 2, Watermark: 1250 * ms, Before: 3, Events: []jvmthread.Event{call(3, 1010*ms, 30*ms)}})
	want(t, q.Ready(), "1@890000000", "2@950000000", "3@980000000", "2@985000000")
	q.Add(ordering.Batch{Number: 3, Watermark: 1300 * ms, Before: 4, End: "exit", Events: []jvmthread.Event{other(2, 1299*ms)}})
	want(t, q.Ready(), "2@1299000000")
	if got := q.Watermark(); got != 1300*ms {
		t.Errorf("the session ends at %d, want 1300 ms", got)
	}
}

func TestSystemCallsBeginAfterWhatIsKnown(t *testing.T) {
	for name, test := range map[string]struct {
		before []jvmthread.Event
		since  jvmthread.Time
		want   string
	}{
		"as reported":                      {nil, 50 * ms, "1@450000000"},
		"another event of the thread":      {[]jvmthread.Event{other(1, 470*ms)}, 50 * ms, "1@470000000"},
		"an event of another thread":       {[]jvmthread.Event{other(2, 470*ms)}, 50 * ms, "1@450000000"},
		"missing events":                   {[]jvmthread.Event{{Kind: jvmthread.KindGap, Time: 460 * ms}}, 50 * ms, "1@460000000"},
		"longer than any agent looks back": {nil, 490 * ms, "1@300000000"},
		"no sense":                         {nil, -ms, "1@500000000"},
	} {
		q := ordering.New(ordering.DefaultLimits())
		q.Add(ordering.Batch{Number: 1, Watermark: 600 * ms, Events: append(test.before, call(1, 500*ms, test.since))})
		got := show(q.Rest())
		if last := got[len(got)-1]; last != test.want && got[0] != test.want {
			t.Errorf("%s: %v, want %s", name, got, test.want)
		}
	}
}
