// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package jfr

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// culprits is the output of the program Culprits: its threads, and the longest time from when one of them got the lock until another did.
type culprits struct {
	Main, Hog, Notifier, Starter, Victim, Parked jvmthread.ThreadID
	Longest                                      time.Duration
}

// made is what the engine made of a recording.
type made struct {
	interactions []jvmthread.Interaction
	holds        []jvmthread.Hold
	last         map[jvmthread.ThreadID]jvmthread.Interval
	parks        map[jvmthread.ThreadID][]jvmthread.Marks
	end          jvmthread.Time
}

// follow runs the events of a collector through the engine, in one window.
func follow(c *collector) made {
	m := made{last: make(map[jvmthread.ThreadID]jvmthread.Interval), parks: make(map[jvmthread.ThreadID][]jvmthread.Marks)}
	cfg := engine.DefaultConfig()
	cfg.Window = math.MaxInt64
	e := drive.New(cfg, c.symbols)
	e.Add(ordering.Batch{Number: 1, Watermark: max(c.ends[0].Time, c.last+1), Events: c.events})
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
		m.interactions, m.holds, m.end = slices.Collect(w.Interactions()), w.Holds, w.End
		for _, l := range w.Lanes {
			m.last[l.Thread] = l.Intervals.At(l.Intervals.Len() - 1)
			for _, iv := range l.Intervals.All() {
				if iv.State == jvmthread.StateParked {
					m.parks[l.Thread] = append(m.parks[l.Thread], iv.Marks)
				}
			}
		}
	})
	return m
}

// count counts the interactions that a thread caused on locks of a class, all of which must be exact.
func (m *made) count(t *testing.T, c *collector, kind jvmthread.InteractionKind, from jvmthread.ThreadID, class string) (n int) {
	t.Helper()
	for _, ia := range m.interactions {
		if ia.Kind == kind && ia.From.Thread == from && c.symbols.Class(ia.Lock.Class) == class {
			assert.Equal(t, jvmthread.ConfidenceExact, ia.Confidence)
			n++
		}
	}
	return n
}

// TestCulpritsWithoutEvents checks that threads which only others' events name keep what they did, that no thread holds the lock for longer
// than the program did, that timed parks time out, and that nothing is claimed about a thread after its last event.
func TestCulpritsWithoutEvents(t *testing.T) {
	t.Parallel()
	onEachJDK(t, func(t *testing.T, j jdk) {
		t.Helper()
		const rounds = 3
		file := filepath.Join(t.TempDir(), "culprits.jfr")
		command := j.java("Culprits", file, strconv.Itoa(rounds))
		var stderr bytes.Buffer
		command.Stderr = &stderr
		out, err := command.Output()
		require.NoError(t, err, stderr.String())
		var known culprits
		require.NoError(t, json.Unmarshal(out, &known), string(out))
		c := readFile(t, file)
		for _, th := range []jvmthread.ThreadID{known.Hog, known.Notifier, known.Starter} {
			require.False(t, slices.ContainsFunc(c.events, func(ev jvmthread.Event) bool { return ev.Thread == th }),
				"%s has no event of its own", c.threads[th].Name)
		}
		m := follow(c)

		assert.Equal(t, rounds, m.count(t, c, jvmthread.InteractionHandoff, known.Hog, "Culprits$Book"), "handoffs by the hog")
		assert.Equal(t, rounds, m.count(t, c, jvmthread.InteractionHandoff, known.Victim, "Culprits$Book"), "handoffs by the victim")
		assert.Equal(t, rounds, m.count(t, c, jvmthread.InteractionNotify, known.Notifier, "Culprits$Bell"), "notifies")
		assert.Equal(t, rounds, m.count(t, c, jvmthread.InteractionStart, known.Starter, ""), "starts")

		holders := make(map[jvmthread.ThreadID]int)
		for _, h := range m.holds {
			if c.symbols.Class(h.Lock.Class) == "Culprits$Book" {
				if h.End > h.Start {
					holders[h.Thread]++
				}
				const clocks = time.Millisecond
				assert.LessOrEqual(t, h.End.Sub(h.Start), known.Longest+clocks, "hold of %s", c.threads[h.Thread].Name)
			}
		}
		assert.Equal(t, rounds, holders[known.Hog])
		assert.Equal(t, rounds, holders[known.Victim])

		assert.Equal(t, slices.Repeat([]jvmthread.Marks{jvmthread.MarkTimedOut}, 3*rounds), m.parks[known.Main])
		assert.NotContains(t, m.parks[known.Parked], jvmthread.MarkTimedOut)

		silent := m.last[known.Parked]
		assert.Equal(t, jvmthread.StateUnknown, silent.State, "after its last event, a thread may do anything")
		assert.Greater(t, m.end.Sub(silent.Start), rounds*200*time.Millisecond)
		for th, iv := range m.last {
			if iv.Marks.Has(jvmthread.MarkOpen) {
				assert.Equal(t, jvmthread.StateUnknown, iv.State, "%s at the end", c.threads[th].Name)
			}
		}
	})
}
