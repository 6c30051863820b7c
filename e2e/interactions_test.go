// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program is a program with known interactions, and a check of its spans.
type program struct {
	name    string
	command []string
	run     func(t *testing.T, j jdk, endpoint, service string, command []string) func(t *testing.T, o *output)
}

var programs = []program{
	{"pingpong", []string{"PingPong", "200"}, checked(checkPingPong)},
	{"notifies", []string{"Notifies", "100"}, checked(checkNotifies)},
	{"startsjoins", []string{"StartsJoins", "20"}, checked(checkStartsJoins)},
	{"sleeps", []string{"Sleeps", "50"}, checked(checkSleeps)},
	{"timedwaits", []string{"TimedWaits", "40"}, checked(checkTimedWaits)},
	{"interrupts", []string{"Interrupts", "20"}, checked(checkInterrupts)},
}

// checked adapts a check of one kind of truth.
func checked[T any](check func(*testing.T, *output, string, T)) func(*testing.T, jdk, string, string, []string) func(*testing.T, *output) {
	return func(t *testing.T, j jdk, endpoint, service string, command []string) func(*testing.T, *output) {
		t.Helper()
		var truth T
		runJava(t, j, endpoint, service, &truth, command...)
		return func(t *testing.T, o *output) {
			t.Helper()
			check(t, o, service, truth)
		}
	}
}

// Tests look at the programs' own locks only: the JDK may lock on its own, for example when two threads initialize a class.

// TestInteractionsMatchThePrograms compares counts without tolerance, then checks the structure of the whole output.
func TestInteractionsMatchThePrograms(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, setup{})
		checks := map[string]func(*testing.T, *output){}
		var services []string
		for _, p := range programs {
			service := p.name + "-" + j.String()
			checks[p.name] = p.run(t, j, c.endpoint, service, p.command)
			services = append(services, service)
		}
		o := c.finish(t, services...)
		for _, p := range programs {
			t.Run(p.name, func(t *testing.T) { checks[p.name](t, o) })
		}
		t.Run("structure", func(t *testing.T) { checkStructure(t, o) })
		t.Run("nothing lost", func(t *testing.T) { checkNothingLost(t, o) })
	})
}

// clocks compares times of a program with those of its observer. Their wall clocks may differ, by as long as a thread was preempted between
// two readings, and may drift: the flight recorder counts ticks and relies on the processor's frequency. All comparisons must hold for one
// common difference.
type clocks struct {
	began           int64 // first reading of the program's clock
	least, most     int64 // bounds of the difference: program's clock minus observer's
	atLeast, atMost string
}

func newClocks(began int64) *clocks {
	return &clocks{began: began, least: math.MinInt64, most: math.MaxInt64}
}

// tolerance grows with time by the possible drift; some recordings round to microseconds.
func (c *clocks) tolerance(program int64) int64 { return microsecond + (program-c.began)/1000 }

// notBefore asserts that an observation happened when the program read its clock, or later.
func (c *clocks) notBefore(what string, program, watched int64) {
	if ahead := program - watched - c.tolerance(program); ahead > c.least {
		c.least, c.atLeast = ahead, what
	}
}

// notAfter asserts that an observation had happened when the program read its clock.
func (c *clocks) notAfter(what string, program, watched int64) {
	if ahead := program - watched + c.tolerance(program); ahead < c.most {
		c.most, c.atMost = ahead, what
	}
}

func (c *clocks) check(t *testing.T) {
	t.Helper()
	assert.LessOrEqual(t, c.least, c.most, "the program's clock is ahead by %d ns or more, as %s, and by %d ns or less, as %s", c.least, c.atLeast, c.most, c.atMost)
	const hour = int64(time.Hour)
	assert.True(t, -hour < c.most && c.least < hour, "times are those of the wall clock: the program's is ahead by %d to %d ns", c.least, c.most)
}

type pingPong struct {
	Handoffs int        `json:"handoffs"`
	Lock     string     `json:"lock"`
	Players  [2]int64   `json:"players"`
	Holds    [][2]int64 `json:"holds"`
}

