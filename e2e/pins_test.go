// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/spantest"
)

var pinTimes = flag.Int("pins", 5, "how often TestPinsMatchTheFlightRecorder waits in each way")

// pins are ways in which virtual threads waited, each on a thread of its own.
type pins struct {
	Ways []pinnedWay `json:"ways"`
}

type pinnedWay struct {
	Way    string  `json:"way"`
	Thread int64   `json:"thread"`
	Waits  []int64 `json:"waits"` // as the program measured them, from outside
}

// expected reports whether the waits keep the carrier, as far as the flight recorder and Weft report that. Up to 23, the recorder knows of parks
// only. Weft sees no wait for a class that another thread initializes: it is not a wait for a monitor, and nothing reports it.
func (w *pinnedWay) expected(major int) (recorder, weft bool) {
	switch w.Way {
	case "native-park", "native-sleep", "native-lock", "initializer":
		return true, true
	case "native-monitor", "native-wait":
		return major >= 24, true
	case "initialized":
		return major >= 24, false
	case "synchronized":
		return major < 24, major < 24
	case "monitor", "wait":
		return false, major < 24
	}
	return false, false // park
}

// TestPinsMatchTheFlightRecorder has virtual threads wait below native frames, in class initializers and in monitors, under the agent and the
// flight recorder at once: where both see that a wait keeps the carrier, they agree in number and length.
func TestPinsMatchTheFlightRecorder(t *testing.T) {
	for _, j := range virtualJDKs(t) {
		for _, extent := range []string{"on", "exact"} {
			t.Run(j.String()+" "+extent, func(t *testing.T) { comparePins(t, j, extent) })
		}
	}
}

func comparePins(t *testing.T, j jdk, extent string) {
	t.Helper()
	const pinned = 100 * time.Millisecond
	c := startCollector(t, wholeRun)
	file := filepath.Join(t.TempDir(), "pins.jfr")
	var truth pins
	runJava(t, j, c.endpoint+",virtual="+extent, "pins", &truth, "--enable-preview", "--enable-native-access=ALL-UNNAMED", "-Xlog:jfr*=off",
		"-XX:StartFlightRecording:filename="+file+",jdk.VirtualThreadPinned#enabled=true,jdk.VirtualThreadPinned#threshold=0ns",
		"Pins", strconv.Itoa(*pinTimes), strconv.Itoa(int(pinned.Milliseconds())))
	o := c.finish(t, "pins")
	recorded := recordedPins(t, file)
	var table strings.Builder
	compared, far := 0, 0
	for _, w := range truth.Ways {
		theirs, ours := longer(recorded[w.Thread], pinned/2), pinsOf(o, "pins", w.Thread, pinned/2)
		recorder, weft := w.expected(j.major)
		fmt.Fprintf(&table, "\n%-15s %d of the recorder, %d of Weft", w.Way, len(theirs), len(ours))
		if !assert.Len(t, theirs, times(recorder), "%s: the flight recorder's", w.Way) || !assert.Len(t, ours, times(weft), "%s: Weft's", w.Way) || !weft {
			continue
		}
		worst := 0.0
		for i, length := range ours {
			assert.LessOrEqual(t, length, w.Waits[i], "%s, wait %d: within what the program measured", w.Way, i)
			if !recorder {
				assert.GreaterOrEqual(t, length, int64(pinned), "%s, wait %d", w.Way, i)
				continue
			}
			compared++
			apart := math.Abs(float64(length-theirs[i])) / float64(theirs[i])
			worst = max(worst, apart)
			if apart > 0.01 {
				far++
			}
		}
		fmt.Fprintf(&table, ", %v", sum(ours))
		if recorder {
			fmt.Fprintf(&table, " of %v, at most %.2f %% apart", sum(theirs), 100*worst)
		}
	}
	t.Log(table.String())
	assert.LessOrEqual(t, far, compared/10, "of %d waits are more than 1 %% apart; a few may be, since a thread can lose its processor between both readings of the clock", compared)
	spantest.CheckStructure(t, o)
	spantest.CheckNothingLost(t, o)
}

func times(seen bool) int {
	if seen {
		return *pinTimes
	}
	return 0
}

func sum(lengths []int64) (total time.Duration) {
	for _, length := range lengths {
		total += time.Duration(length)
	}
	return total
}

// pinsOf returns the lengths of the waits in which a thread kept its carrier, in order. A wait for a notification that then waits for the monitor is
// one of them. It leaves out shorter ones: up to 23, to set the timer of a sleep, the thread may wait for the lock of the JDK's timers. The recorder
// does not report these, as the JDK calls them waits of the carrier.
func pinsOf(o *output, service string, thread int64, least time.Duration) (lengths []int64) {
	var last *span
	for _, s := range o.Of(service, func(s *span) bool { return s.IsState() && s.Number("thread.id") == thread }) {
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
	return longer(lengths, least)
}

func longer(lengths []int64, least time.Duration) []int64 {
	return slices.DeleteFunc(lengths, func(length int64) bool { return length < int64(least) })
}

// recordedPin is an event as jfr print --json shows it.
type recordedPin struct {
	Values struct {
		StartTime   time.Time
		Duration    string // PT0.020123456S
		EventThread struct{ JavaThreadID int64 }
	}
}

// recordedPins returns the lengths of the flight recorder's events by thread, in order, as its own tool prints them.
func recordedPins(t *testing.T, file string) map[int64][]int64 {
	t.Helper()
	tool := filepath.Join(jdks[len(jdks)-1].home, "bin", "jfr")
	out, err := exec.Command(tool, "print", "--json", "--events", "jdk.VirtualThreadPinned", file).Output()
	require.NoError(t, err)
	var printed struct {
		Recording struct {
			Events []recordedPin
		}
	}
	require.NoError(t, json.Unmarshal(out, &printed))
	events := printed.Recording.Events
	slices.SortFunc(events, func(a, b recordedPin) int { return a.Values.StartTime.Compare(b.Values.StartTime) })
	lengths := map[int64][]int64{}
	for _, e := range events {
		length, err := time.ParseDuration(strings.ToLower(strings.TrimPrefix(e.Values.Duration, "PT")))
		require.NoError(t, err)
		id := e.Values.EventThread.JavaThreadID
		lengths[id] = append(lengths[id], int64(length))
	}
	return lengths
}
