// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// pinnedWay is a way in which a virtual thread waited.
type pinnedWay struct {
	Way    string  `json:"way"`
	Thread int64   `json:"thread"`
	Waits  []int64 `json:"waits"` // as the program measured them, from outside
}

// expected reports whether the waits keep the carrier, as far as the flight recorder and Weft report that. Up to 23, the recorder knows of parks
// only. Weft sees no wait for a class that another thread initializes: it is not a wait for a monitor, and nothing reports it.
func (w *pinnedWay) expected(jdk int) (recorder, weft bool) {
	switch w.Way {
	case "native-park", "native-sleep", "native-lock", "initializer":
		return true, true
	case "native-monitor", "native-wait":
		return jdk >= 24, true
	case "initialized":
		return jdk >= 24, false
	case "synchronized":
		return jdk < 24, jdk < 24
	case "monitor", "wait":
		return false, jdk < 24
	}
	return false, false // park
}

// early is by how much a wait may be shorter than its timeout: a virtual thread first tries to leave its carrier, and takes that time off.
func (w *pinnedWay) early() int64 {
	if slices.Contains([]string{"native-park", "native-sleep", "initializer", "synchronized"}, w.Way) {
		return int64(time.Millisecond)
	}
	return 0
}

// checkPins compares waits below native frames, in class initializers and in monitors with those that the flight recorder saw in the same run:
// where both see that a wait keeps the carrier, they agree in number, and both are within what the program measured.
func checkPins(t spantest.T, r *run) {
	t.Helper()
	var truth struct {
		Ways []pinnedWay `json:"ways"`
		Pins [][2]int64  `json:"pins"` // of the flight recorder: thread, length
	}
	r.know(t, &truth)
	assert.Len(t, truth.Ways, 11)
	millis, err := strconv.Atoi(r.entry.program[2])
	require.NoError(t, err)
	least := int64(millis) * int64(time.Millisecond)
	recorded := map[int64][]int64{}
	for _, pin := range truth.Pins {
		recorded[pin[0]] = append(recorded[pin[0]], pin[1])
	}
	for _, w := range truth.Ways {
		recorder, weft := w.expected(r.jdk)
		for _, side := range []struct {
			name    string
			sees    bool
			lengths []int64
		}{{"the flight recorder", recorder, recorded[w.Thread]}, {"Weft", weft, pinsOf(r, w.Thread)}} {
			lengths := longer(side.lengths, least/2)
			if !side.sees {
				assert.Empty(t, lengths, "%s: %s", w.Way, side.name)
			} else if assert.Len(t, lengths, len(w.Waits), "%s: %s", w.Way, side.name) {
				for i, length := range lengths {
					checkWithin(t, w.Way+": "+side.name, length, least-w.early(), w.Waits[i])
				}
			}
		}
	}
}

// pinsOf returns the lengths of the waits in which a thread kept its carrier, in order. A wait for a notification that then waits for the monitor is
// one of them.
func pinsOf(r *run, thread int64) (lengths []int64) {
	var last *spantest.Span
	for _, s := range r.lane(thread) {
		if value, ok := s.Attributes().Get("weft.virtual.pinned"); !ok || !value.Bool() {
			continue
		}
		if last != nil && last.End() == s.Begin() {
			lengths[len(lengths)-1] += s.Number("weft.interval.time")
		} else {
			lengths = append(lengths, s.Number("weft.interval.time"))
		}
		last = s
	}
	return lengths
}

// longer leaves out short waits: up to 23, to set the timer of a sleep, a thread may wait for the lock of the JDK's timers. The recorder does not
// report these, as the JDK calls them waits of the carrier.
func longer(lengths []int64, least int64) []int64 {
	return slices.DeleteFunc(lengths, func(length int64) bool { return length < least })
}
