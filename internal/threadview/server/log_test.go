// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/triples"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/viewapi"
)

// logged returns the lines of the log of a history, whose times are milliseconds.
func logged(t *testing.T, history string, window time.Duration) (lines []string, events []jvmthread.Event) {
	t.Helper()
	h, err := threadtest.Parse(history)
	require.NoError(t, err)
	for i := range h.Events {
		h.Events[i].Time *= jvmthread.Time(time.Millisecond)
	}
	sym := symbols.New(symbols.DefaultLimits())
	for id := range jvmthread.ThreadID(9) {
		sym.SetThread(jvmthread.Thread{ID: id + 1, Name: fmt.Sprintf("Thread-%d", id+1)})
	}
	for _, line := range ask[viewapi.Log](fixtureOf(t, sym, h.Events, window), "/log?limit=1000").Lines {
		lines = append(lines, fmt.Sprint(line.Time/1e6, " ", line.Text))
	}
	return lines, h.Events
}

// Operations that release no thread have lines, too: notifies without a waiter, interrupts of running threads, and those that end no wait.
func TestLogHasEveryOperation(t *testing.T) {
	for _, window := range []time.Duration{3 * time.Millisecond, time.Second} {
		lines, _ := logged(t, `
0 A threadStart
1 A startCalled target=B
2 B threadStart
3 A notify lock=Q
4 A notifyAll lock=Q
5 A yield
6 A suspend target=B
7 A resume target=B
8 A stop target=B
9 B wait lock=Q
10 A notify lock=Q
10 B waited lock=Q
11 B waitReturned lock=Q
12 A interruptCalled target=B
14 A startCalled target=C
`, window)
		assert.Equal(t, []string{
			"1 Thread-1, start, Thread-2", "3 Thread-1, notify, none", "4 Thread-1, notifyAll, none", "5 Thread-1, yield, Thread-1",
			"6 Thread-1, suspend, Thread-2", "7 Thread-1, resume, Thread-2", "8 Thread-1, stop, Thread-2",
			"9 Thread-2, wait, Thread-2, active 7 ms", "10 Thread-1, notify, Thread-2", "11 Thread-1, handoff, Thread-2", "12 Thread-1, interrupt, Thread-2",
			"14 Thread-1, start, Thread-3",
		}, lines)
	}
}

// The log and the triples format agree on for how long a thread was active, however often it slept or was blocked in between.
func TestActiveTimesAreThoseOfTriples(t *testing.T) {
	var b strings.Builder
	b.WriteString("0 A threadStart\n0 B threadStart\n5 B wait lock=P\n")
	at := 10
	for range 100 {
		fmt.Fprintf(&b, "%d A sleepStart\n%d A sleepEnd\n", at, at+40)
		fmt.Fprintf(&b, "%d A contendedEnter lock=L owner=B\n%d A contendedEntered lock=L\n", at+50, at+60)
		at += 81
	}
	fmt.Fprintf(&b, "%d A wait lock=Q\n%d A waited lock=Q\n%d A waitReturned lock=Q\n", at, at+10, at+11)
	fmt.Fprintf(&b, "%d A wait lock=Q\n%d A waited lock=Q\n%d A waitReturned lock=Q\n", at+20, at+30, at+30)
	lines, events := logged(t, b.String(), 700*time.Millisecond)
	encoder := triples.NewEncoder(recording.EncoderOptions{})
	text := string(encoder.Batch(nil, &recording.Batch{Events: events}))
	var want, got []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "active") {
			want = append(want, strings.TrimSpace(line))
		}
	}
	for _, line := range lines {
		if _, line, _ = strings.Cut(line, " "); strings.Contains(line, "active") {
			got = append(got, line)
		}
	}
	assert.Len(t, want, 3)
	assert.Equal(t, want, got)
}

// A notify that wakes no thread is drawn, too.
func TestNotifiesWithoutWaitersAreDrawn(t *testing.T) {
	h, err := threadtest.Parse(`
0 A threadStart
3 A notify lock=Q
4 A notifyAll lock=Q
9 B wait lock=Q
10 A notify lock=Q
10 B waited lock=Q
11 B waitReturned lock=Q
12 A yield
`)
	require.NoError(t, err)
	f := fixtureOf(t, symbols.New(symbols.DefaultLimits()), h.Events, time.Second)
	calls := func(query string) (times []int64) {
		for _, c := range ask[viewapi.Arrows](f, "/interactions"+query).Calls {
			times = append(times, c.Time)
		}
		return times
	}
	assert.Equal(t, []int64{3, 4}, calls(""))
	assert.Equal(t, []int64{4}, calls("?kinds=notify_all"))
	assert.Empty(t, calls("?threads=2"))
}
