// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"
	"unsafe"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/lostnotify"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Limits bound what a Builder holds.
type Limits struct {
	Intervals int // in one window; default 1 000 000, about 40 MB. With more, or with four times as many events, the window is cut early
}

// eventsPerInterval limits the events of a window to a multiple of its intervals: consumers of Engine.Watch also store events that begin no
// interval.
const eventsPerInterval = 4

// DefaultLimits returns the limits of the processor's default configuration.
func DefaultLimits() Limits { return Limits{Intervals: 1_000_000} }

// Builder collects the intervals and interactions of one session in time order. One goroutine owns it.
type Builder struct {
	length    jvmthread.Time
	phase     jvmthread.Time
	limits    Limits
	window    Window
	lanes     []*Lane // by the thread's slot
	used      int     // lanes that are not nil
	spare     []*Lane // emptied lanes of the previous window, by the thread's slot
	kept      int     // number of these
	bytes     int     // of the lists of all lanes
	pastBytes int     // of the previous windows
	intervals int
	holds     []jvmthread.Hold // in order of arrival
	order     lockOrder
	queues    []interaction.Queue
	locks     lockTable
	begun     bool
}

// NewBuilder returns a Builder of windows of the given length, which start at multiples of it since the epoch, shifted by a phase.
func NewBuilder(length time.Duration, phase jvmthread.Time, limits Limits) *Builder {
	return &Builder{
		length: jvmthread.Time(length), phase: phase, limits: limits, order: lockOrder{index: make(map[jvmthread.LockID]int32)},
		locks: lockTable{classes: make(map[jvmthread.ClassID]*LockStats), runs: make(map[jvmthread.LockID]*lockRuns)},
	}
}

// Begin opens the first window at the time of the session's first event; later calls do nothing.
func (b *Builder) Begin(at jvmthread.Time) {
	if !b.begun {
		b.begun = true
		b.open(at)
	}
}

// open begins a window at the given time. The window ends where the next one is due to start.
func (b *Builder) open(at jvmthread.Time) {
	end := jvmthread.Time(math.MaxInt64)
	if at < math.MaxInt64-b.length {
		end = at - Since(at, b.length, b.phase) + b.length
	}
	b.window.Start, b.window.End = at, end
}

// Begun reports whether the first window is open.
func (b *Builder) Begun() bool { return b.begun }

// End returns the time at which the current window is due to be cut.
func (b *Builder) End() jvmthread.Time { return b.window.End }

// Extend removes the time at which the current window is due to be cut.
func (b *Builder) Extend() { b.window.End = math.MaxInt64 }

// Held estimates the bytes of the current window, and of what is kept for the next one.
func (b *Builder) Held() int {
	const perLane, perHold, perLock = int(unsafe.Sizeof(Lane{})), int(unsafe.Sizeof(jvmthread.Hold{})), 512
	return b.bytes + b.pastBytes + perLane*(b.used+b.kept) + 8*(cap(b.lanes)+cap(b.spare)) + perHold*(cap(b.holds)+cap(b.window.Holds)+cap(b.window.Mounts)) +
		b.order.held() + perLock*(len(b.locks.classes)+len(b.locks.runs))
}

// reaches reports whether the window contains at least times times its limit.
func (b *Builder) reaches(times int) bool {
	most := times * b.limits.Intervals
	return b.intervals >= most || b.window.Events >= uint64(most)*eventsPerInterval
}

// Full reports whether the window has reached its limit and should be cut.
func (b *Builder) Full() bool { return b.reaches(1) }

// Overfull reports whether the window has reached twice its limit.
func (b *Builder) Overfull() bool { return b.reaches(2) }

// Count counts an event.
func (b *Builder) Count(ev *jvmthread.Event) {
	switch {
	case ev.Kind != jvmthread.KindGap:
		b.window.Events++
	case ev.Thread == jvmthread.NoThread:
		b.window.Missed += uint64(max(0, ev.Arg))
	default:
		b.window.Lost += uint64(max(0, ev.Arg))
	}
}

// Events returns how many events of the window were counted, gaps not included.
func (b *Builder) Events() uint64 { return b.window.Events }

// Add adds an interval of a thread that ended within the window.
func (b *Builder) Add(th *timeline.Thread, iv *jvmthread.Interval) {
	b.add(th, iv, th.ClosedDetail())
}

