// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// samples returns measurements with these CPU times of an event in nanoseconds.
func samples(ns ...int) (all []sample) {
	for _, n := range ns {
		all = append(all, sample{usage: usage{cpu: time.Duration(n) * 1000, peak: 50e6}, events: 1000, load: 1})
	}
	return all
}

// A ratio compares measurements of the same round: here the machine was three times slower in the second one.
func TestRatiosAreThoseOfARound(t *testing.T) {
	anchor, own := samples(100, 300, 110), samples(50, 150, 90)
	assert.Equal(t, 0.5, ratioOf(own, anchor, sample.ns))
	assert.Equal(t, 110.0, medianOf(anchor, sample.ns))
	assert.Zero(t, ratioOf(own, nil, sample.ns))
}

func collectorsWith(t *testing.T, programs ...map[string][]sample) *collectors {
	t.Helper()
	c := &collectors{samples: programs}
	all := collectorRows()
	for i := range all {
		if _, measured := programs[0][all[i].name]; measured {
			c.chosen = append(c.chosen, all[i])
		}
	}
	return c
}

func TestGoalsAreCompared(t *testing.T) {
	const nop, spans = "stream → nop", oneJVM
	c := collectorsWith(t, map[string][]sample{otlpToNop: samples(1000), nop: samples(140), spans: samples(601)})
	text := render(c.rows(), 1)
	for _, want := range []string{
		"| otlp → nop | 1000 ns (1000–1000), 50 MB | – | – | – | – |",
		"| stream → nop | otlp → nop 1000 ns | 140 ns (140–140), 50 MB | 0.14 | ≤ 0.15 | yes |",
		"| stream → thread_span → nop | otlp → nop 1000 ns | 601 ns (601–601), 50 MB | 0.60 | ≤ 0.60 | **no** |",
	} {
		assert.Contains(t, text, want+"\n")
	}
}

func TestTwoCollectorsAreCompared(t *testing.T) {
	c := collectorsWith(t, map[string][]sample{otlpToNop: samples(1000, 500)}, map[string][]sample{otlpToNop: samples(800, 400)})
	assert.Contains(t, render(c.rows(), 2), "| otlp → nop | 1000 ns (500–1000), 50 MB | 800 ns (400–800), 50 MB | 0.80 | – | – |\n")
}

func TestBusyMachineIsMarked(t *testing.T) {
	text := render([]line{{what: "idle", weft: "1 s", load: 3.9}, {what: "busy", weft: "2 s", load: 4.1}}, 1)
	assert.Contains(t, text, "| idle | – | 1 s |")
	assert.Contains(t, text, "| busy † | – | 2 s |")
}

// The anchors of all rows are rows themselves, and precede them.
func TestAnchorsAreMeasured(t *testing.T) {
	known := map[string]bool{"": true}
	for _, r := range collectorRows() {
		assert.True(t, known[r.anchor], "%s: anchor %q", r.name, r.anchor)
		known[r.name] = true
	}
	o := &options{only: regexp.MustCompile("^stream → contention"), programs: []string{os.Args[0]}}
	c := &collectors{}
	require.NoError(t, c.begin(t.Context(), o))
	require.Len(t, c.chosen, 2)
	assert.Equal(t, otlpToSpanMetrics, c.chosen[0].name)
}

// Configurations name only components that they define.
func TestConfigurations(t *testing.T) {
	at := addresses{socket: "/s", otlp: "localhost:1", health: "localhost:2", prometheus: "localhost:3", page: "localhost:4"}
	for _, r := range collectorRows() {
		text := r.parts.config(at)
		assert.Equal(t, r.parts.contention, regexp.MustCompile(`exporters: \[.*contention`).MatchString(text), r.name)
		assert.Equal(t, r.parts.page, regexp.MustCompile(`exporters: \[.*thread_view`).MatchString(text), r.name)
		assert.Equal(t, r.parts.threadSpan, regexp.MustCompile(`processors: \[thread_span\]`).MatchString(text), r.name)
		assert.Equal(t, !r.parts.otlp, regexp.MustCompile(`receivers: \[jvm_thread\]`).MatchString(text), r.name)
	}
}
