// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/corpus/spantest"
)

// lane returns the states of a thread in the order of time.
func (r *run) lane(thread int64) []*spantest.Span {
	return r.Of(r.service, func(s *spantest.Span) bool { return s.IsState() && s.Number("thread.id") == thread })
}

// holdCase is a thread that holds a monitor after Object.wait, and one that waits for it.
type holdCase struct {
	Virtual, VirtualOther, Timeout bool
	Holder, Other                  int64
	Turns                          [][3]int64 // owned again, released, got by the other
}

// checkHolds checks threads that leave Object.wait: they run and hold the monitor, and who waits for it gets it when they release it.
func checkHolds(t spantest.T, r *run) {
	t.Helper()
	var truth struct{ Cases []holdCase }
	r.know(t, &truth)
	assert.Len(t, truth.Cases, 8)
	watch := spantest.NewClocks(truth.Cases[0].Turns[0][0])
	for _, c := range truth.Cases {
		name := fmt.Sprintf("holder virtual: %v, other: %v, timeout: %v", c.Virtual, c.VirtualOther, c.Timeout)
		holder := r.lane(c.Holder)
		blocked := slices.DeleteFunc(r.lane(c.Other), func(s *spantest.Span) bool { return s.Text("weft.state") != "blocked" })
		if !assert.Len(t, blocked, len(c.Turns), name) {
			continue
		}
		for i, turn := range c.Turns {
			in := fmt.Sprintf("%s, turn %d", name, i)
			middle := turn[0]/2 + turn[1]/2
			ran := slices.IndexFunc(holder, func(s *spantest.Span) bool { return s.Begin() <= middle && middle < s.End() })
			if assert.GreaterOrEqual(t, ran, 0, in) {
				assert.Equal(t, "runnable", holder[ran].Text("weft.state"), in)
				watch.NotAfter(in+" (ran)", turn[0], holder[ran].Begin())
				watch.NotBefore(in+" (ran)", turn[1], holder[ran].End())
			}
			checkBlockedTurn(t, r, &c, blocked[i], in)
			watch.NotAfter(in+" (blocked from then on)", turn[1], blocked[i].Begin())
			watch.NotBefore(in+" (blocked until then)", turn[1], blocked[i].End())
			watch.NotAfter(in+" (blocked until then)", turn[2], blocked[i].End())
		}
	}
	watch.Check(t)
}

// checkBlockedTurn checks a wait that ended as the holder released the monitor.
func checkBlockedTurn(t spantest.T, r *run, c *holdCase, s *spantest.Span, in string) {
	t.Helper()
	assert.Equal(t, "holder", s.Text("weft.lock.holder.thread.name"), in)
	if !assert.Equal(t, []string{"handoff"}, s.LinkKinds(), in) {
		return
	}
	l := s.Links().At(0)
	to := r.ByID[spantest.ID{Trace: l.TraceID(), Span: l.SpanID()}]
	if assert.NotNil(t, to, in) {
		assert.Equal(t, c.Holder, to.Number("thread.id"), in)
	}
}

// waitEnds are threads whose waits ended in a known way.
type waitEnds struct {
	Turns int
	Cases []waitEnd
}

type waitEnd struct {
	Way, End      string
	Virtual       bool
	Thread, Other int64
}

// known reports whether the agent sees what ends the waits of a thread: before JDK 24, it sees the timeouts of virtual threads, and on each JDK their
// unparks, if it changes their class only.
func (c *waitEnd) known(exact bool, jdk int) bool {
	return !c.Virtual || exact || c.End == "interrupt" || c.Way == "lock" || c.End != "unpark" && jdk >= 24
}

// early is how many timeouts may elapse before the thread has parked: before JDK 24, the timer of a virtual thread starts earlier.
func (c *waitEnd) early(turns, jdk int) int {
	if c.End == "timeout" && c.Virtual && jdk < 24 {
		return turns / 10
	}
	return 0
}

// checkEnds compares the ends of waits with what a program knows: by a timeout, by an owner that releases a lock, by an interrupt or by an unpark.
func checkEnds(exact bool) func(t spantest.T, r *run) {
	return func(t spantest.T, r *run) {
		t.Helper()
		var truth waitEnds
		r.know(t, &truth)
		assert.Len(t, truth.Cases, 40)
		for _, c := range truth.Cases {
			name := fmt.Sprintf("%s by %s, virtual: %v", c.Way, c.End, c.Virtual)
			causes, waits := map[string]int{}, 0
			for _, s := range r.lane(c.Thread) {
				if s.Text("weft.state") != "parked" && s.Text("weft.state") != "sleeping" {
					continue
				}
				waits++
				causes[cmp.Or(s.Text("weft.wait.cause"), "timeout")]++ // a sleep of a platform thread needs no cause
				checkEnder(t, r, &c, s, name)
			}
			least := truth.Turns - c.early(truth.Turns, r.jdk)
			assert.GreaterOrEqual(t, waits, least, name)
			if c.known(exact, r.jdk) {
				assert.GreaterOrEqual(t, causes[c.End], least, "%s: %v", name, causes)
			}
			assert.LessOrEqual(t, causes[c.End], truth.Turns, "%s: %v", name, causes)
			assert.Equal(t, waits, causes[c.End]+causes["unknown"], "%s: %v", name, causes)
			if c.End != "unpark" { // else the thread parks again if a park returns on its own
				assert.LessOrEqual(t, waits, truth.Turns, name)
			}
		}
	}
}

// checkEnder checks that no thread but the other one ended a wait, and none at all if it timed out.
func checkEnder(t spantest.T, r *run, c *waitEnd, s *spantest.Span, name string) {
	t.Helper()
	for _, l := range s.Links().All() {
		assert.NotEqual(t, "timeout", c.End, name)
		to := r.ByID[spantest.ID{Trace: l.TraceID(), Span: l.SpanID()}]
		if assert.NotNil(t, to, name) {
			assert.Equal(t, c.Other, to.Number("thread.id"), name)
		}
	}
}
