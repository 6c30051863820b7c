// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import "github.com/stretchr/testify/assert"

// Parks is what Parks.java knows.
type Parks struct {
	Unparks  int    `json:"unparks"`
	Gate     string `json:"gate"`
	Sleeper  int64  `json:"sleeper"`
	Waker    int64  `json:"waker"`
	Permit   string `json:"permit"`
	Taker    int64  `json:"taker"`
	Giver    int64  `json:"giver"`
	Follower int64  `json:"follower"`
	Holder   int64  `json:"holder"`
}

// CheckParks checks that each unpark that wakes a parked thread has one link, and an unpark before the park has none.
func CheckParks(t T, o *Output, service string, truth Parks) {
	t.Helper()
	const lock = "java.util.concurrent.locks.ReentrantLock$NonfairSync"
	of := func(class, kind string) []Link {
		return Keep(o.Links(service, kind), func(l Link) bool { return l.From.Text("weft.lock.class") == class })
	}
	checkUnparks(t, of(truth.Gate, "unpark"), truth.Unparks, truth.Sleeper, truth.Waker)
	handed := Keep(of(lock, "handoff"), func(l Link) bool { return l.From.Number("thread.id") == truth.Follower }) // the JDK uses such locks, too
	checkUnparks(t, handed, truth.Unparks, truth.Follower, truth.Holder)
	assert.Empty(t, of(truth.Permit, "unpark"), "an available permit ends the park at once")
	for _, pair := range []struct {
		class         string
		parked, other int64
	}{
		{truth.Gate, truth.Sleeper, truth.Waker},
		{truth.Permit, truth.Taker, truth.Giver},
		{lock, truth.Follower, truth.Holder},
	} {
		assert.Equal(t, truth.Unparks, o.Began(service, pair.parked, "parked", pair.class), "thread %d", pair.parked)
		assert.Zero(t, o.Began(service, pair.other, "parked", pair.class), "thread %d", pair.other)
	}
	for i, l := range handed {
		if assert.NotNil(t, l.To, "link %d", i) {
			assert.Equal(t, l.To.Text("thread.name"), l.From.Text("weft.lock.holder.thread.name"), "link %d", i)
		}
	}
}

func checkUnparks(t T, links []Link, count int, woken, waker int64) {
	t.Helper()
	assert.Len(t, links, count)
	for i, l := range links {
		assert.Equal(t, "parked", l.From.Text("weft.state"), "link %d", i)
		assert.Equal(t, woken, l.From.Number("thread.id"), "link %d is on the thread that was parked", i)
		assert.GreaterOrEqual(t, Number(l.Attributes(), "weft.link.latency"), int64(0), "link %d", i)
		if assert.NotNil(t, l.To, "link %d points at a span that exists", i) {
			assert.Equal(t, waker, l.To.Number("thread.id"), "link %d", i)
		}
	}
}
