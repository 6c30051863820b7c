// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca_test

import (
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/threadtest"
)

// write encodes events in batches of 1000.
func write(events []jvmthread.Event, sym *symbols.Table) (log, meta []byte, stats recording.EncoderStats) {
	e := orca.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
	log = e.Begin(nil, &recording.Session{})
	for len(events) > 0 {
		n := min(len(events), 1000)
		log = e.Batch(log, &recording.Batch{Events: events[:n]})
		_, more := e.Sidecar()
		meta = append(meta, more...)
		events = events[n:]
	}
	return e.End(log, &recording.End{}), meta, e.Stats()
}

// carried returns an event as it is after a round trip. The object of a joined thread is its hash code.
func carried(ev jvmthread.Event) (jvmthread.Event, bool) {
	ev, ok := threadtest.Carry(&format.Carries, ev)
	if ev.Kind == jvmthread.KindJoinStart || ev.Kind == jvmthread.KindJoinEnd {
		ev.Lock.Hash = uint32(ev.Peer)
	}
	return ev, ok
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		events, sym := threadtest.Recorded(seed, 2+int(seed%9), 1+int(seed%5), 3000)
		log, meta, written := write(events, sym)
		var want []string
		for _, ev := range events {
			if ev, ok := carried(ev); ok {
				want = append(want, threadtest.EventText(ev, sym))
			}
		}
		if written.Written != uint64(len(want)) || written.TotalOmitted() != uint64(len(events)-len(want)) {
			t.Fatalf("seed %d: %d written and %d omitted of %d", seed, written.Written, written.TotalOmitted(), len(events))
		}
		read := symbols.New(symbols.DefaultLimits())
		c, stats, err := threadtest.Decode(&format, recording.Options{
			Symbols: read, Reorder: 10 + int(seed), Sidecar: sidecar(map[string]string{orca.ExtensionMeta: string(meta)}),
		}, log, 1+int(seed)*100)
		threadtest.CheckDecoded(t, "log", c, stats, err)
		if len(c.Problems) > 0 {
			t.Fatalf("seed %d: got problems %v", seed, c.Problems)
		}
		var got []string
		for _, ev := range c.Events {
			got = append(got, threadtest.EventText(ev, read))
		}
		same(t, "events", want, got)
		for id, th := range c.Threads {
			if want := threadtest.CarryThread(&format.Carries, sym.Thread(id)); th != want {
				t.Errorf("thread %+v, want %+v", th, want)
			}
		}
		if t.Failed() {
			return
		}
	}
}
