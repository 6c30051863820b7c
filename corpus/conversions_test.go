// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/command"
	"github.com/weft-otel/weft/corpus/spantest"
)

// format is a format of recordings, and what of the spans a recording in it reproduces.
type format struct {
	suffix  string
	service string     // in the spans; "" is the program's
	links   []string   // kinds whose links are the same
	times   [][]string // sums of states that are the same for each thread
	known   []string   // programs whose rules its spans obey
}

var formats = []format{
	{
		suffix: ".weft", links: []string{"handoff", "notify", "notify_all", "start", "join", "interrupt", "unpark"},
		times: [][]string{{"blocked"}, {"sleeping"}, {"waiting"}, {"reentering"}, {"joining"}, {"parked"}, {"runnable"}},
		known: []string{"pingpong", "notifies", "startsjoins", "sleeps", "timedwaits", "interrupts"},
	},
	{
		suffix: ".orca", service: nameless, links: []string{"handoff", "notify", "notify_all", "start", "join"},
		times: [][]string{{"blocked"}, {"sleeping"}, {"waiting", "reentering", "joining"}},
	},
	{
		suffix: ".trcxml", service: nameless, links: []string{"handoff", "notify", "notify_all", "start", "join", "interrupt"},
		times: [][]string{{"blocked"}, {"sleeping"}, {"waiting"}, {"joining"}},
		known: []string{"pingpong", "notifies", "startsjoins", "sleeps", "timedwaits"},
	},
}

// nameless is the service of recordings without one.
const nameless = "unknown_service:java"

// TestConversionsKeepTheSpans converts recordings of the agent to each format and compares the spans of both.
func TestConversionsKeepTheSpans(t *testing.T) {
	converted := 0
	for i := range programs {
		e := &programs[i]
		if !slices.Contains(formats[0].known, e.name) {
			continue
		}
		converted++
		for _, jdk := range e.recorded(t) {
			f := e.files(runs, jdk)
			r, _, err := e.judge(t, f, jdk)
			require.NoError(t, err)
			for _, to := range formats {
				t.Run(e.name+"/"+jdk+"/"+to.suffix, func(t *testing.T) { to.check(t, r) })
			}
		}
	}
	assert.Len(t, formats[0].known, converted)
}

// check converts a recorded run and compares its spans.
func (f *format) check(t *testing.T, r *run) {
	t.Helper()
	converted := filepath.Join(t.TempDir(), "converted"+f.suffix)
	var said strings.Builder
	require.Zero(t, command.Run("test", strings.NewReader(""), &said, &said, "convert", r.recording, converted), "%s", &said)
	p, done, err := play(converted, r.entry.engine)
	require.NoError(t, err)
	defer done()
	again := run{Output: p.output(), entry: r.entry, jdk: r.jdk, service: r.service, truth: r.truth, played: p, recording: converted}
	if f.service != "" {
		again.service = f.service
	}
	spantest.CheckStructure(t, again.Output)
	spantest.CheckNothingLost(t, again.Output)
	links := 0
	for _, kind := range f.links {
		want := linkCounts(r, kind)
		assert.Equal(t, want, linkCounts(&again, kind), "%s links", kind)
		links += len(want)
	}
	assert.Positive(t, links, "links to compare")
	ended := endedThreads(r)
	assert.Contains(t, slices.Collect(maps.Values(ended)), true, "a thread to compare")
	for _, states := range f.times {
		assert.Equal(t, timeSums(r, states, ended), timeSums(&again, states, ended), "times %v", states)
	}
	if slices.Contains(f.known, r.entry.name) {
		r.entry.check(t, &again)
	}
}

// linkCounts counts the links of a kind by the threads at their ends.
func linkCounts(r *run, kind string) map[string]int {
	counts := make(map[string]int)
	for _, l := range r.Links(r.service, kind) {
		cause := int64(0)
		if l.To != nil {
			cause = l.To.Number("thread.id")
		}
		counts[fmt.Sprintf("%d -> %d", cause, l.From.Number("thread.id"))]++
	}
	return counts
}

// timeSums returns the time that each of some threads spent in states, in nanoseconds.
func timeSums(r *run, states []string, of map[int64]bool) map[int64]int64 {
	sums := make(map[int64]int64)
	for _, s := range r.Of(r.service, isThread) {
		for _, state := range states {
			if d := s.Number("weft.time." + state); d > 0 && of[s.Number("thread.id")] {
				sums[s.Number("thread.id")] += d
			}
		}
	}
	return sums
}

// isThread reports whether a span is that of a thread in a window.
func isThread(s *spantest.Span) bool { return !s.IsState() && !s.IsRoot() && s.Has("thread.id") }

// endedThreads are all but daemons, which stop with the JVM: only native recordings say when that is.
func endedThreads(r *run) map[int64]bool {
	ended := make(map[int64]bool)
	for _, s := range r.Of(r.service, isThread) {
		daemon, known := s.Attributes().Get("jvm.thread.daemon")
		ended[s.Number("thread.id")] = ended[s.Number("thread.id")] || known && !daemon.Bool()
	}
	return ended
}
