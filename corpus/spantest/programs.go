// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// PingPong is what PingPong.java knows.
type PingPong struct {
	Handoffs int        `json:"handoffs"`
	Lock     string     `json:"lock"`
	Players  [2]int64   `json:"players"`
	Holds    [][2]int64 `json:"holds"`
}

// CheckPingPong checks that player k mod 2 owns hold k, and that every hold but the first begins with a handoff.
//
//	ping  ──┤█ hold 0 █├─┤  blocked   ├┤█ hold 2 █├─
//	pong  ───┤  blocked ├┤█ hold 1 ███├┤  blocked ├─
//	                     └ link to ping's span of hold 0
func CheckPingPong(t T, o *Output, service string, truth PingPong) {
	t.Helper()
	links := o.Links(service, "handoff")
	links = Keep(links, func(l Link) bool { return l.From.Text("weft.lock.class") == truth.Lock })
	require.Len(t, links, truth.Handoffs)
	require.Len(t, truth.Holds, truth.Handoffs+1)
	watch := NewClocks(truth.Holds[0][0])
	for i, l := range links {
		hold, next := truth.Holds[i], truth.Holds[i+1]
		assert.Equal(t, "blocked", l.From.Text("weft.state"), "link %d", i)
		assert.Equal(t, truth.Players[(i+1)%2], l.From.Number("thread.id"), "link %d is on the thread that was blocked", i)
		assert.Positive(t, Number(l.Attributes(), "weft.link.latency")+1, "link %d", i)
		if !assert.NotNil(t, l.To, "link %d points at a span that exists", i) {
			continue
		}
		assert.Equal(t, truth.Players[i%2], l.To.Number("thread.id"), "link %d points at the thread that held the lock", i)
		in := fmt.Sprintf("link %d of hold %d", i, i)
		watch.NotAfter(in+" (who held the lock)", hold[1], l.To.Began())
		watch.NotBefore(in+" (who held the lock)", hold[0], l.To.End())
		watch.NotBefore(in+" (blocked from then on)", hold[0], l.From.Began())
		watch.NotAfter(in+" (blocked from then on)", hold[1], l.From.Began())
		watch.NotBefore(in+" (blocked until then)", hold[1], l.From.End())
		watch.NotAfter(in+" (blocked until then)", next[0], l.From.End())
	}
	watch.Check(t)
	began := o.Of(service, func(s *Span) bool {
		return s.Text("weft.state") == "blocked" && s.Text("weft.lock.class") == truth.Lock && !s.Has("weft.interval.start")
	})
	assert.Len(t, began, truth.Handoffs, "blocked intervals")
	assert.EqualValues(t, truth.Handoffs, o.LockTotal(service, truth.Lock, "weft.lock.contentions"))
	assert.EqualValues(t, truth.Handoffs, o.LockTotal(service, truth.Lock, "weft.lock.handoffs"))
}

// Notifies is what Notifies.java knows.
type Notifies struct {
	Notifies int     `json:"notifies"`
	Bell     string  `json:"bell"`
	Listener int64   `json:"listener"`
	Ringer   int64   `json:"ringer"`
	Woken    int     `json:"woken"`
	Gong     string  `json:"gong"`
	Crowd    []int64 `json:"crowd"`
	Striker  int64   `json:"striker"`
}

// CheckNotifies checks that each notification has a link to the thread that sent it.
func CheckNotifies(t T, o *Output, service string, truth Notifies) {
	t.Helper()
	links := Keep(o.Links(service, "notify"), func(l Link) bool { return l.From.Text("weft.lock.class") == truth.Bell })
	assert.Len(t, links, truth.Notifies)
	for i, l := range links {
		assert.Equal(t, "waiting", l.From.Text("weft.state"), "link %d", i)
		assert.Equal(t, truth.Listener, l.From.Number("thread.id"), "link %d", i)
		if assert.NotNil(t, l.To, "link %d points at a span that exists", i) {
			assert.Equal(t, truth.Ringer, l.To.Number("thread.id"), "link %d", i)
		}
	}
	assert.Equal(t, truth.Notifies, o.Began(service, truth.Listener, "waiting", truth.Bell))
	assert.EqualValues(t, truth.Notifies, o.LockTotal(service, truth.Bell, "weft.lock.waits"))

	links = Keep(o.Links(service, "notify_all"), func(l Link) bool { return l.From.Text("weft.lock.class") == truth.Gong })
	assert.Len(t, links, truth.Woken)
	var woken []int64
	for i, l := range links {
		woken = append(woken, l.From.Number("thread.id"))
		if assert.NotNil(t, l.To, "link %d points at a span that exists", i) {
			assert.Equal(t, truth.Striker, l.To.Number("thread.id"), "link %d", i)
		}
	}
	assert.ElementsMatch(t, truth.Crowd, woken)
}

// StartsJoins is what StartsJoins.java knows.
type StartsJoins struct {
	Starts  int     `json:"starts"`
	Joins   int     `json:"joins"`
	Main    int64   `json:"main"`
	Workers []int64 `json:"workers"`
}

