// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incidents_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/incidents"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// kept returns the incidents that are kept of a history. The stack with ID 1 is the first of a list, and so on.
func kept(t *testing.T, text string, why window.Cut, stacks ...string) ([]*store.Incident, *threadtest.History, *incidents.Keeper) {
	t.Helper()
	h, err := threadtest.Parse(text)
	require.NoError(t, err)
	sym := h.Symbols()
	for _, stack := range stacks {
		sym.InternStack(stack)
	}
	for _, name := range []string{"A", "B", "C"} {
		sym.SetThread(jvmthread.Thread{ID: h.Thread(name), Name: name})
	}
	id := jvmthread.SessionID{1}
	s := store.New(1<<20, nil).Open(id, nil)
	cfg := engine.DefaultConfig()
	cfg.Window = time.Second
	e := drive.New(cfg, sym)
	k := incidents.New(id, s, sym, e.Waits())
	e.FindLostNotifies()
	yield := func(w *window.Window) {
		s.Append(w, sym)
		k.Window(w)
	}
	for i := range h.Events {
		e.Batch(h.Events[i:i+1], 0, h.Events[i].Time+1, yield)
	}
	e.Close(jvmthread.NoTime, why, yield)
	return s.Snapshot().Incidents, h, k
}

func names(h *threadtest.History, cast []jvmthread.ThreadID) (out []string) {
	for _, id := range cast {
		i := slices.IndexFunc([]string{"A", "B", "C"}, func(name string) bool { return h.Thread(name) == id })
		out = append(out, []string{"A", "B", "C", "?"}[(i+4)%4])
	}
	return out
}

// What is kept says who waited, who held, for how long, where, and for which request.
func TestKept(t *testing.T) {
	list, h, k := kept(t, `
0         A threadStart
0         B threadStart
0         C threadStart
10000000  A sleepStart
15000000  C context span=buy
20000000  C contendedEnter lock=Book owner=A stack=1
30000000  B contendedEnter lock=Book owner=A stack=1
100000000 A sleepEnd
101000000 C contendedEntered lock=Book
105000000 B contendedEntered lock=Book
`, window.CutEnd, "at com.acme.Book.add(Book.java:7)\nat com.acme.Shop.buy(Shop.java:20)")
	require.Len(t, list, 1)
	inc := list[0]
	assert.Equal(t, "contention", inc.Kind)
	assert.Equal(t, "contention Book", inc.Name)
	assert.Equal(t, "Book", inc.Object)
	assert.Equal(t, "A held Book for 81 ms, asleep; 2 threads waited 156 ms for it", inc.Text)
	assert.Equal(t, 156*time.Millisecond, inc.Blocked)
	assert.Equal(t, jvmthread.Time(20_000_000), inc.Start)
	require.NotEmpty(t, inc.Holds)
	assert.Equal(t, "A", inc.Holds[0].Name)
	require.Len(t, inc.Waits, 2)
	assert.Equal(t, []string{"com.acme.Book.add(Book.java:7)", "com.acme.Shop.buy(Shop.java:20)"}, inc.Waits[0].Frames)
	assert.Len(t, inc.Waits[0].Trace, 32)
	assert.Len(t, inc.Waits[0].Span, 16)
	assert.Empty(t, inc.Waits[1].Trace)
	assert.Equal(t, "com.acme.Book.add", inc.Waits[0].Function)
	assert.Equal(t, "B, C", inc.Waiters)
	assert.Len(t, inc.Requests, 1)
	assert.Equal(t, []string{"A", "C", "B"}, names(h, inc.Cast), "the holder, then waiters in their order")
	assert.Zero(t, inc.More)
	assert.Positive(t, k.Held())
}

// A deadlock is one incident, from its beginning to the end of the session: it is kept when it is found, and again when the session ends. So is an
// episode that lasts for more than a minute.
func TestIncidentOfManyWindowsIsOne(t *testing.T) {
	list, _, _ := kept(t, `
0          A threadStart
0          B threadStart
900000000  A contendedEnter lock=R owner=B
950000000  B contendedEnter lock=L owner=A
5000000000 C yield
`, window.CutEnd)
	require.Len(t, list, 1)
	inc := list[0]
	assert.Equal(t, store.IncidentID{Kind: "deadlock", Start: 900000000, First: 1}, inc.IncidentID)
	assert.EqualValues(t, 5000000001, inc.End)
	assert.True(t, inc.Open)
	assert.EqualValues(t, 5000000001-900000000+5000000001-950000000, inc.Blocked)
	assert.EqualValues(t, 5000000001-900000000, inc.Longest)
	assert.EqualValues(t, 2, inc.Count)
	assert.Equal(t, 2, inc.Threads)
	assert.Len(t, inc.Waits, 2)

	list, _, _ = kept(t, `
0           A threadStart
0           B threadStart
900000000   B contendedEnter lock=L owner=A
90000000000 B contendedEntered lock=L
`, window.CutEnd)
	require.Len(t, list, 1)
	inc = list[0]
	assert.Equal(t, "contention", inc.Kind)
	assert.EqualValues(t, 900000000, inc.Start)
	assert.EqualValues(t, 90000000000, inc.End)
	assert.False(t, inc.Open)
	assert.EqualValues(t, 90000000000-900000000, inc.Blocked)
	assert.Len(t, inc.Waits, 1)
	assert.Len(t, inc.Holds, 1)
}

