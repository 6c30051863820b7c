// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// sample is one measurement of a row.
type sample struct {
	usage

	events int
}

// ns returns the CPU time of an event in nanoseconds.
func (s sample) ns() float64 { return float64(s.cpu) / float64(s.events) }

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// medianOf returns the median of a value of all samples.
func medianOf(samples []sample, value func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = value(s)
	}
	return median(values)
}

// result is a row of the table.
type result struct{ ns, low, high, ratio, cores, mb float64 }

// summarize returns the medians of a row. The ratio is the median of those to the anchor in the same round.
func summarize(samples, anchors []sample) result {
	const megabyte = 1e6
	res := result{
		ns:   medianOf(samples, sample.ns),
		mb:   medianOf(samples, func(s sample) float64 { return float64(s.peak) / megabyte }),
		low:  slices.MinFunc(samples, func(a, b sample) int { return int(a.ns() - b.ns()) }).ns(),
		high: slices.MaxFunc(samples, func(a, b sample) int { return int(a.ns() - b.ns()) }).ns(),
	}
	if len(anchors) > 0 {
		var ratios []float64
		for i := range min(len(samples), len(anchors)) {
			ratios = append(ratios, samples[i].ns()/anchors[i].ns())
		}
		res.ratio = median(ratios)
	}
	return res
}

// met states whether the goal was met.
func (g goal) met(res result) string {
	if g == (goal{}) {
		return ""
	}
	for _, limit := range [][2]float64{{g.ratio, res.ratio}, {g.ns, res.ns}, {g.cores, res.cores}, {g.mb, res.mb}} {
		if limit[0] > 0 && limit[1] > limit[0] {
			return "**no**"
		}
	}
	return "yes"
}

func (g goal) String() string {
	var all []string
	for _, limit := range []struct {
		value  float64
		format string
	}{{g.ratio, "≤ %.2f"}, {g.ns, "≤ %.0f ns"}, {g.cores, "≤ %.1f cores"}, {g.mb, "≤ %.0f MB"}} {
		if limit.value > 0 {
			all = append(all, fmt.Sprintf(limit.format, limit.value))
		}
	}
	return strings.Join(all, ", ")
}

// printTable writes the table as Markdown.
func printTable(w io.Writer, list []row, samples map[string][]sample) {
	fmt.Fprintln(w, "| what | CPU an event, ns | lowest–highest | relative to | ratio | cores | peak RSS, MB | goal | met |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for i := range list {
		r := &list[i]
		own := samples[r.name]
		if len(own) == 0 {
			continue
		}
		res := summarize(own, samples[r.anchor])
		anchor, ratio, cores := "", "", ""
		if res.ratio > 0 {
			anchor, ratio = r.anchor, fmt.Sprintf("%.2f", res.ratio)
		}
		if r.paced > 0 { // not per second of the measurement, which a busy machine extends
			res.cores = res.ns * float64(r.events) / float64(r.paced)
			cores = fmt.Sprintf("%.2f", res.cores)
		}
		fmt.Fprintf(w, "| %s | %.0f | %.0f–%.0f | %s | %s | %s | %.0f | %v | %s |\n",
			r.name, res.ns, res.low, res.high, anchor, ratio, cores, res.mb, r.goal, r.goal.met(res))
	}
}

// busy returns the load average of the last minute.
func busy() string {
	text, _ := os.ReadFile("/proc/loadavg")
	average, _, _ := strings.Cut(string(text), " ")
	return average
}

func took(since time.Time) time.Duration { return time.Since(since).Round(time.Second) }
