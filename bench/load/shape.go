// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package load answers: what does a JVM under load send? It simulates agents: their histories of events are consistent, the same in each
// run, and of any length.
package load

import (
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Shape describes a simulated JVM.
type Shape struct {
	Threads, Locks, Classes int
	Rate                    int           // events a second of simulated time, of all threads
	Batch                   time.Duration // simulated time of a batch
}

// JVM is the usual JVM. An agent sends smaller batches when it is not kept waiting; which costs more.
func JVM() Shape {
	return Shape{Threads: 50, Locks: 50, Classes: 2, Rate: 20_000, Batch: 100 * time.Millisecond}
}

const (
	groupSize = 4 // threads that want the same lock at the same time
	perRound  = 6 // events of a round, in the mean of two threads
	steps     = 12
)

// Beginning is what the monotonic clock of a simulated JVM shows when its session begins.
const Beginning = jvmthread.Time(time.Hour)

// period is the time in which each thread runs one round.
func (s Shape) period() jvmthread.Time {
	return jvmthread.Time(s.Threads) * perRound * jvmthread.Time(time.Second) / jvmthread.Time(s.Rate)
}

// lock returns one of the locks: even ones are contended monitors, odd ones are queues that threads wait for.
func (s Shape) lock(number int) jvmthread.LockID {
	return jvmthread.LockID{Class: jvmthread.ClassID(1 + number%s.Classes), Hash: uint32(number/s.Classes) + 1}
}

// round appends the events of one round of a thread, with the mix of connector/contentionconnector/bench_test.go: it blocks on a lock that
// each thread of its group gets in turn, sleeps, and then waits for its neighbour or notifies it.
func (s Shape) round(events []jvmthread.Event, th, n int) []jvmthread.Event {
	period := s.period()
	step := period / steps
	group, position := th/groupSize, th%groupSize
	groups := (s.Threads + groupSize - 1) / groupSize
	half := max(1, s.Locks/2)
	monitor := s.lock((group + n*groups) % half * 2 % s.Locks)
	queue := s.lock(((th/2+n*groups*2)%half*2 + 1) % s.Locks)
	from := Beginning + jvmthread.Time(n)*period + period/jvmthread.Time(groups)*jvmthread.Time(group)
	noise := jvmthread.Time(Mix(uint64(n)<<20|uint64(group)) % uint64(step/4)) // the same for the whole group, so that its order remains
	site := jvmthread.StackID(Mix(uint64(n)<<20|uint64(th)) % sites)
	add := func(at jvmthread.Time, ev jvmthread.Event) {
		ev.Time, ev.Thread = from+at+noise, jvmthread.ThreadID(th+1)
		events = append(events, ev)
	}
	owner := th - 1
	if position == 0 {
		owner = min(th+groupSize, s.Threads) - 1 // the last of the group
	}
	turn := jvmthread.Time(position) * step
	add(turn/8, jvmthread.Event{Kind: jvmthread.KindContendedEnter, Lock: monitor, Peer: jvmthread.ThreadID(owner + 1), Stack: 1 + site})
	add(turn+step, jvmthread.Event{Kind: jvmthread.KindContendedEntered, Lock: monitor})
	add(turn+step*5/4, jvmthread.Event{Kind: jvmthread.KindSleepStart, Arg: int64(step), Stack: 1 + sites + site})
	add(turn+step*9/4, jvmthread.Event{Kind: jvmthread.KindSleepEnd})
	if th%2 == 0 {
		add(turn+step*5/2, jvmthread.Event{Kind: jvmthread.KindWait, Lock: queue, Stack: 1 + 2*sites + site})
		add(turn+step*29/8, jvmthread.Event{Kind: jvmthread.KindWaited, Lock: queue})
		add(turn+step*15/4, jvmthread.Event{Kind: jvmthread.KindWaitReturned, Lock: queue})
	} else {
		add(turn+step*5/2, jvmthread.Event{Kind: jvmthread.KindNotify, Lock: queue, Stack: 1 + 3*sites + site}) // of the thread before
	}
	return events
}

// Mix is a step of SplitMix64: the same load in each run.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
