// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/tptp"
	"github.com/weft-otel/weft/internal/threadtest"
)

func write(events []jvmthread.Event, sym *symbols.Table, times recording.Times) ([]byte, recording.EncoderStats) {
	e := tptp.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true, Times: times})
	trace := e.Begin(nil, &recording.Session{})
	for len(events) > 0 {
		n := min(len(events), 1000)
		trace = e.Batch(trace, &recording.Batch{Events: events[:n]})
		events = events[n:]
		if len(events) > 0 { // start another file
			trace = e.Begin(e.End(trace, nil), &recording.Session{})
		}
	}
	return e.End(trace, &recording.End{}), e.Stats()
}

// carrier maps the objects of joined threads to the threads, to predict events after a round trip.
type carrier map[jvmthread.LockID]jvmthread.ThreadID

func (c carrier) carried(ev jvmthread.Event) (jvmthread.Event, bool) {
	if ev.Kind == jvmthread.KindJoinStart {
		c[ev.Lock] = ev.Peer
	}
	if th, ok := c[ev.Lock]; ok {
		ev.Lock.Hash = uint32(th) ^ 0x9E3779B1
	}
	return threadtest.Carry(&format.Carries, ev)
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		events, sym := threadtest.Recorded(seed, 2+int(seed%9), 1+int(seed%5), 3000)
		times := recording.Times{Unit: []time.Duration{0, time.Millisecond, time.Microsecond, 1}[seed%4], Origin: jvmthread.Time(seed * 1000)}
		trace, written := write(events, sym, times)
		var want, got []string
		carrier := make(carrier)
		for _, ev := range events {
			if ev, ok := carrier.carried(ev); ok {
				want = append(want, threadtest.EventText(ev, sym))
			}
		}
		if written.Written != uint64(len(want)) || written.TotalOmitted() != uint64(len(events)-len(want)) {
			t.Fatalf("seed %d: %d written and %d omitted of %d", seed, written.Written, written.TotalOmitted(), len(events))
		}
		read := symbols.New(symbols.DefaultLimits())
		c, stats, err := threadtest.Decode(&format, recording.Options{Symbols: read, Reorder: 10 + int(seed), Times: times}, trace, 1+int(seed)*100)
		threadtest.CheckDecoded(t, "trace", c, stats, err)
		if len(c.Problems) > 0 {
			t.Fatalf("seed %d: got problems %v", seed, c.Problems)
		}
		for _, ev := range c.Events {
			got = append(got, threadtest.EventText(ev, read))
		}
		same(t, "events", want, got)
		for id, th := range c.Threads {
			same(t, "thread", threadtest.CarryThread(&format.Carries, sym.Thread(id)), th)
		}
		if t.Failed() {
			return
		}
	}
}

// A callInterrupt is that of a thread that waits, sleeps or is parked; other interrupts are counted.
func TestOnlyWaitingThreadsAreInterrupted(t *testing.T) {
	t.Parallel()
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("com.acme.Gate"), Hash: 7}
	interrupt := func(at jvmthread.Time) jvmthread.Event {
		return jvmthread.Event{Time: at, Thread: 1, Peer: 2, Kind: jvmthread.KindInterruptCalled}
	}
	trace, stats := write([]jvmthread.Event{
		interrupt(1), // the state of the thread is unknown
		{Time: 2, Thread: 2, Lock: lock, Kind: jvmthread.KindWait},
		interrupt(3),
		{Time: 4, Thread: 2, Lock: lock, Kind: jvmthread.KindWaited},
		interrupt(5), // it wants the monitor
		{Time: 6, Thread: 2, Lock: lock, Kind: jvmthread.KindWaitReturned},
		interrupt(7),
		{Time: 8, Thread: 2, Kind: jvmthread.KindPark},
		interrupt(9),
		{Time: 10, Thread: 2, Kind: jvmthread.KindUnparked},
		interrupt(11),
		{Time: 12, Thread: 2, Kind: jvmthread.KindSleepStart},
		interrupt(13),
		{Time: 14, Thread: 2, Kind: jvmthread.KindSleepEnd},
		interrupt(15),
	}, sym, recording.Times{Unit: 1})
	var times []string
	for line := range strings.Lines(string(trace)) {
		if strings.HasPrefix(line, "<callInterrupt ") {
			_, after, _ := strings.Cut(line, ` time="`)
			at, _, _ := strings.Cut(after, `"`)
			times = append(times, at)
		}
	}
	same(t, "interrupts", []string{"3", "9", "13"}, times)
	if stats.Omitted[jvmthread.KindInterruptCalled] != 5 {
		t.Errorf("%d interrupts were counted as omitted, want 5", stats.Omitted[jvmthread.KindInterruptCalled])
	}
}

// Attributes that mean nothing here are written as they were read.
func TestAttributesOfThreadsAreKept(t *testing.T) {
	const start = `<threadStart threadId="7" time="1.000000000" objIdRef="4294967303" threadName="w" groupName="main" ` +
		`parentName="system" collationValue="&lt;7&gt;" traceIdRef="t"/>`
	const end = `<threadEnd threadIdRef="7" time="2.000000000" collationValue="&lt;7&gt;" traceIdRef="t"/>`
	sym := symbols.New(symbols.DefaultLimits())
	c, stats, err := threadtest.Decode(&format, recording.Options{Symbols: sym}, []byte("<TRACE>"+start+end+"</TRACE>"), 100)
	threadtest.CheckDecoded(t, "trace", c, stats, err)
	for _, th := range c.Threads {
		sym.SetThread(th)
	}
	trace, _ := write(c.Events, sym, recording.Times{})
	for _, want := range []string{start, end} {
		if !strings.Contains(string(trace), want) {
			t.Errorf("%s lacks %s", trace, want)
		}
	}
}
