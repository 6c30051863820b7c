// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

const (
	maxThreads = 4096 // definitions waiting for a batch
	maxShift   = 64   // places by which settle moves an event; beyond that the buffer is sorted before use
)

// Batcher is the Output of formats of single events. It sorts them and passes them on in batches.
//
// It holds back Options.Reorder events, so that one that is out of order by fewer places is still sorted in. The limit is a number of places
// and not a time: one wrong time far in the future does not make all later events late.
type Batcher struct {
	Output

	events  []jvmthread.Event
	threads []jvmthread.Thread
	sorted  bool
	newest  jvmthread.Time
	floor   jvmthread.Time // time of the last event passed on
	ancient bool           // Add rejected the last event because it is before 1970
	lost    uint64         // since the last batch
	began   bool
	session Session
	shift   jvmthread.Time // to the wall clock
	shifted bool
}

// NewBatcher returns a Batcher for a session, which it announces before the first batch.
func NewBatcher(options Options, sink Sink, session Session) *Batcher {
	return &Batcher{
		Output: NewOutput(options, sink), session: session, sorted: true, newest: math.MinInt64, floor: math.MinInt64,
		shift: options.Times.Origin, shifted: options.Times.First == jvmthread.NoTime,
	}
}

// Thread defines or redefines a thread.
func (b *Batcher) Thread(th jvmthread.Thread) {
	b.Options.Symbols.SetThread(th)
	b.threads = append(b.threads, th)
	if len(b.threads) >= maxThreads {
		b.pass(len(b.events) / 2)
	}
}

// Add adds an event whose time is on the recording's scale, in nanoseconds. It rejects one that is too late or before 1970; the caller then
// reports the problem that Late returns.
func (b *Batcher) Add(ev *jvmthread.Event) bool {
	if !b.shifted {
		b.shift, b.shifted = b.Options.Times.First-ev.Time, true
	}
	at := ev.Time + b.shift
	if b.ancient = at < 0; b.ancient || at < b.floor { // carriers cannot represent times before 1970
		return false
	}
	b.events = append(b.events, *ev)
	b.events[len(b.events)-1].Time = at
	if at < b.newest {
		b.settle()
	}
	b.newest = max(b.newest, at)
	if len(b.events) >= 2*b.Options.Reorder {
		b.pass(len(b.events) - b.Options.Reorder)
	}
	return true
}

// Rename replaces a thread by another in the n last events that name it as their peer, if all of these are still held back. It reports
// whether they were.
func (b *Batcher) Rename(from, to jvmthread.ThreadID, n int) bool {
	found := 0
	for i := len(b.events) - 1; i >= 0 && found < n; i-- {
		if b.events[i].Peer == from {
			found++
		}
	}
	if found < n {
		return false
	}
	for i := len(b.events) - 1; i >= 0 && found > 0; i-- {
		if b.events[i].Peer == from {
			b.events[i].Peer = to
			found--
		}
	}
	return true
}

// Late returns the problem of an event that Add has just rejected, at the position of p.
func (b *Batcher) Late(p Problem) Problem {
	p.Lost = 1
	if b.ancient {
		p.What, p.Remedy = "the time is before 1970 or after 2262", "set the start time of the recording, or correct the time"
		return p
	}
	p.What = "the time is earlier than that of events far ahead of it in the recording"
	p.Remedy = "sort the recording by time, read its parts separately, or correct the time"
	return p
}

// settle moves the last event to its place.
func (b *Batcher) settle() {
	if !b.sorted {
		return
	}
	last := len(b.events) - 1
	ev := b.events[last]
	for i := last; i > max(0, last-maxShift); i-- {
		if b.events[i-1].Time <= ev.Time {
			copy(b.events[i+1:], b.events[i:last])
			b.events[i] = ev
			return
		}
	}
	b.sorted = false
}

// pass passes on the n earliest events.
func (b *Batcher) pass(n int) {
	if !b.sorted {
		slices.SortStableFunc(b.events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
		b.sorted = true
	}
	if n == 0 && len(b.threads) == 0 && b.lost == 0 {
		return
	}
	if !b.began {
		b.began = true
		b.Session(&b.session)
	}
	if n > 0 {
		b.floor = b.events[n-1].Time
	}
	b.Batch(&Batch{Threads: b.threads, Events: b.events[:n], Watermark: b.floor, Lost: b.lost})
	b.threads, b.lost = b.threads[:0], 0
	b.events = b.events[:copy(b.events, b.events[n:])]
}

// Flush passes on all events.
func (b *Batcher) Flush() error {
	b.pass(len(b.events))
	return b.Err()
}

// Problem is Output.Problem; the next batch includes the loss.
func (b *Batcher) Problem(p Problem) {
	b.lost += p.Lost
	b.Output.Problem(p)
}
