// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// reader is the history of a thread that reads from a socket from 10 to 90 ms with a lock, for which another waits from 20.
func reader(sym *symbols.Table) []jvmthread.Event {
	lock := jvmthread.LockID{Class: sym.InternClass("com.acme.Rates"), Hash: 7}
	socket := jvmthread.LockID{Class: sym.InternClass("reading from 10.0.0.7:5432")}
	read := sym.InternStack("at sun.nio.ch.SocketDispatcher.read0(Native Method)\nat com.acme.Rates.fetch(Rates.java:9)\nat java.lang.Thread.run(Thread.java:1)")
	get := sym.InternStack("at com.acme.Rates.get(Rates.java:5)\nat java.lang.Thread.run(Thread.java:1)")
	for i, name := range []string{"refresher", "request"} {
		sym.SetThread(jvmthread.Thread{ID: jvmthread.ThreadID(i + 1), Name: name, Group: "main"})
	}
	at := func(milliseconds int64) jvmthread.Time { return jvmthread.Time(milliseconds * ms) }
	return []jvmthread.Event{
		{Time: at(1), Thread: 1, Kind: jvmthread.KindThreadStart},
		{Time: at(1), Thread: 2, Kind: jvmthread.KindThreadStart},
		{Time: at(10), Thread: 1, Kind: jvmthread.KindPark, Lock: socket, Stack: read},
		{Time: at(20), Thread: 2, Kind: jvmthread.KindContendedEnter, Lock: lock, Stack: get, Peer: 1},
		{Time: at(90), Thread: 1, Kind: jvmthread.KindUnparked},
		{Time: at(95), Thread: 2, Kind: jvmthread.KindContendedEntered, Lock: lock},
		{Time: at(100), Thread: 1, Kind: jvmthread.KindThreadEnd},
	}
}

// A thread that reads is parked for the engine, and in I/O for users, with the same words everywhere.
func TestThreadsInIOAreShownAsSuch(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	f := fixtureOf(t, sym, reader(sym), time.Second)
	const text = "reading from 10.0.0.7:5432"
	lane := ask[viewapi.Lanes](f, "/lanes?threads=1").Lanes[0]
	require.Len(t, lane.Labels, 1)
	assert.Equal(t, text, lane.Labels[0].Text)
	assert.Equal(t, int(store.StateIO), lane.Code[lane.Labels[0].Run]&15)
	assert.Equal(t, []int64{80 * ms}, ask[viewapi.Minimap](f, "/minimap?threads=1&width=1").Time[store.StateIO])

	iv := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=1&at=%d", 50*ms))
	assert.Equal(t, []any{int(store.StateIO), text, "io"}, []any{iv.State, iv.Title, iv.Wait})
	for _, span := range []string{"", fmt.Sprintf("&from=0&to=%d", 200*ms), fmt.Sprintf("&from=%d&to=%d", 0, 90*ms)} {
		sum := ask[viewapi.Threads](f, "/threads?threads=1"+span).Sum
		assert.Equal(t, viewapi.StateTime{Count: 1, Time: 80 * ms}, sum.IO, span)
		assert.Equal(t, sum.IO, sum.States[jvmthread.StateParked], span)
	}
	waiting := ask[viewapi.Waiting](f, fmt.Sprintf("/waiting?at=%d&state=io", 50*ms)).Rows
	require.Len(t, waiting, 1)
	assert.Equal(t, text, waiting[0].Object)

	assert.Nil(t, iv.Lock, "a socket is not a lock")
	assert.Len(t, ask[viewapi.Classes](f, "/classes").Classes, 1)

	holders := ask[viewapi.Flame](f, "/flame?width=4000&limit=4000").Holders
	assert.Contains(t, holders.Name, viewapi.FlameState-int(store.StateIO))
	assert.NotContains(t, holders.Name, viewapi.FlameState-int(jvmthread.StateParked))
}