// checkPingPong checks that player k mod 2 owns hold k, and that every hold but the first begins with a handoff.
//
//	ping  ──┤█ hold 0 █├─┤  blocked   ├┤█ hold 2 █├─
//	pong  ───┤  blocked ├┤█ hold 1 ███├┤  blocked ├─
//	                     └ link to ping's span of hold 0
func checkPingPong(t *testing.T, o *output, service string, truth pingPong) {
	t.Helper()
	links := o.links(service, "handoff")
	links = keep(links, func(l link) bool { return l.from.text("weft.lock.class") == truth.Lock })
	require.Len(t, links, truth.Handoffs)
	require.Len(t, truth.Holds, truth.Handoffs+1)
	watch := newClocks(truth.Holds[0][0])
	for i, l := range links {
		hold, next := truth.Holds[i], truth.Holds[i+1]
		assert.Equal(t, "blocked", l.from.text("weft.state"), "link %d", i)
		assert.Equal(t, truth.Players[(i+1)%2], l.from.number("thread.id"), "link %d is on the thread that was blocked", i)
		assert.Positive(t, number(l.Attributes(), "weft.link.latency")+1, "link %d", i)
		if !assert.NotNil(t, l.to, "link %d points at a span that exists", i) {
			continue
		}
		assert.Equal(t, truth.Players[i%2], l.to.number("thread.id"), "link %d points at the thread that held the lock", i)
		in := fmt.Sprintf("link %d of hold %d", i, i)
		watch.notAfter(in+" (who held the lock)", hold[1], l.to.began())
		watch.notBefore(in+" (who held the lock)", hold[0], l.to.end())
		watch.notBefore(in+" (blocked from then on)", hold[0], l.from.began())
		watch.notAfter(in+" (blocked from then on)", hold[1], l.from.began())
		watch.notBefore(in+" (blocked until then)", hold[1], l.from.end())
		watch.notAfter(in+" (blocked until then)", next[0], l.from.end())
	}
	watch.check(t)
	began := o.of(service, func(s *span) bool {
		return s.text("weft.state") == "blocked" && s.text("weft.lock.class") == truth.Lock && !s.has("weft.interval.start")
	})
	assert.Len(t, began, truth.Handoffs, "blocked intervals")
	assert.EqualValues(t, truth.Handoffs, o.lockTotal(service, truth.Lock, "weft.lock.contentions"))
	assert.EqualValues(t, truth.Handoffs, o.lockTotal(service, truth.Lock, "weft.lock.handoffs"))
}

type notifies struct {
	Notifies int     `json:"notifies"`
	Bell     string  `json:"bell"`
	Listener int64   `json:"listener"`
	Ringer   int64   `json:"ringer"`
	Woken    int     `json:"woken"`
	Gong     string  `json:"gong"`
	Crowd    []int64 `json:"crowd"`
	Striker  int64   `json:"striker"`
}

func checkNotifies(t *testing.T, o *output, service string, truth notifies) {
	t.Helper()
	links := keep(o.links(service, "notify"), func(l link) bool { return l.from.text("weft.lock.class") == truth.Bell })
	assert.Len(t, links, truth.Notifies)
	for i, l := range links {
		assert.Equal(t, "waiting", l.from.text("weft.state"), "link %d", i)
		assert.Equal(t, truth.Listener, l.from.number("thread.id"), "link %d", i)
		if assert.NotNil(t, l.to, "link %d points at a span that exists", i) {
			assert.Equal(t, truth.Ringer, l.to.number("thread.id"), "link %d", i)
		}
	}
	assert.Equal(t, truth.Notifies, o.began(service, truth.Listener, "waiting", truth.Bell))
	assert.EqualValues(t, truth.Notifies, o.lockTotal(service, truth.Bell, "weft.lock.waits"))

	links = keep(o.links(service, "notify_all"), func(l link) bool { return l.from.text("weft.lock.class") == truth.Gong })
	assert.Len(t, links, truth.Woken)
	var woken []int64
	for i, l := range links {
		woken = append(woken, l.from.number("thread.id"))
		if assert.NotNil(t, l.to, "link %d points at a span that exists", i) {
			assert.Equal(t, truth.Striker, l.to.number("thread.id"), "link %d", i)
		}
	}
	assert.ElementsMatch(t, truth.Crowd, woken)
}

type startsJoins struct {
	Starts  int     `json:"starts"`
	Joins   int     `json:"joins"`
	Main    int64   `json:"main"`
	Workers []int64 `json:"workers"`
}

func checkStartsJoins(t *testing.T, o *output, service string, truth startsJoins) {
	t.Helper()
	workers := map[int64]bool{}
	for _, id := range truth.Workers {
		workers[id] = true
	}
	var started, joined []int64
	for i, l := range keep(o.links(service, "start"), func(l link) bool { return workers[l.from.number("thread.id")] }) {
		started = append(started, l.from.number("thread.id"))
		if assert.NotNil(t, l.to, "link %d points at a span that exists", i) {
			assert.Equal(t, truth.Main, l.to.number("thread.id"), "link %d", i)
		}
	}
	assert.ElementsMatch(t, truth.Workers, started)

	links := keep(o.links(service, "join"), func(l link) bool { return l.from.number("thread.id") == truth.Main })
	assert.Len(t, links, truth.Joins)
	for i, l := range links {
		assert.Equal(t, "joining", l.from.text("weft.state"), "link %d", i)
		if assert.NotNil(t, l.to, "link %d points at a span that exists", i) {
			joined = append(joined, l.to.number("thread.id"))
			assert.Equal(t, l.to.number("thread.id"), l.from.number("weft.joined.thread.id"), "link %d", i)
		}
	}
	assert.Equal(t, truth.Workers, joined, "order of joins")
}

