// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
	"unsafe"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Some changes of the input must not change the result, except as stated.
func TestMetamorphoses(t *testing.T) {
	t.Parallel()
	const shift = 86_400_000_000_000
	for seed := range uint64(300) {
		events := simulate(seed).Events
		want := story(t, events, 0)
		for _, m := range []struct {
			name   string
			change func([]jvmthread.Event) []jvmthread.Event
			shift  jvmthread.Time
		}{
			{"all times a day later", func(evs []jvmthread.Event) []jvmthread.Event {
				for i := range evs {
					evs[i].Time += shift
				}
				return evs
			}, shift},
			{"events of unknown kinds in between", func(evs []jvmthread.Event) []jvmthread.Event {
				for i := len(evs) - 1; i >= 0; i -= 3 {
					strange := jvmthread.Event{Time: evs[i].Time, Thread: evs[i].Thread, Kind: jvmthread.Kind(jvmthread.NumKinds + 7)}
					evs = slices.Insert(evs, i+1, strange)
				}
				return evs
			}, 0},
			{"one more thread that only yields", func(evs []jvmthread.Event) []jvmthread.Event {
				at := evs[len(evs)/2].Time
				return append(evs, jvmthread.Event{Time: at, Thread: 999, Kind: jvmthread.KindThreadStart},
					jvmthread.Event{Time: at + 1, Thread: 999, Kind: jvmthread.KindYield},
					jvmthread.Event{Time: at + 2, Thread: 999, Kind: jvmthread.KindThreadEnd})
			}, 0},
		} {
			got := story(t, m.change(slices.Clone(events)), m.shift)
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("program %d, %s: before - after +:\n%s", seed, m.name, diff)
			}
		}
	}
}

// story returns everything that the engine reports about the program's own threads, with all times reduced by shift.
func story(t *testing.T, events []jvmthread.Event, shift jvmthread.Time) (out []string) {
	t.Helper()
	run(t, events, 365*24*time.Hour, func(w *window.Window) {
		for _, l := range w.Lanes {
			for _, iv := range l.Intervals.All() {
				if iv.Thread == 999 {
					continue
				}
				iv.Start -= shift
				iv.End -= shift
				out = append(out, fmt.Sprintf("%+v", iv))
			}
		}
		for ia := range w.Interactions() {
			ia.CauseTime -= shift
			ia.EffectTime -= shift
			out = append(out, fmt.Sprintf("%+v", ia))
		}
		for _, h := range w.Holds {
			h.Start -= shift
			h.End -= shift
			out = append(out, fmt.Sprintf("%+v", h))
		}
	})
	return out
}

// A session of several weeks does not grow: ended threads and unused locks are discarded.
func TestLongSessionDoesNotGrow(t *testing.T) {
	const windows = 3 * 7 * 24 * 360 // three weeks of ten seconds
	e := drive.New(engine.DefaultConfig(), nil)
	var number, before uint64
	next := jvmthread.ThreadID(2)
	threads, locks, shown := 0, 0, 0
	at := jvmthread.Time(1_700_000_000_000_000_000)
	for range windows {
		main := []jvmthread.Event{}
		add := func(ev jvmthread.Event) { main = append(main, ev) }
		worker := next
		next++
		lock := jvmthread.LockID{Class: 1, Hash: uint32(worker)}
		add(jvmthread.Event{Time: at, Thread: 1, Kind: jvmthread.KindStartCalled, Peer: worker})
		add(jvmthread.Event{Time: at + 1, Thread: worker, Kind: jvmthread.KindThreadStart})
		add(jvmthread.Event{Time: at + 2, Thread: worker, Kind: jvmthread.KindContendedEnter, Lock: lock, Peer: 1})
		add(jvmthread.Event{Time: at + 3, Thread: worker, Kind: jvmthread.KindContendedEntered, Lock: lock})
		add(jvmthread.Event{Time: at + 4, Thread: worker, Kind: jvmthread.KindThreadEnd})
		at += jvmthread.Time(10 * time.Second)
		number++
		e.Add(batchOf(number, before, main, at))
		before += uint64(len(main))
		e.Advance(func(*window.Window) { shown++ })
		threads, locks = max(threads, e.Timeline().Len()), max(locks, e.Locks())
	}
	if shown < windows-1 || threads > 10 || locks > 20 {
		t.Errorf("%d windows of %d, up to %d threads and %d locks", shown, windows, threads, locks)
	}
}

// The documented memory per interval and interaction.
func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(jvmthread.Interval{}); n != 64 {
		t.Errorf("an interval takes %d bytes, the documents say 64", n)
	}
	if n := unsafe.Sizeof(jvmthread.Interaction{}); n != 64 {
		t.Errorf("an interaction takes %d bytes, the documents say 64", n)
	}
	if n := unsafe.Sizeof(jvmthread.Event{}); n != 72 {
		t.Errorf("an event takes %d bytes, Engine.Held counts 72", n)
	}
}
