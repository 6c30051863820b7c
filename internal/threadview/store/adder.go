// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// newRollup adds blocks up. The session's open intervals are those at the end of the last block.
func (s *Session) newRollup(blocks []*Block) *Rollup {
	last := blocks[len(blocks)-1]
	a := adder{
		s: s, c: &Rollup{
			Start: blocks[0].Start, End: last.End, first: blocks[0].number, next: last.number + 1,
			firstEnd: math.MaxInt64, lastStart: math.MinInt64, lastEnd: math.MinInt64,
		},
		threads: make(map[ThreadSum]*ThreadSum), waits: make(map[waitKey]*wait), locks: make(map[LockIndex]*lock),
	}
	n := 0
	for _, b := range blocks {
		n += len(b.state)
	}
	a.most = max(16, n/perThread)
	for _, b := range blocks {
		a.intervals(b)
		a.handoffs(b)
		a.held(b)
	}
	for _, iv := range s.open {
		iv.End = last.End
		a.queue(&iv)
	}
	a.finish()
	return a.c
}

type waitKey struct {
	class uint32
	stack StackID
	state jvmthread.State
	wait  jvmthread.Wait
}

type wait struct {
	WaitSum

	locks, threads []uint32
	longest        jvmthread.Time
	start          jvmthread.Time // of the longest
	thread         uint32
}

type lock struct {
	LockSum

	holders []uint32
	turns   []interaction.Turn
}

// adder adds up blocks.
type adder struct {
	s       *Session
	c       *Rollup
	threads map[ThreadSum]*ThreadSum // the key has no sums
	waits   map[waitKey]*wait        // nil: too many
	locks   map[LockIndex]*lock      // nil: too many
	most    int                      // with more sums, a scan of the intervals is as fast
}

func (a *adder) intervals(b *Block) {
	c := a.c
	for i := range len(b.lanes) - 1 {
		l := &b.lanes[i]
		start := l.start
		for at := int(l.first); at < int(b.lanes[i+1].first); at++ {
			iv := b.interval(l, at, start)
			if iv.Start < c.Start {
				c.early = append(c.early, chunk{b, int32(i)})
				c.firstEnd = min(c.firstEnd, iv.End)
			}
			c.lastStart, c.lastEnd = max(c.lastStart, iv.Start), max(c.lastEnd, iv.End)
			a.interval(&iv, Ref{b, int32(i), uint32(at)})
			start = iv.End
		}
	}
}

func (a *adder) interval(iv *Interval, ref Ref) {
	length := int64(iv.End - iv.Start)
	k := ThreadSum{Thread: uint32(iv.Thread), State: iv.State, Contended: iv.Wait.Contended(), Shown: iv.Shown()}
	t := a.threads[k]
	if t == nil {
		sum := k
		t = &sum
		a.threads[k] = t
	}
	t.Count++
	t.Begun += uint32(begun(iv.Marks))
	t.Time += length
	state := iv.As()
	switch state { //exhaustive:enforce
	case jvmthread.StateBlocked, jvmthread.StateWaiting, jvmthread.StateReentering, jvmthread.StateParked, jvmthread.StateJoining, jvmthread.StateSleeping:
		a.wait(iv, state, ref)
		a.lock(iv, state)
	case jvmthread.StateSuspended, jvmthread.StateQueued:
		a.wait(iv, state, ref)
	case jvmthread.StateUnknown, jvmthread.StateRunnable, jvmthread.StateDead, jvmthread.StateDeadlocked:
	}
}

func (a *adder) wait(iv *Interval, state jvmthread.State, ref Ref) {
	if a.waits == nil {
		return
	}
	k := waitKey{a.s.locks.list[iv.Lock].Class, iv.Stack, state, iv.Wait}
	w := a.waits[k]
	if w == nil {
		if len(a.waits) == a.most {
			a.waits = nil
			return
		}
		w = &wait{WaitSum: WaitSum{Class: k.class, Stack: k.stack, State: k.state, Wait: k.wait}, longest: -1}
		a.waits[k] = w
	}
	length := iv.Waited()
	if iv.Marks.Has(jvmthread.MarkWillContinue) {
		w.Part(begun(iv.Marks), int64(iv.End-iv.Start))
		a.c.lastStart = max(a.c.lastStart, iv.End) // in a range without the next part, this one has the length
	} else {
		w.Add(begun(iv.Marks), int64(iv.End-iv.Start), int64(length))
	}
	if iv.Lock != 0 {
		w.locks = append(w.locks, uint32(iv.Lock))
	}
	thread := uint32(iv.Thread)
	if n := len(w.threads); n == 0 || w.threads[n-1] != thread {
		w.threads = append(w.threads, thread)
	}
	if iv.Marks.Has(jvmthread.MarkWillContinue) {
		return
	}
	if length > w.longest || length == w.longest && (iv.Start < w.start || iv.Start == w.start && thread < w.thread) {
		w.longest, w.start, w.thread, w.Longest = length, iv.Start, thread, ref
	}
}