type sleeps struct {
	Sleeps  int   `json:"sleeps"`
	Millis  int64 `json:"millis"`
	Sleeper int64 `json:"sleeper"`
}

func checkSleeps(t *testing.T, o *output, service string, truth sleeps) {
	t.Helper()
	assert.EqualValues(t, truth.Sleeps, o.total(service, truth.Sleeper, "weft.count.sleeping"))
	assert.GreaterOrEqual(t, o.total(service, truth.Sleeper, "weft.time.sleeping"), int64(truth.Sleeps)*truth.Millis*1e6)
}

type timedWaits struct {
	TimedOut int    `json:"timed_out"`
	Notified int    `json:"notified"`
	Lock     string `json:"lock"`
	Waiter   int64  `json:"waiter"`
	Firing   int64  `json:"firing"`
}

func checkTimedWaits(t *testing.T, o *output, service string, truth timedWaits) {
	t.Helper()
	timedOut := 0
	for _, s := range o.states(service, truth.Waiter, "waiting") {
		if s.text("weft.lock.class") != truth.Lock {
			continue
		}
		if value, ok := s.Attributes().Get("weft.wait.timed_out"); ok && value.Bool() {
			timedOut++
			assert.Equal(t, "timeout", s.text("weft.wait.cause"))
			assert.EqualValues(t, 4_000_000, s.number("weft.wait.timeout"))
		}
	}
	assert.Equal(t, truth.TimedOut, timedOut)
	links := keep(o.links(service, "notify"), func(l link) bool { return l.from.text("weft.lock.class") == truth.Lock })
	assert.Len(t, links, truth.Notified)
	for i, l := range links {
		assert.Equal(t, truth.Waiter, l.from.number("thread.id"), "link %d", i)
		if assert.NotNil(t, l.to, "link %d points at a span that exists", i) {
			assert.Equal(t, truth.Firing, l.to.number("thread.id"), "link %d", i)
		}
	}
	assert.Equal(t, truth.TimedOut+truth.Notified, o.began(service, truth.Waiter, "waiting", truth.Lock))
}

type interrupts struct {
	Waits       int    `json:"waits"`
	Sleeps      int    `json:"sleeps"`
	Lock        string `json:"lock"`
	Interrupted int64  `json:"interrupted"`
	Interrupter int64  `json:"interrupter"`
}

func checkInterrupts(t *testing.T, o *output, service string, truth interrupts) {
	t.Helper()
	assert.Equal(t, truth.Waits, o.began(service, truth.Interrupted, "waiting", truth.Lock))
	assert.EqualValues(t, truth.Sleeps, o.total(service, truth.Interrupted, "weft.count.sleeping"))
	links := keep(o.links(service, "interrupt"), func(l link) bool { return l.from.number("thread.id") == truth.Interrupted })
	assert.Len(t, links, truth.Waits+truth.Sleeps)
	for i, l := range links {
		if assert.NotNil(t, l.to, "link %d points at a span that exists", i) {
			assert.Equal(t, truth.Interrupter, l.to.number("thread.id"), "link %d", i)
		}
	}
}

func keep(links []link, condition func(link) bool) []link {
	var kept []link
	for _, l := range links {
		if condition(l) {
			kept = append(kept, l)
		}
	}
	return kept
}

// TestDeadlockInEveryWindow checks that two threads waiting for each other are deadlocked in every window from then on.
func TestDeadlockInEveryWindow(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, setup{})
		jvm := java(t, j, c.endpoint, "stuck", "Deadlock")
		poll(t, "the threads are deadlocked", func() bool { return len(jvm.outLines()) > 0 })
		var truth struct {
			Deadlocked []int64 `json:"deadlocked"`
		}
		jvm.truth(t, &truth)
		var o *output
		poll(t, "they are in three windows", func() bool {
			o = c.spans(t)
			for _, thread := range truth.Deadlocked {
				if len(o.states("stuck", thread, "deadlocked")) < 3 {
					return false
				}
			}
			return true
		})
		c.terminate(t)
		o = c.spans(t)
		checkStructure(t, o)
		deadlocks := map[string]bool{}
		for _, root := range o.roots("stuck") {
			for _, event := range root.Events().All() {
				if id, ok := event.Attributes().Get("weft.deadlock.id"); ok {
					deadlocks[id.Str()] = true
				}
			}
		}
		assert.Len(t, deadlocks, 1, "reported once")
		for _, thread := range truth.Deadlocked {
			states := o.states("stuck", thread, "deadlocked")
			require.NotEmpty(t, states, "thread %d", thread)
			for _, s := range states {
				assert.True(t, deadlocks[s.text("weft.deadlock.id")], "id of the deadlock")
			}
		}
	})
}
