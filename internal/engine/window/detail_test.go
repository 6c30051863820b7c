// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// A wait belongs to the span that was current when it began, in all its windows. After a gap, the current span is unknown.
func TestDetailsOfIntervals(t *testing.T) {
	const owner, waiter jvmthread.ThreadID = 1, 2
	lock := jvmthread.LockID{Class: 1, Hash: 7}
	mine := jvmthread.SpanContext{TraceID: [16]byte{1, 15: 2}, SpanID: [8]byte{3, 7: 4}}
	unreported := jvmthread.SpanContext{TraceID: [16]byte{5}, SpanID: [8]byte{6}}
	his := jvmthread.SpanContext{TraceID: [16]byte{0xff, 15: 0xfe}, SpanID: [8]byte{0xfd, 7: 0xfc}}
	events := []jvmthread.Event{
		{Time: 1, Thread: owner, Kind: jvmthread.KindThreadStart},
		{Time: 1, Thread: waiter, Kind: jvmthread.KindThreadStart},
		{Kind: jvmthread.KindContext, Time: 2, Thread: owner, Span: his},
		{Kind: jvmthread.KindContext, Time: 3, Thread: waiter, Span: mine},
		{Time: 4, Thread: waiter, Kind: jvmthread.KindCPU, Arg: 10},
		{Time: 4, Thread: waiter, Kind: jvmthread.KindContendedEnter, Peer: owner, Lock: lock, Stack: 5},
		{Time: 4, Thread: waiter, Kind: jvmthread.KindOwnerStack, Peer: owner, Lock: lock, Stack: 6},
		{Kind: jvmthread.KindContext, Time: 20, Thread: owner, Span: jvmthread.SpanContext{}},
		{Time: 21, Thread: waiter, Kind: jvmthread.KindContendedEntered, Lock: lock},
		{Time: 25, Thread: waiter, Kind: jvmthread.KindCPU, Arg: 13},
		{Time: 25, Thread: waiter, Kind: jvmthread.KindSleepStart, Arg: 1},
		{Time: 26, Thread: waiter, Kind: jvmthread.KindSleepEnd},
		{Time: 27, Thread: waiter, Kind: jvmthread.KindGap, Arg: 3},
		{Time: 28, Thread: waiter, Kind: jvmthread.KindSleepStart, Arg: 1},
		{Time: 29, Thread: waiter, Kind: jvmthread.KindSleepEnd},
		{Time: 30, Thread: waiter, Kind: jvmthread.KindPark, Peer: owner, Lock: lock},
		{Time: 30, Thread: waiter, Kind: jvmthread.KindOwnerContext, Span: unreported},
		{Time: 31, Thread: waiter, Kind: jvmthread.KindUnparked},
		{Time: 32, Thread: waiter, Kind: jvmthread.KindPark, Peer: owner, Lock: lock},
		{Time: 33, Thread: waiter, Kind: jvmthread.KindUnparked},
	}
	cfg := engine.DefaultConfig()
	cfg.Window = 10
	e := drive.New(cfg, nil)
	got := make(map[jvmthread.State][]jvmthread.Detail)
	yield := func(w *window.Window) {
		for _, l := range w.Lanes {
			for _, iv := range l.Intervals.All() {
				if l.Thread == waiter {
					got[iv.State] = append(got[iv.State], w.Detail(iv))
				}
			}
		}
	}
	require.True(t, e.Add(ordering.Batch{Number: 1, Watermark: 40, Events: events}))
	e.Advance(yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	blocked := jvmthread.Detail{Span: mine, OwnerSpan: his, OwnerStack: 6}
	assert.Equal(t, []jvmthread.Detail{blocked, blocked, blocked}, got[jvmthread.StateBlocked], "a piece in each of three windows")
	assert.Equal(t, []jvmthread.Detail{{Span: mine}, {}}, got[jvmthread.StateSleeping], "before and after a gap")
	assert.Equal(t, []jvmthread.Detail{{OwnerSpan: unreported}, {}}, got[jvmthread.StateParked], "the owner's span, as the waiting thread saw it")
	assert.Equal(t, jvmthread.Detail{CPU: 3, HasCPU: true}, got[jvmthread.StateRunnable][1])
}
