// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package ordering_test

import (
	stdcmp "cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// batch makes a batch; events are pairs of thread and time.
func batch(number uint64, watermark jvmthread.Time, before uint64, events ...int) ordering.Batch {
	p := ordering.Batch{Number: number, Watermark: watermark, Before: before}
	for i := 0; i < len(events); i += 2 {
		p.Events = append(p.Events, jvmthread.Event{Thread: jvmthread.ThreadID(events[i]), Time: jvmthread.Time(events[i+1]), Kind: jvmthread.KindYield})
	}
	return p
}

func show(events []jvmthread.Event) (out []string) {
	for _, ev := range events {
		s := fmt.Sprintf("%d@%d", ev.Thread, ev.Time)
		if ev.Kind == jvmthread.KindGap {
			s = fmt.Sprintf("gap %d@%d", ev.Arg, ev.Time)
		}
		out = append(out, s)
	}
	return out
}

func want(t *testing.T, got []jvmthread.Event, list ...string) {
	t.Helper()
	if diff := cmp.Diff(list, show(got)); diff != "" {
		t.Errorf("want - got +:\n%s", diff)
	}
}

func TestEventsComeInTheOrderOfTimeUpToTheWatermark(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Add(batch(1, 25, 0, 1, 10, 1, 30, 2, 5, 2, 10, 2, 20))
	want(t, q.Ready(), "2@5", "1@10", "2@10", "2@20")
	q.Add(batch(2, 31, 5))
	want(t, q.Ready(), "1@30")
}

func TestNoDifferenceOfTimesOverflows(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Add(batch(1, math.MaxInt64, 0, 1, math.MinInt64, 2, math.MaxInt64))
	var got []jvmthread.Time
	for _, ev := range append(q.Ready(), q.Rest()...) {
		got = append(got, ev.Time)
	}
	if !slices.Equal(got, []jvmthread.Time{jvmthread.Earliest, jvmthread.Latest}) || q.Watermark() != jvmthread.Latest {
		t.Errorf("times %d, watermark %d", got, q.Watermark())
	}
	if q.Watermark().Sub(got[0]) <= 0 {
		t.Error("the difference overflows")
	}
	if late := q.Counters().Late; late != 2 {
		t.Errorf("%d events were late", late)
	}
}

// Events that are missing before the first batch are missing from its first event on, not from 1970 on.
func TestFirstBatchAfterMissingEvents(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Add(batch(1, 40, 3, 1, 30, 2, 35))
	want(t, q.Ready(), "gap 3@30", "1@30", "2@35")
}

func TestBatchesAreTakenByNumber(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Add(batch(2, 40, 1, 1, 30))
	if want(t, q.Ready()); !q.Stalled() {
		t.Error("batch 1 is missing")
	}
	q.Add(batch(1, 20, 0, 1, 10))
	want(t, q.Ready(), "1@10", "1@30")
}

func TestRepeatsCountOnce(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	for range 3 {
		q.Add(batch(1, 20, 0, 1, 10, 2, 11))
	}
	q.Add(batch(3, 40, 3, 1, 30))
	q.Add(batch(3, 40, 3, 1, 30))
	want(t, q.Ready(), "1@10", "2@11")
	if got := q.Counters().Duplicates; got != 3 {
		t.Errorf("%d duplicates, want 3", got)
	}
}

func TestLostBatchIsAGapOfItsExactSize(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Add(batch(1, 20, 0, 1, 10))
	q.Add(batch(3, 60, 8, 1, 50))
	want(t, q.Ready(), "1@10")
	q.Skip()
	want(t, q.Ready(), "gap 7@20", "1@50")
	if c := q.Counters(); c.Missed != 7 || c.Batches != 1 {
		t.Errorf("%+v, want 7 events missed in 1 batch", c)
	}
	q.Add(batch(2, 40, 1, 1, 30))
	want(t, q.Ready())
}

// What came before the first batch that arrives went elsewhere: it is not missed.
func TestJoinedInTheMiddle(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Add(batch(900, 60, 12_345, 1, 50))
	q.Skip()
	want(t, q.Ready(), "1@50")
	if c := q.Counters(); c.Missed != 0 || c.Batches != 0 || c.Unseen != 12_345 {
		t.Errorf("%+v, want 12345 unseen", c)
	}
	q.Add(batch(902, 80, 12_347, 1, 70))
	q.Skip()
	want(t, q.Ready(), "gap 1@60", "1@70")
}

// A sender that says with which batch it began needs no wait for earlier ones.
func TestJoinedAtTheFirstBatchOfTheSender(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	first := func(p ordering.Batch) ordering.Batch {
		p.First = 900
		return p
	}
	q.Add(first(batch(901, 80, 12_346, 1, 70)))
	if want(t, q.Ready()); !q.Stalled() {
		t.Error("batch 900 is missing")
	}
	q.Add(first(batch(900, 60, 12_345, 1, 50)))
	if want(t, q.Ready(), "1@50", "1@70"); q.Stalled() {
		t.Error("nothing is missing")
	}
	q.Add(first(batch(903, 90, 12_350, 1, 85)))
	if want(t, q.Ready()); !q.Stalled() {
		t.Error("batch 902 is missing")
	}
	q.Skip()
	want(t, q.Ready(), "gap 3@80", "1@85")
}

// A queue on disk may send what it was about to send when its collector crashed after what the next life got: a session that was known before
// waits for it, whatever the sender began with.
func TestRejoinedWithEarlierBatchesBehind(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Resume(2, 1, 20)
	q.Rejoin()
	late := batch(3, 40, 2, 1, 35)
	late.First = 3
	q.Add(late)
	if want(t, q.Ready()); !q.Stalled() {
		t.Error("batch 2 is missing")
	}
	q.Add(batch(2, 30, 1, 1, 25))
	want(t, q.Ready(), "1@25", "1@35")
}

// A session may leave again while a batch is missing.
func TestRejoinedWhileABatchIsMissing(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Resume(2, 1, 20)
	q.Rejoin()
	q.Add(batch(5, 50, 4, 1, 45))
	q.Rejoin()
	q.Add(batch(9, 90, 8, 1, 85))
	q.Skip()
	want(t, q.Ready(), "gap 0@20", "1@45")
	q.Skip()
	want(t, q.Ready(), "gap 0@50", "1@85")
	q.Add(batch(11, 110, 10, 1, 105))
	q.Skip()
	want(t, q.Ready(), "gap 1@90", "1@105")
	if c := q.Counters(); c.Missed != 1 || c.Unseen != 6 {
		t.Errorf("%+v, want 1 missed and 6 unseen", c)
	}
}

// What another collector got meanwhile is not missed, but the states of the threads are not known afterwards.
func TestRejoined(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Add(batch(1, 20, 0, 1, 10))
	q.Rejoin()
	q.Add(batch(2, 30, 1, 1, 25)) // it had been here all the time
	want(t, q.Ready(), "1@10", "1@25")
	q.Rejoin()
	q.Add(batch(9, 60, 50, 1, 55))
	q.Skip()
	want(t, q.Ready(), "gap 0@30", "1@55")
	if c := q.Counters(); c.Missed != 0 || c.Batches != 0 || c.Unseen != 48 {
		t.Errorf("%+v, want 48 unseen", c)
	}
}

func TestWaitsAreBounded(t *testing.T) {
	q := ordering.New(ordering.Limits{Batches: 3, Events: 4})
	for n := uint64(2); n <= 6; n++ {
		q.Add(batch(n, jvmthread.Time(n*10), n-2, 1, int(n*10)-5))
	}
	want(t, q.Ready(), "1@15", "1@25", "1@35", "1@45", "1@55")

	q.Add(batch(7, 0, 5, 1, 70, 1, 71, 1, 72, 1, 73, 1, 74)) // its watermark never comes
	want(t, q.Ready(), "1@70", "1@71", "1@72", "1@73", "1@74")
	if c := q.Counters(); c.Forced != 5 {
		t.Errorf("%+v, want 5 forced", c)
	}
}

func TestLateEventsAreMovedAndCounted(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Add(batch(1, 100, 0, 1, 90))
	want(t, q.Ready(), "1@90")
	q.Add(batch(2, 200, 1, 2, 50, 2, 150)) // against its own watermark
	want(t, q.Ready(), "2@100", "2@150")
	if c := q.Counters(); c.Late != 1 {
		t.Errorf("%+v, want 1 late", c)
	}
}

func TestRestGivesEverything(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Add(batch(1, 10, 0, 1, 30, 1, 40))
	q.Add(batch(3, 10, 4, 2, 35))
	want(t, q.Rest(), "gap 2@10", "1@30", "2@35", "1@40")
}

func TestEndReleasesWhatWaits(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	p := batch(1, 10, 0, 1, 30)
	p.End = "exit"
	q.Add(p)
	if want(t, q.Ready(), "1@30"); q.End() != "exit" {
		t.Errorf("ended by %q", q.End())
	}
}

// The order is by time, thread and arrival, for many threads and for few, within a microsecond and within hours.
func TestOrderOfLargeBatches(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, threads := range []int{1, 3, 40, 700, 5000} {
		for _, span := range []int64{1, 30, 1000, 1e6, 1e8, 1e13, 1e15} {
			p := ordering.Batch{Number: 1, Watermark: math.MaxInt64}
			for _, th := range random.Perm(threads) {
				start := len(p.Events)
				for range 1 + random.IntN(2+2000/threads) {
					ev := jvmthread.Event{Thread: jvmthread.ThreadID(th + 1), Time: jvmthread.Time(1e18 + random.Int64N(span)), Kind: jvmthread.KindYield}
					p.Events = append(p.Events, ev)
				}
				slices.SortFunc(p.Events[start:], func(a, b jvmthread.Event) int { return int(a.Time - b.Time) })
				for i := start; i < len(p.Events); i++ {
					p.Events[i].Arg = int64(i)
				}
			}
			q := ordering.New(ordering.DefaultLimits())
			q.Add(p)
			sorted := slices.Clone(p.Events)
			slices.SortStableFunc(sorted, func(a, b jvmthread.Event) int {
				return stdcmp.Or(stdcmp.Compare(a.Time, b.Time), stdcmp.Compare(a.Thread, b.Thread))
			})
			if got := q.Ready(); !slices.Equal(got, sorted) {
				t.Errorf("%d threads, %d ns: %d events are out of order", threads, span, len(got))
			}
		}
	}
}

// Whatever the numbers are, nothing is lost, nothing comes twice, and the order holds.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{1, 0, 1, 20, 10, 2, 0, 1, 40, 30})
	f.Add([]byte{3, 0, 1, 20, 10, 1, 0, 2, 40, 30, 1, 1, 2, 50, 45})
	f.Fuzz(func(t *testing.T, data []byte) {
		q := ordering.New(ordering.Limits{Batches: 4, Events: 16})
		added, got := 0, 0
		last := jvmthread.Time(math.MinInt64)
		check := func(events []jvmthread.Event) {
			if !slices.IsSortedFunc(events, func(a, b jvmthread.Event) int { return int(a.Time - b.Time) }) {
				t.Fatalf("out of order: %v", show(events))
			}
			for _, ev := range events {
				if ev.Time < last {
					t.Fatalf("%v came after %d", show([]jvmthread.Event{ev}), last)
				}
				last = ev.Time
				if ev.Kind != jvmthread.KindGap {
					got++
				}
			}
		}
		for ; len(data) >= 5; data = data[5:] {
			if q.Add(batch(uint64(data[0]), jvmthread.Time(data[3]), 0, int(data[1]), int(data[4]))) {
				added++
			}
			check(q.Ready())
		}
		check(q.Rest())
		if got != added {
			t.Fatalf("%d events went in, %d came out", added, got)
		}
	})
}

