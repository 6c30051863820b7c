// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// rawCarriers has a collector write the carriers of its receiver to a file.
const rawCarriers = "service: {pipelines: {traces: {processors: [], exporters: [file]}}}\n"

// TestReplayResumesAfterRestart stops the collector while it follows recordings, one of them growing: the next one must deliver each
// remaining event once.
func TestReplayResumesAfterRestart(t *testing.T) {
	j := jdks[len(jdks)-1]
	dir, state := t.TempDir(), t.TempDir()
	whole, growing := filepath.Join(dir, "whole.weft"), filepath.Join(dir, "growing.weft")
	raw := filepath.Join(t.TempDir(), "raw.yaml")
	require.NoError(t, os.WriteFile(raw, []byte(rawCarriers), 0o600))
	begin := func() *collector {
		return startCollector(t, setup{config: "replay.yaml", more: []string{raw}, env: []string{
			"WEFT_RECORDINGS=" + filepath.Join(dir, "*.weft"), "WEFT_STATE=" + state, "WEFT_FOLLOW=true",
		}})
	}
	var truth spantest.PingPong
	runJava(t, j, "file://"+whole, "whole", &truth, "PingPong", "100")
	jvm := java(t, j, "file://"+growing, "growing", "Idle")

	first := begin()
	poll(t, "the whole recording is read", func() bool { return ends(first.spans(t), "whole") == 1 })
	seen := len(first.spans(t).Spans)
	poll(t, "the other one is followed", func() bool { return len(first.spans(t).Spans) > seen+20 })
	first.terminate(t)
	jvm.advance(t, 20)
	between := begin()
	poll(t, "the next collector continues", func() bool { return carriersOf(between.spans(t), "growing") > 0 })
	between.terminate(t)
	jvm.advance(t, 30) // without a collector
	last := begin()
	require.NoError(t, writeLine(jvm))
	require.Equal(t, 0, jvm.wait(t))
	poll(t, "the end is read", func() bool { return ends(last.spans(t), "growing") == 1 })
	last.terminate(t)

	outputs := []*output{first.spans(t), between.spans(t), last.spans(t)}
	for service, file := range map[string]string{"whole": whole, "growing": growing} {
		want := recordedEvents(t, file)
		got, counters := carriedEvents(t, service, outputs)
		t.Logf("%s: %d events in %d, %d and %d carriers", service, len(want), carriersOf(outputs[0], service), carriersOf(outputs[1], service),
			carriersOf(outputs[2], service))
		assert.Equal(t, want, got, service)
		assert.Zero(t, counters, "%s: batches have numbers without a gap", service)
		assert.Equal(t, 1, ends(outputs[0], service)+ends(outputs[1], service)+ends(outputs[2], service), "%s ends once", service)
	}
	assert.Positive(t, carriersOf(outputs[0], "growing"))
	assert.Positive(t, carriersOf(outputs[2], "growing"))
	assert.Zero(t, carriersOf(outputs[1], "whole")+carriersOf(outputs[2], "whole"), "it was read before")
}

func carriersOf(o *output, service string) int {
	return len(o.Of(service, func(*span) bool { return true }))
}

func ends(o *output, service string) int {
	return len(o.Of(service, func(s *span) bool { return s.Text("weft.raw.end") != "" }))
}

// recordedEvents are the events of a recording as text.
func recordedEvents(t *testing.T, file string) (lines []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	format, sym := native.Format(), symbols.New(symbols.DefaultLimits())
	got, stats, err := threadtest.Decode(&format, recording.Options{File: file, Symbols: sym}, data, 0)
	threadtest.CheckDecoded(t, file, got, stats, err)
	for _, ev := range got.Events {
		lines = append(lines, threadtest.EventText(ev, sym))
	}
	slices.Sort(lines)
	return lines
}

// carriedEvents are the events that several collectors delivered for a service, and the anomalies in its batch numbers.
func carriedEvents(t *testing.T, service string, outputs []*output) (lines []string, odd ordering.Counters) {
	t.Helper()
	queue, sym := ordering.New(ordering.DefaultLimits()), symbols.New(symbols.DefaultLimits())
	for _, o := range outputs {
		assert.Empty(t, o.Twice)
		for _, s := range o.Spans {
			if s.Service != service {
				continue
			}
			var c threadpdata.Carrier
			require.NoError(t, threadpdata.Parse(s.Span, sym, &c))
			queue.Add(ordering.Batch{
				Number: c.Batch, Watermark: c.Watermark, Before: c.Before, End: c.End, Events: c.Events,
			})
			for _, ev := range c.Events {
				lines = append(lines, threadtest.EventText(ev, sym))
			}
		}
	}
	slices.Sort(lines)
	return lines, queue.Counters()
}
