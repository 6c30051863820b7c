// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/viewapi"
)

// A ConcurrentHashMap locks objects of several classes, and is one.
func TestLocksOfAMapAreOne(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	put := sym.InternStack("at java.util.concurrent.ConcurrentHashMap.putVal(ConcurrentHashMap.java:1)\nat com.acme.Prices.load(Prices.java:7)")
	bins := []jvmthread.LockID{
		{Class: sym.InternClass("java.util.concurrent.ConcurrentHashMap$Node"), Hash: 1},
		{Class: sym.InternClass("java.util.concurrent.ConcurrentHashMap$ReservationNode"), Hash: 2},
	}
	events := []jvmthread.Event{{Time: 100, Thread: 1, Kind: jvmthread.KindThreadStart}}
	for i, bin := range bins {
		id := jvmthread.ThreadID(i + 2)
		events = append(events,
			jvmthread.Event{Time: 100, Thread: id, Kind: jvmthread.KindThreadStart},
			jvmthread.Event{Time: 20_000_000, Thread: id, Peer: 1, Lock: bin, Kind: jvmthread.KindContendedEnter, Stack: put},
			jvmthread.Event{Time: 90_000_000, Thread: id, Lock: bin, Kind: jvmthread.KindContendedEntered},
		)
	}
	slices.SortStableFunc(events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
	events = append(events, jvmthread.Event{Time: 100_000_000, Thread: 1, Kind: jvmthread.KindThreadEnd})
	answer := ask[viewapi.Answer](fixtureOf(t, sym, events, time.Hour), "/answer?costs=9")
	require.Len(t, answer.Costs, 1)
	assert.Equal(t, "ConcurrentHashMap", answer.Costs[0].Name)
	assert.Equal(t, "com.acme.Prices.load", answer.Costs[0].Caller)
	assert.Equal(t, int64(140_000_000), answer.Costs[0].Time)
}

// An interval shows where its thread called notifyAll, once for all threads that this woke.
func TestEffectsShowTheStackOfTheCall(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("com.acme.Gate"), Hash: 1}
	call := sym.InternStack("at java.lang.Object.notifyAll(Native Method)\nat com.acme.Gate.open(Gate.java:7)")
	f := fixtureOf(t, sym, []jvmthread.Event{
		{Time: 100, Thread: 1, Kind: jvmthread.KindThreadStart},
		{Time: 100, Thread: 2, Kind: jvmthread.KindThreadStart},
		{Time: 100, Thread: 3, Kind: jvmthread.KindThreadStart},
		{Time: 200, Thread: 2, Lock: lock, Kind: jvmthread.KindWait},
		{Time: 210, Thread: 3, Lock: lock, Kind: jvmthread.KindWait},
		{Time: 500, Thread: 1, Lock: lock, Kind: jvmthread.KindNotifyAll, Stack: call},
		{Time: 510, Thread: 2, Lock: lock, Kind: jvmthread.KindWaited},
		{Time: 520, Thread: 2, Lock: lock, Kind: jvmthread.KindWaitReturned},
		{Time: 530, Thread: 3, Lock: lock, Kind: jvmthread.KindWaited},
		{Time: 540, Thread: 3, Lock: lock, Kind: jvmthread.KindWaitReturned},
		{Time: 900, Thread: 1, Kind: jvmthread.KindThreadEnd},
	}, time.Hour)
	effects := ask[viewapi.Interval](f, "/interval?thread=1&at=300").Effects
	require.GreaterOrEqual(t, len(effects), 2)
	require.NotNil(t, effects[0].Stack)
	assert.Equal(t, "com.acme.Gate.open(Gate.java:7)", effects[0].Stack.Frames[effects[0].Stack.Caller])
	assert.Nil(t, effects[1].Stack)
}
