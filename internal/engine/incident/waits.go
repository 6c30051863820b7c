// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// maxThreads bounds the threads that an incident remembers, one for each lock for which it waits, or that it holds. Each wait of a further one
// counts as a thread.
const maxThreads = 1 << 16

// wait adds a piece of a wait.
func (f *Finder) wait(w *window.Window, piece *wait, l *Lock, before []Wait, inc *Incident) {
	iv := w.Lanes[piece.lane].Intervals.At(int(piece.at))
	rec := Wait{Start: piece.start, End: piece.end, Interval: iv, key: l.ID, lane: piece.lane, at: piece.at}
	began := iv.Began() >= piece.start
	if iv.Began() < w.Start {
		at, ok := slices.BinarySearchFunc(before, iv.Thread, func(o Wait, id jvmthread.ThreadID) int { return cmp.Compare(o.Interval.Thread, id) })
		if ok {
			rec.Start = before[at].Start
			began = before[at].End == rec.Start && piece.start == w.Start
			before[at].End = jvmthread.NoTime // it continues
		} else {
			rec.Start = w.Start
			began = piece.start == w.Start
		}
	} else if !began {
		rec.Start = iv.Began()
	}
	if began {
		inc.Count++
	}
	at := threadAt{iv.Thread, l.ID}
	if _, known := inc.waited[at]; known || len(inc.waited) < maxThreads {
		inc.addWaited(at, waited{time.Duration(piece.end - piece.start), rec.Start})
	} else if began {
		inc.more++
		l.Threads++
	}
	if d := rec.End - rec.Start; d > l.longest {
		l.longest, l.Kind, l.Stack, l.Thread = d, iv.Wait, iv.Stack, iv.Thread
	}
	inc.Longest = max(inc.Longest, rec.End.Sub(rec.Start))
	if iv.Marks.Has(jvmthread.MarkTimedOut) {
		inc.TimedOut++
	}
	switch {
	case open(w, &iv):
		inc.open = append(inc.open, rec)
	case !iv.Marks.Has(jvmthread.MarkWillContinue):
		inc.addWait(&rec)
	}
}

// addWait keeps a wait that is over if it is one of the longest.
func (inc *Incident) addWait(rec *Wait) {
	if len(inc.Waits) < MaxWaits {
		inc.Waits = append(inc.Waits, *rec)
		return
	}
	least := 0
	for i := range inc.Waits {
		if rec := &inc.Waits[i]; rec.End-rec.Start < inc.Waits[least].End-inc.Waits[least].Start {
			least = i
		}
	}
	if rec.End-rec.Start > inc.Waits[least].End-inc.Waits[least].Start {
		inc.Waits[least] = *rec
	}
}

// fill adds what only the window of a wait knows.
func (rec *Wait) fill(w *window.Window) {
	if rec.at < 0 {
		return
	}
	l := w.Lanes[rec.lane]
	var holders [8]window.Holder
	if all := w.Holders(&rec.Interval, holders[:0], 1); len(all) > 0 {
		rec.Holder = all[0]
		if rec.Start >= w.Start {
			rec.Share = all[0].Share(rec.End.Sub(rec.Start))
		}
	}
	rec.Detail = w.Detail(rec.Interval)
	rec.Target, rec.HasSpan = w.Target(jvmthread.IntervalRef{Thread: l.Thread, Seq: rec.Interval.Seq}, w.Start)
	var causes [4]jvmthread.Interaction
	for _, ia := range l.AppendCauses(causes[:0], int(rec.at)) {
		if ia.Kind == jvmthread.InteractionHandoff {
			rec.Giver = ia
		}
	}
	rec.at = -1
}
