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

// computesHolding is the history of a thread that holds a monitor without a wait from 20 to 120 ms, for which another one waits. The first
// readings of the holder's clocks are at 20, those that are given at 120.
func computesHolding(sym *symbols.Table, cpu, queue int64) []jvmthread.Event {
	lock := jvmthread.LockID{Class: sym.InternClass("com.acme.Rates"), Hash: 7}
	fetch := sym.InternStack("at com.acme.Rates.get(Rates.java:7)")
	sym.SetThread(jvmthread.Thread{ID: 1, Name: "ledger-writer"})
	sym.SetThread(jvmthread.Thread{ID: 2, Name: "request"})
	events := []jvmthread.Event{
		{Time: 1, Thread: 1, Kind: jvmthread.KindThreadStart},
		{Time: 1, Thread: 2, Kind: jvmthread.KindThreadStart},
		{Time: 20, Thread: 1, Kind: jvmthread.KindRunQueue, Arg: 3 * ms},
		{Time: 20, Thread: 1, Kind: jvmthread.KindCPU, Arg: 2 * ms},
		{Time: 20, Thread: 2, Kind: jvmthread.KindContendedEnter, Peer: 1, Lock: lock, Stack: fetch},
		{Time: 120, Thread: 1, Kind: jvmthread.KindRunQueue, Arg: (3 + queue) * ms, Flags: jvmthread.FlagSnapshot},
		{Time: 120, Thread: 1, Kind: jvmthread.KindCPU, Arg: (2 + cpu) * ms, Flags: jvmthread.FlagSnapshot},
		{Time: 120, Thread: 2, Kind: jvmthread.KindContendedEntered, Peer: 1, Lock: lock},
		{Time: 130, Thread: 2, Kind: jvmthread.KindThreadEnd},
	}
	for i := range events {
		events[i].Time *= jvmthread.Time(ms)
	}
	return events
}

// So is what the thread of a path did.
func TestPathIsDividedByClocks(t *testing.T) {
	for _, window := range []time.Duration{time.Second, 30 * time.Millisecond} {
		sym := symbols.New(symbols.DefaultLimits())
		f := fixtureOf(t, sym, computesHolding(sym, 60, 30), window)
		path := ask[viewapi.Path](f, "/path?thread=1&from=19000000&to=119000000")
		times := map[string]int64{}
		for _, p := range path.Parts {
			times[p.Name] += p.Time
		}
		assert.Equal(t, map[string]int64{"running": 60 * ms, "waiting for a processor": 30 * ms, "runnable": 10 * ms}, times)
		assert.Contains(t, ask[viewapi.Why](f, "/why?thread=1&from=19000000&to=119000000").Text, " running")
	}
}

// Whether a holder ran, or waited for a processor, is said as its clocks show it.
func TestHolderIsSaidToRunIfItsClockSaysSo(t *testing.T) {
	for _, c := range []struct {
		cpu, queue int64
		text       string
		part       float64
		says       string
	}{
		{97, 2, "running", 0.97, "ledger-writer ran 100 ms holding Rates"},
		{60, 30, "running", 0.6, "ledger-writer held Rates for 100 ms, 60 % of that time running"},
		{7, 93, "waiting for a processor", 0.93, "ledger-writer held Rates for 100 ms, 93 % of that time waiting for a processor"},
		{2, 1, "runnable", 0.97, "ledger-writer held Rates for 100 ms, runnable"},
	} {
		for _, window := range []time.Duration{time.Second, 30 * time.Millisecond} {
			sym := symbols.New(symbols.DefaultLimits())
			f := fixtureOf(t, sym, computesHolding(sym, c.cpu, c.queue), window)
			most := ask[viewapi.Answer](f, "/answer").Most
			require.NotNil(t, most)
			require.NotEmpty(t, most.Holders)
			assert.Equal(t, c.text, most.Holders[0].Text)
			assert.Equal(t, c.part, most.Holders[0].Part)
			assert.Equal(t, c.says+"; request waited 100 ms for it.", wording.Plain(wording.Cost(most)))
		}
	}
}