func (b *Builder) add(th *timeline.Thread, iv *jvmthread.Interval, d *jvmthread.Detail) {
	l := b.lane(th)
	before := l.Intervals.Cap()
	l.Intervals.Append(iv)
	if grown := l.Intervals.Cap() - before; grown > 0 {
		b.bytes += perInterval * grown
	}
	if d != nil && !d.IsZero() {
		before := cap(l.details)
		l.details = append(l.details, detail{iv.Seq, *d})
		b.bytes += perDetail * (cap(l.details) - before)
	}
	b.intervals++
}

// AddInteraction adds an interaction. Calls are in the order of effects. It ignores an effect before the current window: that window was
// already returned.
func (b *Builder) AddInteraction(to *timeline.Thread, ia *jvmthread.Interaction) {
	if ia.EffectTime < b.window.Start {
		return
	}
	l := b.lane(to)
	if ia.Kind == jvmthread.InteractionHandoff {
		b.locks.addHandoff(ia)
	}
	before := cap(l.causes)
	l.addCause(ia)
	b.bytes += perCause * (cap(l.causes) - before)
	b.intervals++
}

// AddDeadlocks adds deadlocks that were confirmed within the window.
func (b *Builder) AddDeadlocks(found []deadlock.Found) {
	b.window.Deadlocks = append(b.window.Deadlocks, found...)
}

// AddLostNotifies adds notifies that no thread heard.
func (b *Builder) AddLostNotifies(list []lostnotify.Found) {
	b.window.LostNotifies = append(b.window.LostNotifies, list...)
}

// AddHints adds hints of potential deadlocks.
func (b *Builder) AddHints(list []deadlock.Hint) {
	b.window.Hints = append(b.window.Hints, list...)
}

// Start returns the start of the current window.
func (b *Builder) Start() jvmthread.Time { return b.window.Start }

// lane returns the lane of a thread, adding it if necessary.
func (b *Builder) lane(th *timeline.Thread) *Lane {
	slot := th.Slot()
	for slot >= len(b.lanes) {
		b.lanes = append(b.lanes, nil)
	}
	l := b.lanes[slot]
	if l != nil {
		return l
	}
	if slot < len(b.spare) && b.spare[slot] != nil {
		l, b.spare[slot] = b.spare[slot], nil
		b.kept--
		*l = Lane{Intervals: l.Intervals, causes: l.causes, details: l.details, Usages: l.Usages}
	} else {
		l = new(Lane)
	}
	l.Thread = th.Open().Thread
	b.lanes[slot] = l
	b.used++
	return l
}

// has reports whether a thread has a lane.
func (b *Builder) has(th *timeline.Thread) bool {
	return th.Slot() < len(b.lanes) && b.lanes[th.Slot()] != nil
}

// During calls Did with the intervals of a thread, complete so far in the current window, that overlap [from, to), given the pauses of the JVM.
func (b *Builder) During(th *timeline.Thread, all *Activities, from, to jvmthread.Time, pauses iter.Seq[jvmthread.Interval]) {
	if b.has(th) {
		b.lanes[th.Slot()].during(all, from, to, pauses)
	}
}

// Pauses is [Window.Pauses] of the current window so far, for the thread of pauses; nil: there is none.
func (b *Builder) Pauses(th *timeline.Thread, from, to jvmthread.Time) iter.Seq[jvmthread.Interval] {
	var l *Lane
	if th != nil && b.has(th) {
		l = b.lanes[th.Slot()]
	}
	return l.intervals(from, to)
}

