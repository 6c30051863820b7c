// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// shape describes the simulated JVM.
type shape struct {
	threads, locks, classes int
	rate                    int           // events a second of simulated time, of all threads
	batch                   time.Duration // simulated time of a batch
}

// aJVM is the JVM of most rows. An agent sends smaller batches when it is not kept waiting; a row of its own shows what they cost.
func aJVM() shape {
	return shape{threads: 50, locks: 50, classes: 2, rate: 20_000, batch: 100 * time.Millisecond}
}

const (
	groupSize = 4 // threads that want the same lock at the same time
	perRound  = 6 // events of a round, in the mean of two threads
	steps     = 12
	beginning = jvmthread.Time(time.Hour) // of the monotonic clock, when the session begins
)

// batch is one batch as the agent would send it.
type batch struct {
	frame  []byte
	events int
	at     time.Duration // when the agent sends it, from the start of the session
}

// period is the time in which each thread runs one round.
func (s shape) period() jvmthread.Time {
	return jvmthread.Time(s.threads) * perRound * jvmthread.Time(time.Second) / jvmthread.Time(s.rate)
}

// lock returns one of the locks: even ones are contended monitors, odd ones are queues that threads wait for.
func (s shape) lock(number int) jvmthread.LockID {
	return jvmthread.LockID{Class: jvmthread.ClassID(1 + number%s.classes), Hash: uint32(number/s.classes) + 1}
}

// round appends the events of one round of a thread, with the mix of connector/contentionconnector/bench_test.go: it blocks on a lock that
// each thread of its group gets in turn, sleeps, and then waits for its neighbour or notifies it.
func (s shape) round(events []jvmthread.Event, th, n int) []jvmthread.Event {
	period := s.period()
	step := period / steps
	group, position := th/groupSize, th%groupSize
	groups := (s.threads + groupSize - 1) / groupSize
	half := max(1, s.locks/2)
	monitor := s.lock((group + n*groups) % half * 2 % s.locks)
	queue := s.lock(((th/2+n*groups*2)%half*2 + 1) % s.locks)
	from := beginning + jvmthread.Time(n)*period + period/jvmthread.Time(groups)*jvmthread.Time(group)
	noise := jvmthread.Time(mix(uint64(n)<<20|uint64(group)) % uint64(step/4)) // the same for the whole group, so that its order remains
	site := jvmthread.StackID(mix(uint64(n)<<20|uint64(th)) % sites)
	add := func(at jvmthread.Time, ev jvmthread.Event) {
		ev.Time, ev.Thread = from+at+noise, jvmthread.ThreadID(th+1)
		events = append(events, ev)
	}
	owner := th - 1
	if position == 0 {
		owner = min(th+groupSize, s.threads) - 1 // the last of the group
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

// mix is a step of SplitMix64: the same load in each run.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// batches simulates at least the number of events and returns them as frames.
func (s shape) batches(events int) []batch {
	var all []batch
	pending, rounds := make([][]jvmthread.Event, s.threads), make([]int, s.threads)
	var sections []wire.Section
	for before := 0; before < events; {
		number := len(all) + 1
		until := beginning + jvmthread.Time(number)*jvmthread.Time(s.batch)
		sections = sections[:0]
		count := 0
		for th := range s.threads {
			for beginning+jvmthread.Time(rounds[th])*s.period() < until {
				pending[th] = s.round(pending[th], th, rounds[th])
				rounds[th]++
			}
			ready, _ := slices.BinarySearchFunc(pending[th], until, func(ev jvmthread.Event, t jvmthread.Time) int { return int(ev.Time - t) })
			if ready > 0 {
				sections = append(sections, wire.Section{Thread: jvmthread.ThreadID(th + 1), Events: pending[th][:ready]})
				count += ready
			}
		}
		header := wire.BatchHeader{Sequence: uint64(number), Watermark: until, Before: uint64(before)}
		all = append(all, batch{wire.AppendBatch(nil, header, sections...), count, time.Duration(number) * s.batch})
		for _, sec := range sections {
			th := sec.Thread - 1
			pending[th] = append(pending[th][:0], pending[th][len(sec.Events):]...)
		}
		before += count
	}
	return all
}

// total returns the number of events.
func total(batches []batch) int {
	n := 0
	for i := range batches {
		n += batches[i].events
	}
	return n
}
