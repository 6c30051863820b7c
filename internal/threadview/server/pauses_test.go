// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// What a thread seemed to run on its path is cut at pauses, in sums, in the sentence and in each step.
func TestPathIsCutAtPauses(t *testing.T) {
	for _, length := range []time.Duration{time.Second, 35 * time.Millisecond} {
		sym := symbols.New(symbols.DefaultLimits())
		f := fixtureOf(t, sym, stoppedJVM(sym), length)
		path := ask[viewapi.Path](f, "/path?thread=1")
		times := map[string]int64{}
		for _, p := range path.Parts {
			times[p.Name] += p.Time
		}
		assert.Equal(t, map[string]int64{"runnable": 120 * ms, "stopped for garbage collection": 80 * ms, "ended": 1}, times)
		assert.Equal(t, "compactor took 200 ms: 60 % runnable, 40 % stopped for garbage collection.", path.Text)
		why := ask[viewapi.Why](f, "/why?thread=1")
		assert.Equal(t, "200 ms: 120 ms runnable; 80 ms stopped for garbage collection", why.Text)
		var steps []int64
		for _, s := range why.Steps {
			steps = append(steps, s.To-s.From)
		}
		assert.Equal(t, []int64{19 * ms, 30 * ms, 10 * ms, 50 * ms, 91 * ms, 1}, steps)
	}
}

// stoppedJVM is the history of a thread that holds a monitor for 100 ms, in 80 of which a collection stops the JVM, while another one waits for it.
func stoppedJVM(sym *symbols.Table) []jvmthread.Event {
	lock := jvmthread.LockID{Class: sym.InternClass("com.acme.Cart"), Hash: 7}
	add := sym.InternStack("at com.acme.Cart.add(Cart.java:7)\nat java.lang.Thread.run(Thread.java:1)")
	collection := jvmthread.LockID{Class: sym.InternClass("garbage collection")}
	sym.SetThread(jvmthread.Thread{ID: 1, Name: "compactor", Group: "main"})
	sym.SetThread(jvmthread.Thread{ID: 2, Name: "request", Group: "main"})
	sym.SetThread(jvmthread.Thread{ID: jvmthread.PausesThread, Name: jvmthread.PausesName, Group: "system"})
	events := []jvmthread.Event{
		{Time: 1, Thread: 1, Kind: jvmthread.KindThreadStart},
		{Time: 1, Thread: 2, Kind: jvmthread.KindThreadStart},
		{Time: 10, Thread: 2, Kind: jvmthread.KindContendedEnter, Lock: lock, Peer: 1, Stack: add},
		{Time: 20, Thread: jvmthread.PausesThread, Kind: jvmthread.KindPark, Lock: collection},
		{Time: 50, Thread: jvmthread.PausesThread, Kind: jvmthread.KindUnparked},
		{Time: 50, Thread: jvmthread.PausesThread, Kind: jvmthread.KindGap},
		{Time: 60, Thread: jvmthread.PausesThread, Kind: jvmthread.KindPark, Lock: collection},
		{Time: 110, Thread: jvmthread.PausesThread, Kind: jvmthread.KindUnparked},
		{Time: 110, Thread: jvmthread.PausesThread, Kind: jvmthread.KindGap},
		{Time: 110, Thread: 2, Kind: jvmthread.KindContendedEntered, Lock: lock, Peer: 1},
		{Time: 201, Thread: 1, Kind: jvmthread.KindThreadEnd},
		{Time: 201, Thread: 2, Kind: jvmthread.KindThreadEnd},
	}
	for i := range events {
		events[i].Time *= jvmthread.Time(ms)
	}
	return events
}

func TestHolderStoodStill(t *testing.T) {
	for _, length := range []time.Duration{time.Second, 35 * time.Millisecond} { // within a window, and across their borders
		sym := symbols.New(symbols.DefaultLimits())
		f := fixtureOf(t, sym, stoppedJVM(sym), length)
		answer := ask[viewapi.Answer](f, "/answer")
		assert.Equal(t, viewapi.Pauses{Count: 2, Time: 80 * ms, Longest: 50 * ms}, answer.Pauses)
		require.NotNil(t, answer.Most)
		holder := answer.Most.Holders[0]
		assert.Equal(t, "stopped for garbage collection", holder.Text)
		assert.Equal(t, 0.8, holder.Part)
		assert.Equal(t, "compactor held Cart for 100 ms, mostly stopped for garbage collection; request waited 100 ms for it. "+
			"Garbage collection stopped the JVM for 80 ms, 40 % of the time (2 pauses, the longest 50 ms).", wording.Plain(answer.Text))
	}
}
