// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"fmt"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Validate checks a window against the rules that hold for every history, however broken: intervals tile each thread's part of the
// window; totals are the sums of intervals, and of silent threads; an interaction connects two threads, its cause is not later than its effect, and both ends are
// in the intervals that it refers to; a blocked interval ends by at most one handoff; a lock has at most one owner at a time. It returns
// every violation.
func Validate(w *window.Window) (errs []error) {
	lanes := make(map[jvmthread.ThreadID]*window.Lane)
	all := w.Silent().Totals
	for i, l := range w.Lanes {
		if i > 0 && w.Lanes[i-1].Thread >= l.Thread {
			errs = append(errs, fmt.Errorf("lane of thread %d follows that of thread %d", l.Thread, w.Lanes[i-1].Thread))
		}
		lanes[l.Thread] = l
		errs = append(errs, lane(w, l)...)
		for s := range l.Totals {
			all[s].Count += l.Totals[s].Count
			all[s].Time += l.Totals[s].Time
		}
	}
	if all != w.Totals {
		errs = append(errs, fmt.Errorf("window: totals %v differ from the sums of the lanes %v", w.Totals, all))
	}
	handoffs := make(map[jvmthread.IntervalRef]int)
	for ia := range w.Interactions() {
		if err := interaction(w, &ia, lanes); err != nil {
			errs = append(errs, err)
		}
		if ia.Kind == jvmthread.InteractionHandoff {
			if handoffs[ia.To]++; handoffs[ia.To] > 1 {
				errs = append(errs, fmt.Errorf("%v has %d handoffs", ia.To, handoffs[ia.To]))
			}
		}
	}
	return append(errs, holds(w)...)
}

// holds checks that one thread at a time holds a lock. Permits and pooled objects are shared, but a thread holds one of them once.
func holds(w *window.Window) (errs []error) {
	type holder struct {
		lock   jvmthread.LockID
		thread jvmthread.ThreadID
	}
	last := make(map[holder]jvmthread.Hold)
	for _, h := range w.Holds {
		k := holder{lock: h.Lock}
		if h.Marks&jvmthread.HoldShared != 0 {
			k.thread = h.Thread
		}
		if before, ok := last[k]; ok && before.End > h.Start {
			errs = append(errs, fmt.Errorf("%v holds lock %v until %d, %v from %d on", before.Thread, h.Lock, before.End, h.Thread, h.Start))
		}
		last[k] = h
	}
	return errs
}

func lane(w *window.Window, l *window.Lane) (errs []error) {
	var sums window.Totals
	var sum time.Duration
	for i, iv := range l.Intervals.All() {
		if iv.Thread != l.Thread {
			errs = append(errs, fmt.Errorf("an interval of thread %d is in the lane of %d", iv.Thread, l.Thread))
		}
		if iv.End < iv.Start || iv.Start >= w.End && iv.Start > iv.End || iv.End > w.End {
			errs = append(errs, fmt.Errorf("interval %d/%d from %d to %d exceeds the window, which ends at %d", iv.Thread, iv.Seq, iv.Start, iv.End, w.End))
		}
		if i > 0 {
			before := l.Intervals.At(i - 1)
			if before.End != iv.Start || before.Seq+1 != iv.Seq {
				errs = append(errs, fmt.Errorf("thread %d: interval %d ends at %d, interval %d begins at %d", iv.Thread, before.Seq, before.End, iv.Seq, iv.Start))
			}
		}
		if iv.State == jvmthread.StateRunnable && iv.Wait != jvmthread.WaitNone {
			errs = append(errs, fmt.Errorf("interval %d/%d is runnable and waits for %v", iv.Thread, iv.Seq, iv.Wait))
		}
		if iv.Start >= w.Start || i > 0 {
			sums[iv.State].Count++
		}
		sums[iv.State].Time += w.Length(iv)
		sum += w.Length(iv)
	}
	if sums != l.Totals {
		errs = append(errs, fmt.Errorf("thread %d: totals %v differ from the sums of the intervals %v", l.Thread, l.Totals, sums))
	}
	if n := l.Intervals.Len(); n > 0 {
		start, _ := w.Clip(l.Intervals.At(0))
		_, end := w.Clip(l.Intervals.At(n - 1))
		if d := end.Sub(start); d != sum {
			errs = append(errs, fmt.Errorf("thread %d: intervals add up to %v, want %v", l.Thread, sum, d))
		}
	}
	return errs
}

func interaction(w *window.Window, ia *jvmthread.Interaction, lanes map[jvmthread.ThreadID]*window.Lane) error {
	if ia.From.Thread == ia.To.Thread {
		return fmt.Errorf("%v: a thread releases itself", *ia)
	}
	if ia.CauseTime > ia.EffectTime {
		return fmt.Errorf("%v: the effect precedes the cause", *ia)
	}
	to, ok := find(lanes, ia.To)
	if !ok {
		return fmt.Errorf("%v: the interval of its effect is not in the window", *ia)
	}
	at := to.End
	if ia.Kind == jvmthread.InteractionStart {
		at = to.Start
	}
	if at != ia.EffectTime {
		return fmt.Errorf("%v: the interval of its effect changes at %d", *ia, at)
	}
	if ia.CauseTime < w.Start {
		return nil // the cause is in an earlier window
	}
	from, ok := find(lanes, ia.From)
	if !ok || ia.CauseTime < from.Start || ia.CauseTime > from.End {
		return fmt.Errorf("%v: its cause is outside of %v", *ia, from)
	}
	return nil
}

func find(lanes map[jvmthread.ThreadID]*window.Lane, ref jvmthread.IntervalRef) (jvmthread.Interval, bool) {
	l := lanes[ref.Thread]
	if l == nil {
		return jvmthread.Interval{}, false
	}
	for _, iv := range l.Intervals.All() {
		if iv.Seq == ref.Seq {
			return iv, true
		}
	}
	return jvmthread.Interval{}, false
}