// States are unknown from when the session went elsewhere on: after the events that had arrived by then, also those beyond the watermark.
func TestGapOfASessionThatWasElsewhereFollowsWhatHadArrived(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Add(batch(1, 20, 0, 1, 10, 1, 22))
	want(t, q.Ready(), "1@10")
	q.Rejoin()
	q.Add(batch(9, 60, 50, 1, 55))
	q.Skip()
	want(t, q.Ready(), "1@22", "gap 0@23", "1@55")

	q = ordering.New(ordering.DefaultLimits())
	q.Resume(4, 7, 30)
	q.Add(batch(9, 60, 50, 1, 55))
	q.Skip()
	want(t, q.Ready(), "gap 0@30", "1@55")
}

// After a crash, batches come again that have events before the time at which the queue continues. They were processed, although a batch before
// them has a later event.
func TestResumedQueueSkipsWhatWasProcessed(t *testing.T) {
	q := ordering.New(ordering.DefaultLimits())
	q.Resume(3, 7, 100)
	q.Add(batch(3, 90, 7, 1, 92, 1, 105))
	want(t, q.Ready())
	q.Add(batch(4, 110, 9, 2, 97, 2, 107))
	want(t, q.Ready(), "1@105", "2@107")
	if c := q.Counters(); c.Late != 0 || c.Missed != 0 || q.Seen() != 11 {
		t.Errorf("%+v and %d seen, want none late or missed, and 11", c, q.Seen())
	}
}

