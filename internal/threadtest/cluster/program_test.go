// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/wire"
)

// How long the threads of a program do something, in ns; longer, if sessions move.
const (
	programLength = 7_000_000_000
	longProgram   = 16_000_000_000
)

// program is what the threads of a JVM will do, and how far its agent has reported it. Times are those of the JVM's monotonic clock.
type program struct {
	lanes       []lane
	definitions []byte // frames
	end         jvmthread.Time
}

type lane struct {
	thread jvmthread.ThreadID
	events []jvmthread.Event // not reported yet
	lost   jvmthread.Event   // a gap that is to be reported; its Arg is 0 if there is none
}

// newProgram returns a random program that begins at a time, and lasts for some.
func newProgram(rng *rand.Rand, begin, length jvmthread.Time) *program {
	threads, locks := 2+rng.IntN(5), 1+rng.IntN(3)
	sim := threadtest.Simulate(rng.Uint64(), threads, locks, 40+rng.IntN(100))
	first, last := sim.Events[0].Time, sim.Events[len(sim.Events)-1].Time
	scale := length / max(1, last-first)
	p := &program{end: begin + 1 + (last-first)*scale}
	p.define(threads)
	for id := range jvmthread.ThreadID(threads) {
		p.lanes = append(p.lanes, lane{thread: id + 1})
	}
	for i, ev := range sim.Events {
		ev.Time = begin + (ev.Time-first)*scale
		if ev.Kind == jvmthread.KindWait || ev.Kind == jvmthread.KindPark || ev.Kind == jvmthread.KindContendedEnter {
			ev.Stack = jvmthread.StackID(1 + i%stacks)
		}
		l := &p.lanes[ev.Thread-1]
		l.events = append(l.events, ev)
	}
	return p
}

const stacks = 3

// define describes everything that events refer to, as an agent does for each connection.
func (p *program) define(threads int) {
	for id := range threads {
		p.definitions = wire.AppendThread(p.definitions, jvmthread.Thread{ID: jvmthread.ThreadID(id + 1), Name: fmt.Sprint("worker-", id+1)})
	}
	for id := range jvmthread.ClassID(4) {
		p.definitions = wire.AppendClass(p.definitions, wire.Class{ID: id + 1, Name: fmt.Sprint("com.acme.Lock", id+1)})
	}
	for id := range uint32(stacks) {
		p.definitions = wire.AppendMethod(p.definitions, &wire.Method{ID: wire.MethodID(id + 1), Class: 4, Name: fmt.Sprint("work", id+1), Signature: "()V"})
		p.definitions = wire.AppendStack(p.definitions, &wire.Stack{ID: jvmthread.StackID(id + 1), Frames: []wire.StackFrame{{Method: wire.MethodID(id + 1)}}})
	}
}

// take returns the events before a time of each thread, and of some threads a few later ones.
func (p *program) take(rng *rand.Rand, watermark, now jvmthread.Time) (sections []wire.Section) {
	for i := range p.lanes {
		l := &p.lanes[i]
		until := watermark + jvmthread.Time(rng.Int64N(int64(now-watermark)+1))
		n, _ := slices.BinarySearchFunc(l.events, until, func(ev jvmthread.Event, at jvmthread.Time) int { return int(ev.Time - at) })
		var events []jvmthread.Event
		if l.lost.Arg > 0 {
			events = append(events, l.lost)
			l.lost = jvmthread.Event{}
		}
		events = append(events, l.events[:n]...)
		l.events = l.events[n:]
		if len(events) > 0 {
			sections = append(sections, wire.Section{Thread: l.thread, Events: events})
		}
	}
	return sections
}

// drop loses the events before a time, as an agent without room does.
func (p *program) drop(until jvmthread.Time) (lost int) {
	for i := range p.lanes {
		l := &p.lanes[i]
		for len(l.events) > 0 && l.events[0].Time < until {
			if l.lost.Arg == 0 {
				l.lost = jvmthread.Event{Kind: jvmthread.KindGap, Thread: l.thread, Time: l.events[0].Time}
			}
			l.lost.Arg++
			lost++
			l.events = l.events[1:]
		}
	}
	return lost
}

// over reports whether everything was reported or lost.
func (p *program) over() bool {
	return !slices.ContainsFunc(p.lanes, func(l lane) bool { return len(l.events) > 0 || l.lost.Arg > 0 })
}
