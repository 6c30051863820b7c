// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"iter"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// A Piece is a part of the time of a thread.
type Piece struct {
	Start, End jvmthread.Time
	Stopped    bool               // the JVM stood still; only of time in which the thread seems to run
	Interval   jvmthread.Interval // of the thread, or the pause of the JVM
}

// Pieces yields the part of an interval in [from, to), cut at the pauses of the JVM if the thread seems to run in it. The pauses are in order.
func Pieces(iv *jvmthread.Interval, from, to jvmthread.Time, pauses iter.Seq[jvmthread.Interval]) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		at, end := max(iv.Start, from), min(iv.End, to)
		if iv.State == jvmthread.StateRunnable {
			for pause := range pauses {
				start, stop := max(pause.Start, at), min(pause.End, end)
				if pause.Wait != jvmthread.WaitPause || start >= stop {
					continue
				}
				if at < start && !yield(Piece{at, start, false, *iv}) {
					return
				}
				if at = stop; !yield(Piece{start, stop, true, pause}) {
					return
				}
			}
		}
		if at < end {
			yield(Piece{at, end, false, *iv})
		}
	}
}

// Pauses returns the pauses of the JVM that overlap [from, to), and what is between them.
func (w *Window) Pauses(from, to jvmthread.Time) iter.Seq[jvmthread.Interval] {
	return w.IntervalsOf(jvmthread.PausesThread, from, to)
}