// A sender that has lost its JVM assumes the end, with the number of the batch with which the JVM returns. If that comes while both wait for an
// earlier batch, the session goes on.
func TestBatchReplacesAnEndThatWasAssumed(t *testing.T) {
	lost := batch(2, 30, 1)
	lost.End, lost.Lost = "lost", true
	for _, order := range [][]ordering.Batch{{lost, batch(2, 40, 1, 1, 35)}, {batch(2, 40, 1, 1, 35), lost}} {
		q := ordering.New(ordering.DefaultLimits())
		for _, p := range order {
			q.Add(p)
		}
		q.Add(batch(1, 20, 0, 1, 10))
		want(t, q.Ready(), "1@10", "1@35")
		if q.End() != "" {
			t.Errorf("the session has ended as %s", q.End())
		}
	}
}

// An end that was assumed does not count if later batches have arrived.
func TestLaterBatchesDisproveAnEndThatWasAssumed(t *testing.T) {
	lost := batch(2, 30, 1)
	lost.End, lost.Lost = "lost", true
	q := ordering.New(ordering.DefaultLimits())
	q.Add(batch(1, 20, 0, 1, 10))
	q.Add(batch(3, 50, 2, 1, 45))
	q.Add(lost)
	q.Add(batch(2, 40, 1, 1, 35))
	want(t, q.Ready(), "1@10", "1@35", "1@45")
	q.Add(batch(6, 70, 5, 1, 65))
	lost.Number, lost.Before = 5, 4
	q.Add(lost)
	q.Skip()
	want(t, q.Ready(), "gap 2@50", "1@65")
	if q.End() != "" {
		t.Errorf("the session has ended as %s", q.End())
	}
}
