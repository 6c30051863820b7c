// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"math/rand/v2"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// step is one action of a thread of a program: it runs or sleeps for a time, takes or releases a lock, or joins a thread.
type step struct {
	kind stepKind
	time jvmthread.Time
	arg  int
}

type stepKind int

const (
	stepRun stepKind = iota
	stepSleep
	stepLock
	stepUnlock
	stepJoin
)

// program creates threads that take locks in ascending order, so that they cannot deadlock. The first thread finally joins all others.
func program(rng *rand.Rand) [][]step {
	threads := make([][]step, 2+rng.IntN(5))
	for id := range threads {
		var held []int
		list := []step{{kind: stepRun, time: jvmthread.Time(1 + rng.IntN(9))}}
		for range rng.IntN(14) {
			switch k := rng.IntN(4); {
			case k == 0 && (len(held) == 0 || held[len(held)-1] < 3):
				lock := 0
				if len(held) > 0 {
					lock = held[len(held)-1] + 1
				}
				lock += rng.IntN(4 - lock)
				held = append(held, lock)
				list = append(list, step{kind: stepLock, arg: lock}, step{kind: stepKind(rng.IntN(2)), time: jvmthread.Time(1 + rng.IntN(9))})
			case k == 1 && len(held) > 0:
				// Time passes after the release too: within one nanosecond, the order of a release and the next entry is
				// unknown.
				list = append(list, step{kind: stepUnlock, arg: held[len(held)-1]}, step{kind: stepSleep, time: 1})
				held = held[:len(held)-1]
			default:
				list = append(list, step{kind: stepKind(rng.IntN(2)), time: jvmthread.Time(1 + rng.IntN(9))})
			}
		}
		for len(held) > 0 {
			list = append(list, step{kind: stepUnlock, arg: held[len(held)-1]})
			held = held[:len(held)-1]
		}
		threads[id] = list
	}
	for id := 1; id < len(threads); id++ {
		threads[0] = append(threads[0], step{kind: stepJoin, arg: id})
	}
	threads[0] = append(threads[0], step{kind: stepRun, time: 1})
	return threads
}

// replay runs a program. Locks are granted in the given order, or by arrival if it is nil. No thread waits for the lock with the index
// free.
func replay(threads [][]step, order [4][]int, free int) (w *world, granted [4][]int, end jvmthread.Time) {
	w = &world{threads: slices.Repeat([]string{"t"}, len(threads)), locks: []string{"a", "b", "c", "d"}, lanes: make([][]jvmthread.Interval, len(threads)), steps: make(map[jvmthread.IntervalRef]int)}
	type state struct {
		next    int
		until   jvmthread.Time // of the current run or sleep
		since   jvmthread.Time // of the current interval
		blocked bool
		done    bool
	}
	type owned struct {
		owner int
		since jvmthread.Time
		last  int // the previous owner
		freed jvmthread.Time
	}
	all := make([]state, len(threads))
	locks := [4]owned{{owner: -1, last: -1}, {owner: -1, last: -1}, {owner: -1, last: -1}, {owner: -1, last: -1}}
	interval := func(id int, to jvmthread.Time, iv jvmthread.Interval) jvmthread.Seq {
		list := &w.lanes[id]
		iv.Start, iv.End, iv.Thread, iv.Seq = all[id].since, to, jvmthread.ThreadID(id+1), jvmthread.Seq(len(*list)+1)
		*list = append(*list, iv)
		all[id].since = to
		return iv.Seq
	}
	interact := func(kind jvmthread.InteractionKind, from int, cause jvmthread.Time, to int, seq jvmthread.Seq, at jvmthread.Time) {
		ia := jvmthread.Interaction{Kind: kind, CauseTime: cause, EffectTime: at, To: jvmthread.IntervalRef{Thread: jvmthread.ThreadID(to + 1), Seq: seq}}
		ia.From.Thread = jvmthread.ThreadID(from + 1)
		w.interactions = append(w.interactions, ia)
	}
	for now := jvmthread.Time(0); ; now++ {
		for moved := true; moved; {
			moved = false
			for id := range all {
				s := &all[id]
				if s.done || now < s.until {
					continue
				}
				if s.next == len(threads[id]) {
					interval(id, now, jvmthread.Interval{State: jvmthread.StateRunnable})
					s.done, moved = true, true
					end = now
					continue
				}
				do := threads[id][s.next]
				switch do.kind {
				case stepRun, stepSleep:
					if s.blocked {
						s.blocked = false
						interval(id, now, jvmthread.Interval{State: jvmthread.StateSleeping})
						s.next++
						moved = true
						continue
					}
					if do.kind == stepSleep {
						interval(id, now, jvmthread.Interval{State: jvmthread.StateRunnable})
						s.blocked, s.until = true, now+do.time
					} else {
						s.until = now + do.time
						s.next++
					}
				case stepLock:
					k := &locks[do.arg]
					turn := order[do.arg] == nil || len(granted[do.arg]) < len(order[do.arg]) && order[do.arg][len(granted[do.arg])] == id
					if do.arg == free {
						turn = true
					} else if k.owner >= 0 {
						turn = false
					}
					if !turn {
						if !s.blocked {
							interval(id, now, jvmthread.Interval{State: jvmthread.StateRunnable})
							s.blocked = true
						}
						continue
					}
					if s.blocked {
						seq := interval(id, now, jvmthread.Interval{State: jvmthread.StateBlocked, Lock: jvmthread.LockID{Class: jvmthread.ClassID(do.arg + 1), Hash: uint32(do.arg + 1)}})
						if k.last >= 0 {
							interact(jvmthread.InteractionHandoff, k.last, k.freed, id, seq, now)
						}
						s.blocked = false
						w.steps[jvmthread.IntervalRef{Thread: jvmthread.ThreadID(id + 1), Seq: seq}] = s.next
					}
					k.owner, k.since = id, now
					granted[do.arg] = append(granted[do.arg], id)
					s.next++
				case stepUnlock:
					k := &locks[do.arg]
					if now > k.since && do.arg != free {
						w.holds = append(w.holds, jvmthread.Hold{
							Lock: jvmthread.LockID{Class: jvmthread.ClassID(do.arg + 1), Hash: uint32(do.arg + 1)}, Thread: jvmthread.ThreadID(id + 1), Start: k.since, End: now,
						})
					}
					k.owner, k.last, k.freed = -1, id, now
					s.next++
				case stepJoin:
					if !all[do.arg].done {
						if !s.blocked {
							interval(id, now, jvmthread.Interval{State: jvmthread.StateRunnable})
							s.blocked = true
						}
						continue
					}
					if !s.blocked {
						interval(id, now, jvmthread.Interval{State: jvmthread.StateRunnable})
						s.blocked = false
					}
					died := w.lanes[do.arg][len(w.lanes[do.arg])-1].End
					seq := interval(id, now, jvmthread.Interval{State: jvmthread.StateJoining, Peer: jvmthread.ThreadID(do.arg + 1)})
					interact(jvmthread.InteractionJoin, do.arg, died, id, seq, now)
					s.blocked = false
					s.next++
				}
				moved = true
			}
		}
		if all[0].done || now > 5000 {
			break
		}
	}
	slices.SortStableFunc(w.holds, func(a, b jvmthread.Hold) int {
		if a.Lock != b.Lock {
			return int(a.Lock.Hash) - int(b.Lock.Hash)
		}
		return int(a.Start - b.Start)
	})
	return w, granted, end
}