// CheckStartsJoins checks who started and joined the workers, and the order of joins.
func CheckStartsJoins(t T, o *Output, service string, truth StartsJoins) {
	t.Helper()
	workers := map[int64]bool{}
	for _, id := range truth.Workers {
		workers[id] = true
	}
	var started, joined []int64
	for i, l := range Keep(o.Links(service, "start"), func(l Link) bool { return workers[l.From.Number("thread.id")] }) {
		started = append(started, l.From.Number("thread.id"))
		if assert.NotNil(t, l.To, "link %d points at a span that exists", i) {
			assert.Equal(t, truth.Main, l.To.Number("thread.id"), "link %d", i)
		}
	}
	assert.ElementsMatch(t, truth.Workers, started)

	links := Keep(o.Links(service, "join"), func(l Link) bool { return l.From.Number("thread.id") == truth.Main })
	assert.Len(t, links, truth.Joins)
	for i, l := range links {
		assert.Equal(t, "joining", l.From.Text("weft.state"), "link %d", i)
		if assert.NotNil(t, l.To, "link %d points at a span that exists", i) {
			joined = append(joined, l.To.Number("thread.id"))
			assert.Equal(t, l.To.Number("thread.id"), l.From.Number("weft.joined.thread.id"), "link %d", i)
		}
	}
	assert.Equal(t, truth.Workers, joined, "order of joins")
}

// Sleeps is what Sleeps.java knows.
type Sleeps struct {
	Sleeps  int   `json:"sleeps"`
	Millis  int64 `json:"millis"`
	Sleeper int64 `json:"sleeper"`
}

// CheckSleeps checks the number of sleeps and their least time.
func CheckSleeps(t T, o *Output, service string, truth Sleeps) {
	t.Helper()
	assert.EqualValues(t, truth.Sleeps, o.Total(service, truth.Sleeper, "weft.count.sleeping"))
	assert.GreaterOrEqual(t, o.Total(service, truth.Sleeper, "weft.time.sleeping"), int64(truth.Sleeps)*truth.Millis*1e6)
}

// TimedWaits is what TimedWaits.java knows.
type TimedWaits struct {
	TimedOut int    `json:"timed_out"`
	Notified int    `json:"notified"`
	Lock     string `json:"lock"`
	Waiter   int64  `json:"waiter"`
	Firing   int64  `json:"firing"`
}

// CheckTimedWaits checks which waits timed out, and who ended the others.
func CheckTimedWaits(t T, o *Output, service string, truth TimedWaits) {
	t.Helper()
	timedOut := 0
	for _, s := range o.States(service, truth.Waiter, "waiting") {
		if s.Text("weft.lock.class") != truth.Lock {
			continue
		}
		if value, ok := s.Attributes().Get("weft.wait.timed_out"); ok && value.Bool() {
			timedOut++
			assert.Equal(t, "timeout", s.Text("weft.wait.cause"))
			assert.EqualValues(t, 4_000_000, s.Number("weft.wait.timeout"))
		}
	}
	assert.Equal(t, truth.TimedOut, timedOut)
	links := Keep(o.Links(service, "notify"), func(l Link) bool { return l.From.Text("weft.lock.class") == truth.Lock })
	assert.Len(t, links, truth.Notified)
	for i, l := range links {
		assert.Equal(t, truth.Waiter, l.From.Number("thread.id"), "link %d", i)
		if assert.NotNil(t, l.To, "link %d points at a span that exists", i) {
			assert.Equal(t, truth.Firing, l.To.Number("thread.id"), "link %d", i)
		}
	}
	assert.Equal(t, truth.TimedOut+truth.Notified, o.Began(service, truth.Waiter, "waiting", truth.Lock))
}

// Interrupts is what Interrupts.java knows.
type Interrupts struct {
	Waits       int    `json:"waits"`
	Sleeps      int    `json:"sleeps"`
	Lock        string `json:"lock"`
	Interrupted int64  `json:"interrupted"`
	Interrupter int64  `json:"interrupter"`
}

// CheckInterrupts checks who interrupted the waits and sleeps.
func CheckInterrupts(t T, o *Output, service string, truth Interrupts) {
	t.Helper()
	assert.Equal(t, truth.Waits, o.Began(service, truth.Interrupted, "waiting", truth.Lock))
	assert.EqualValues(t, truth.Sleeps, o.Total(service, truth.Interrupted, "weft.count.sleeping"))
	links := Keep(o.Links(service, "interrupt"), func(l Link) bool { return l.From.Number("thread.id") == truth.Interrupted })
	assert.Len(t, links, truth.Waits+truth.Sleeps)
	for i, l := range links {
		if assert.NotNil(t, l.To, "link %d points at a span that exists", i) {
			assert.Equal(t, truth.Interrupter, l.To.Number("thread.id"), "link %d", i)
		}
	}
}

// Keep returns the links that meet a condition.
func Keep(links []Link, condition func(Link) bool) []Link {
	var kept []Link
	for _, l := range links {
		if condition(l) {
			kept = append(kept, l)
		}
	}
	return kept
}