// of returns the sums of a lock; nil if there are too many locks.
func (a *adder) of(l LockIndex) *lock {
	if a.locks == nil || l == 0 {
		return nil
	}
	k := a.locks[l]
	if k == nil {
		if len(a.locks) == a.most {
			a.locks = nil
			return nil
		}
		k = &lock{LockSum: LockSum{Lock: l}}
		a.locks[l] = k
	}
	return k
}

func (a *adder) lock(iv *Interval, state jvmthread.State) {
	if state == jvmthread.StateJoining || state == jvmthread.StateSleeping {
		return
	}
	k := a.of(iv.Lock)
	if k == nil {
		return
	}
	k.Wanted = true
	var sum *Sum
	switch state {
	case jvmthread.StateBlocked:
		sum = &k.Blocked
		k.See(LongestWait{iv.Waited(), iv.Stack, iv.Wait})
		a.queue(iv)
	case jvmthread.StateWaiting:
		sum = &k.Waited
	case jvmthread.StateParked:
		sum = &k.Parked
	default:
		return
	}
	sum.Count += begun(iv.Marks)
	sum.Time += int64(iv.End - iv.Start)
}

// queue adds a thread to the queue of a lock.
func (a *adder) queue(iv *Interval) {
	from, to := max(iv.Start, a.c.Start), min(iv.End, a.c.End)
	if from >= to || iv.As() != jvmthread.StateBlocked {
		return
	}
	if k := a.of(iv.Lock); k != nil {
		k.turns = append(k.turns, interaction.Enter(from-a.c.Start), interaction.Leave(to-a.c.Start))
	}
}

func (a *adder) handoffs(b *Block) {
	for i := range b.interactions {
		a.c.lastStart = max(a.c.lastStart, b.effectAt(i))
		e := &b.interactions[i]
		if e.kind != jvmthread.InteractionHandoff || e.to == 0 {
			continue
		}
		if k := a.of(LockIndex(e.lock)); k != nil {
			k.Wanted = true
			k.Handoffs.Add(e.from, e.to)
		}
	}
}

func (a *adder) held(b *Block) {
	for i := range b.holds {
		h := b.hold(i)
		if h.Start < a.c.Start {
			a.c.earlyHolds = append(a.c.earlyHolds, h)
			a.c.firstEnd = min(a.c.firstEnd, h.End)
		}
		a.c.lastStart, a.c.lastEnd = max(a.c.lastStart, h.Start), max(a.c.lastEnd, h.End)
		if k := a.of(h.Lock); k != nil {
			k.Held.Count++
			k.Held.Time += int64(h.End - h.Start)
			k.holders = append(k.holders, uint32(h.Thread))
		}
	}
}

// finish moves the sums into the roll-up.
func (a *adder) finish() {
	c := a.c
	c.early, c.earlyHolds = exact(c.early), exact(c.earlyHolds)
	c.Threads = make([]ThreadSum, 0, len(a.threads))
	for _, t := range a.threads {
		c.Threads = append(c.Threads, *t)
	}
	slices.SortFunc(c.Threads, func(x, y ThreadSum) int { return cmp.Compare(x.Thread, y.Thread) })
	c.size = rollupBytes + int64(len(c.early))*int64(unsafe.Sizeof(chunk{})) + int64(len(c.earlyHolds))*int64(unsafe.Sizeof(Hold{})) +
		int64(len(c.Threads))*int64(unsafe.Sizeof(ThreadSum{}))
	if a.waits != nil {
		c.Waits = make([]WaitSum, 0, len(a.waits))
		for _, w := range a.waits {
			w.Pack()
			w.Locks, w.Threads = Pack(w.locks), Pack(w.threads)
			c.size += 48 + w.Bytes() + w.Locks.Bytes() + w.Threads.Bytes()
			c.Waits = append(c.Waits, w.WaitSum)
		}
	}
	if a.locks != nil {
		c.Locks = make([]LockSum, 0, len(a.locks))
		for _, k := range a.locks {
			k.Holders = Pack(k.holders)
			k.Queue = uint32(interaction.Peak(k.turns))
			c.size += int64(unsafe.Sizeof(LockSum{})) + k.Holders.Bytes()
			c.Locks = append(c.Locks, k.LockSum)
		}
	}
}