// Two locks that threads took in both orders are an incident, once for all locks of their classes.
func TestPotentialDeadlock(t *testing.T) {
	const orders = `
10 C contendedEnter lock=Book owner=A
20 A contendedEnter lock=Till owner=X stack=1
30 A contendedEntered lock=Till
40 C contendedEntered lock=Book
50 X contendedEnter lock=Till owner=B
60 B contendedEnter lock=Book owner=C stack=1
70 B contendedEntered lock=Book
80 X contendedEntered lock=Till
`
	list, h, _ := kept(t, orders, window.CutEnd, "at com.acme.Till.pay(Till.java:9)")
	require.Len(t, list, 1)
	inc := list[0]
	assert.Equal(t, store.KindPotentialDeadlock, inc.Kind)
	assert.Equal(t, "A held Book and wanted Till; B held Till and wanted Book, 40ns later: a potential deadlock", inc.Text)
	assert.Equal(t, "Book, Till", inc.Object)
	assert.Equal(t, jvmthread.Time(60), inc.Start)
	assert.Equal(t, []string{"A", "B"}, names(h, inc.Cast))
	require.Len(t, inc.Holds, 2)
	assert.Equal(t, "B held Till and wanted Book", inc.Holds[1].Text)
	assert.Equal(t, []string{"com.acme.Till.pay(Till.java:9)"}, inc.Holds[1].Frames)

	// The same threads are deadlocked: then it is no longer a potential one.
	list, _, _ = kept(t, `
10 A contendedEnter lock=Till owner=B
20 B contendedEnter lock=Book owner=A
30 C contendedEnter lock=Book owner=A
5000000000 C yield
`, window.CutEnd)
	require.NotEmpty(t, list)
	for _, inc := range list {
		assert.Equal(t, store.KindDeadlock, inc.Kind, inc.Text)
	}
	one, _, _ := strings.Cut(orders, "50 X")
	list, _, _ = kept(t, one, window.CutEnd)
	assert.Empty(t, list, "one order is none")
}

// A notify that no thread heard is an incident if a thread then waits in vain.
func TestLostNotify(t *testing.T) {
	const events = `
0          A threadStart
0          B threadStart
1000000000 A notify lock=Book stack=1
1012000000 B wait lock=Book stack=2
`
	stacks := []string{"at java.lang.Object.notify(Native Method)\nat com.acme.Shop.put(Shop.java:9)", "at java.lang.Object.wait(Native Method)\nat com.acme.Shop.take(Shop.java:5)"}
	const called = "A called notify on Book in Shop.put while no thread waited; B began to wait 12 ms later in Shop.take"
	list, h, _ := kept(t, events+"6012000000 B waited lock=Book timedOut", window.CutShutdown, stacks...)
	require.Len(t, list, 1)
	inc := list[0]
	assert.Equal(t, store.KindLostNotify, inc.Kind)
	assert.Equal(t, called+" and timed out after 5 s", inc.Text)
	assert.Equal(t, 5*time.Second, inc.Blocked)
	assert.Equal(t, jvmthread.Time(1_000_000_000), inc.Start)
	assert.Equal(t, jvmthread.Time(6_012_000_000), inc.End)
	assert.Equal(t, []string{"A", "B"}, names(h, inc.Cast))
	assert.Equal(t, uint64(1), inc.TimedOut)
	assert.False(t, inc.Open)

	list, _, _ = kept(t, events+"3012000000 A yield", window.CutEnd, stacks...)
	require.Len(t, list, 1)
	assert.Equal(t, called+" and still waited after 2 s", list[0].Text)
	assert.True(t, list[0].Open)

	list, _, _ = kept(t, events+"3012000000 A yield", window.CutShutdown, stacks...)
	assert.Empty(t, list, "the collector stopped, the JVM did not end")
	list, _, _ = kept(t, events+"3000000000 A notify lock=Book\n3012000000 B waited lock=Book", window.CutEnd, stacks...)
	assert.Empty(t, list, "a later notify woke it")
	list, _, _ = kept(t, events+"6012000000 B waited lock=Book timedOut", window.CutEnd, stacks[0], "at java.lang.Object.wait(Native Method)\nat java.util.TimerThread.mainLoop(Timer.java:1)")
	assert.Empty(t, list, "a timer waits for its time")
}
