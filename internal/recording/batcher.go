// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

const (
	defaultReorder  = 4096
	defaultProblems = 100
	maxThreads      = 4096 // definitions that wait for a batch
	maxShift        = 64   // places that an event is moved at once; beyond it the buffer is sorted as a whole
)

// Batcher is what decoders of single events have in common: it puts events in order, hands them on in batches, and counts.
//
// It holds back Options.Reorder events, so that one that stands too late by fewer places than that still gets its place. The order is by
// places and not by time: one wrong time far in the future does not make everything behind it late.
type Batcher struct {
	opts    Options
	sink    Sink
	events  []jvmthread.Event
	threads []jvmthread.Thread
	sorted  bool
	newest  jvmthread.Time
	floor   jvmthread.Time // nothing earlier can be handed on any more
	ancient bool           // the last event was not taken since it is before 1970
	lost    uint64         // since the last batch
	began   bool
	session Session
	shift   jvmthread.Time // to the wall clock
	shifted bool
	stats   Stats
	err     error
}

// NewBatcher fills in defaults and returns a Batcher for a session. Its symbols are there from now on.
func NewBatcher(opts Options, sink Sink, session Session) *Batcher {
	if opts.Symbols == nil {
		opts.Symbols = symbols.New(symbols.DefaultLimits())
	}
	opts.MaxRecord = orDefault(opts.MaxRecord, DefaultMaxRecord)
	opts.MaxProblems = orDefault(opts.MaxProblems, defaultProblems)
	opts.Reorder = orDefault(opts.Reorder, defaultReorder)
	return &Batcher{
		opts: opts, sink: sink, session: session, sorted: true, newest: math.MinInt64, floor: math.MinInt64,
		shift: opts.Times.Origin, shifted: opts.Times.First == jvmthread.NoTime,
	}
}

func orDefault(n, standard int) int {
	if n <= 0 {
		return standard
	}
	return n
}

// Options returns the options with defaults filled in.
func (b *Batcher) Options() *Options { return &b.opts }

// Symbols returns the table that texts are interned into.
func (b *Batcher) Symbols() *symbols.Table { return b.opts.Symbols }

// Stats says what was read so far; Bytes is the caller's to count.
func (b *Batcher) Stats() Stats { return b.stats }

// Err returns the sink's error, if there was one.
func (b *Batcher) Err() error { return b.err }

// Skip counts a record of a kind that this program does not know.
func (b *Batcher) Skip() { b.stats.Unknown++ }

// Thread defines a thread, or defines it anew.
func (b *Batcher) Thread(th jvmthread.Thread) {
	b.opts.Symbols.SetThread(th)
	b.threads = append(b.threads, th)
	if len(b.threads) >= maxThreads {
		b.hand(len(b.events) / 2)
	}
}

// Add takes an event whose time is the recording's, in nanoseconds. It reports whether the event came in time, and is not before 1970; if not, it
// is left out, and the caller tells of it (see Late).
func (b *Batcher) Add(ev jvmthread.Event) bool {
	if !b.shifted {
		b.shift, b.shifted = b.opts.Times.First-ev.Time, true
	}
	ev.Time += b.shift
	if b.ancient = ev.Time < 0; b.ancient { // carriers have no such times
		return false
	}
	if ev.Time < b.newest {
		if ev.Time < b.floor {
			return false
		}
		b.insert(ev)
	} else {
		b.newest = ev.Time
		b.events = append(b.events, ev)
	}
	if len(b.events) >= 2*b.opts.Reorder {
		b.hand(len(b.events) - b.opts.Reorder)
	}
	return true
}

// Late is the problem of an event that Add did not take; the caller fills in where it is.
func (b *Batcher) Late(p Problem) Problem {
	p.Lost = 1
	if b.ancient {
		p.What, p.Remedy = "its time is before 1970, or behind 2262", "give the start, or mend the time"
		return p
	}
	p.What = "its time is earlier than that of events long before it"
	p.Remedy = "sort the recording by time, read its parts one by one, or mend the time"
	return p
}

func (b *Batcher) insert(ev jvmthread.Event) {
	b.events = append(b.events, ev)
	if !b.sorted {
		return
	}
	n := len(b.events)
	for i := n - 1; i > max(0, n-1-maxShift); i-- {
		if b.events[i-1].Time <= ev.Time {
			copy(b.events[i+1:], b.events[i:n-1])
			b.events[i] = ev
			return
		}
	}
	b.sorted = false
}

// hand hands on the n earliest events.
func (b *Batcher) hand(n int) {
	if b.err != nil {
		b.drop()
		return
	}
	if !b.sorted {
		slices.SortStableFunc(b.events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
		b.sorted = true
	}
	if n == 0 && len(b.threads) == 0 && b.lost == 0 {
		return
	}
	if !b.began {
		b.began = true
		if b.err = b.sink.Session(&b.session); b.err != nil {
			b.drop()
			return
		}
	}
	if n > 0 {
		b.floor = b.events[n-1].Time
	}
	batch := Batch{Threads: b.threads, Events: b.events[:n], Watermark: b.floor, Lost: b.lost}
	b.stats.Events += uint64(n)
	b.err = b.sink.Batch(&batch)
	b.threads, b.lost = b.threads[:0], 0
	b.events = b.events[:copy(b.events, b.events[n:])]
}

func (b *Batcher) drop() { b.events, b.threads = b.events[:0], b.threads[:0] }

// Flush hands on everything.
func (b *Batcher) Flush() error {
	b.hand(len(b.events))
	return b.err
}

// Problem tells the sink of a problem, unless it was told of too many, and counts it. The file's name is filled in.
func (b *Batcher) Problem(p Problem) { b.ProblemOf(b.opts.File, p) }

// ProblemOf is Problem for a file beside the recording.
func (b *Batcher) ProblemOf(file string, p Problem) {
	p.File = file
	b.stats.Problems++
	b.stats.Lost += p.Lost
	b.lost += p.Lost
	if b.err != nil || b.stats.Problems > uint64(b.opts.MaxProblems) {
		return
	}
	b.err = b.sink.Problem(p)
}
