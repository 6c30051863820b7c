// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// line is a row of the table.
type line struct {
	what   string
	anchor string // the peer and what it takes in the same run
	weft   string
	ratio  float64 // zero: there is no peer
	goal   string
	met    bool
	load   float64 // of the machine, see busy
}

// busyLoad is the load average above which a row is marked: the machine had less than one processor for the row.
const busyLoad = 4

// render returns the table in Markdown, and a line that states what it was measured on.
func render(table []line, rounds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %d processors, %s; medians of %d interleaved rounds; † load average above %d.\n\n",
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.Version(), rounds, busyLoad)
	b.WriteString("| what | anchor, same run | Weft | ratio | goal | met |\n| --- | --- | --- | --- | --- | --- |\n")
	for i := range table {
		l := &table[i]
		mark, ratio, met := "", "–", "–"
		if l.load > busyLoad {
			mark = " †"
		}
		if l.ratio > 0 {
			ratio = fmt.Sprintf("%.2f", l.ratio)
			if l.ratio < 0.1 {
				ratio = fmt.Sprintf("%.3f", l.ratio)
			}
		}
		if l.goal != "" {
			met = map[bool]string{true: "yes", false: "**no**"}[l.met]
		}
		fmt.Fprintf(&b, "| %s%s | %s | %s | %s | %s | %s |\n", l.what, mark, dash(l.anchor), l.weft, ratio, dash(l.goal), met)
	}
	return b.String()
}

func dash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// medianOf returns the median of a value of all samples.
func medianOf[S any](samples []S, value func(S) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = value(s)
	}
	return median(values)
}

// itself is the value of samples that are numbers.
func itself(v float64) float64 { return v }

// ratioOf returns the median of the ratios within a round.
func ratioOf[S any](samples, anchors []S, value func(S) float64) float64 {
	all := ratiosOf(samples, anchors, value)
	if all == nil {
		return 0
	}
	return median(all)
}

// ratiosOf returns the ratios within a round, the lowest first.
func ratiosOf[S any](samples, anchors []S, value func(S) float64) (ratios []float64) {
	for i := range min(len(samples), len(anchors)) {
		ratios = append(ratios, value(samples[i])/value(anchors[i]))
	}
	slices.Sort(ratios)
	return ratios
}

// busy returns the load average of the last minute.
func busy() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	average, _, _ := strings.Cut(string(text), " ")
	load, _ := strconv.ParseFloat(average, 64) // zero where there is no such file
	return load
}