// Cut ends the window at the given time and returns it, or nil if it is empty: it has no event and no live thread. Each live thread counts. One
// that was active in the window, or waits for others, has a lane with the piece of its open interval up to that time; of the others, which may
// be many thousands, only sums are kept. Next begins the next window.
func (b *Builder) Cut(at jvmthread.Time, why Cut, tl *timeline.Timeline, binder *interaction.Binder) *Window {
	w := &b.window
	w.End, w.Cut = at, why
	b.holds, b.queues = binder.Cut(at, b.holds, b.queues[:0])
	b.showSources(tl)
	b.showHolders(tl, at)
	b.addMounts(tl, at)
	active := w.Events > 0 || b.used > 0
	for th := range tl.Threads {
		if th.Dead() {
			continue
		}
		wait := th.Open().Wait
		if b.has(th) || th.LastSeen() >= w.Start || wait.Contended() || wait == jvmthread.WaitCarrier || wait.ForOthers() && active {
			piece := th.Piece(at)
			b.add(th, &piece, th.Detail())
			th.Spend()
		} else {
			b.addSilent(th.Open())
		}
	}
	if b.used == 0 && w.silent.Threads == 0 && w.Events == 0 && w.Lost == 0 && w.Missed == 0 && !why.Last() {
		return nil
	}
	for _, l := range b.lanes {
		if l != nil {
			w.Lanes = append(w.Lanes, l)
		}
	}
	slices.SortFunc(w.Lanes, func(x, y *Lane) int { return cmp.Compare(x.Thread, y.Thread) })
	for _, l := range w.Lanes {
		l.sortCauses()
		w.sum(l, &b.locks)
		w.Totals.add(&l.Totals)
		w.Waits.add(&l.Waits)
	}
	b.sortHolds()
	w.Locks = b.locks.stats(w, b.holds, b.queues)
	return w
}

// addSilent adds the time of a thread that was in the same state all through the window.
func (b *Builder) addSilent(open *jvmthread.Interval) {
	w := &b.window
	length := w.length(open.Start, w.End)
	w.silent.Threads++
	w.silent.Totals[open.State].Time += length
	w.Totals[open.State].Time += length
	if open.Wait != jvmthread.WaitNone {
		w.Waits[open.Wait].Time += length
		b.locks.addInterval(open, 0, length)
	}
}

// sum adds up the intervals of a lane.
func (w *Window) sum(l *Lane, locks *lockTable) {
	causes := l.causes
	var iv jvmthread.Interval
	for i := range l.Intervals.Len() {
		t := &l.Totals[l.Intervals.State(i)]
		start, end := l.Intervals.Start(i), l.Intervals.End(i)
		var began uint64
		if start >= w.Start || i > 0 { // else it counted in an earlier window
			began = 1
		}
		length := w.length(start, end)
		t.Count += began
		t.Time += length
		if l.Intervals.Wait(i) == jvmthread.WaitNone {
			continue
		}
		l.Intervals.Read(i, &iv)
		if iv.Marks.Has(jvmthread.MarkContinues) {
			began = 0
		}
		k := &l.Waits[iv.Wait]
		k.Count += began
		k.Time += length
		locks.addInterval(&iv, began, length)
		for len(causes) > 0 && causes[0].to < iv.Seq {
			causes = causes[1:]
		}
		if Stops(&iv, len(causes) > 0 && causes[0].to == iv.Seq) {
			l.Stopped += length
		}
	}
}

// Stops reports whether another thread is known to have kept the thread from its work: it held a lock, or it did at last what the thread was
// waiting for. A main thread that joins the threads of a server is not kept from anything, until they end.
func Stops(iv *jvmthread.Interval, caused bool) bool {
	if iv.Wait.Contended() || iv.Wait == jvmthread.WaitReenter {
		return true
	}
	return caused && iv.Wait.ForOthers()
}

// Shrink frees what was kept for the next window. Call it after Next.
func (b *Builder) Shrink() {
	b.spare, b.kept, b.bytes = nil, 0, 0
	b.holds, b.window.Holds, b.window.Mounts, b.window.Lanes = nil, nil, nil, nil
	b.order = lockOrder{index: make(map[jvmthread.LockID]int32)}
}

// Next discards the window that was cut and opens the next one at the given time: the end of the previous window, or later if the time in
// between is empty.
func (b *Builder) Next(at jvmthread.Time) {
	w := &b.window
	past := w.past
	if len(w.Lanes) > 0 {
		past = append(past, w.asPast())
		past = past[max(0, len(past)-maxPast):]
		b.pastBytes = 0
		for i := range past {
			b.pastBytes += past[i].held()
		}
	}
	b.recycle()
	b.locks.reset()
	clear(w.Lanes)
	*w = Window{Lanes: w.Lanes[:0], Holds: w.Holds[:0], Mounts: w.Mounts[:0], past: past}
	b.intervals, b.used = 0, 0
	b.open(at)
}
