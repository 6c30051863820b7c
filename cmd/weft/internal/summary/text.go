// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/printable"
)

const (
	pageWidth = 100
	nameWidth = 32

	longestRows = 5 // further rows rarely have another cause
)

// WriteText writes the summary as tables for people, at most 100 columns wide, with at most top rows each.
func (s Summary) WriteText(w io.Writer, top int) error {
	w = printable.Writer(w)
	var b strings.Builder
	if s.Headline != "" {
		writeSentence(&b, printable.Text(s.Headline))
		b.WriteString("\n")
	}
	s.writeHead(&b)
	if s.Windows > 0 || s.Aggregates > 0 {
		s.writeDeadlocks(&b)
		s.writeLocks(&b, top)
		s.writeWaits(&b)
	}
	if s.Windows > 0 {
		s.writeChain(&b)
		s.writeThreads(&b, top)
		s.writeLongest(&b, top)
	}
	if s.Windows > 0 || s.Aggregates > 0 {
		s.writeObjectWaits(&b, top)
	}
	for line := range strings.Lines(b.String()) {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// writeSentence breaks a sentence at spaces.
func writeSentence(b *strings.Builder, text string) {
	width := 0
	for i, word := range strings.Split(text, " ") {
		n := len([]rune(word))
		switch {
		case i == 0:
		case width+1+n > pageWidth:
			b.WriteString("\n")
			width = 0
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(word)
		width += n
	}
	b.WriteString("\n")
}

func (s Summary) writeHead(b *strings.Builder) {
	if s.Windows == 0 && s.Aggregates > 0 {
		fmt.Fprintf(b, "%s: %s of aggregated waits in %s; an agent in aggregated mode does not report threads\n", strings.Join(printable.Texts(s.Services), ", "),
			units.Human(s.End.Sub(s.Start)), units.Plural(int64(s.Sessions), "session"))
		return
	}
	if s.Windows == 0 {
		b.WriteString("The input contains no windows of a JVM.\n")
		return
	}
	threads := 0
	for _, t := range s.Threads {
		threads += t.Threads
	}
	with := ""
	if s.FoldedThreads > 0 { // of which it is not known how many they are
		with = " with spans"
	}
	fmt.Fprintf(b, "%s: %s, %s%s in %s of %s\n", strings.Join(printable.Texts(s.Services), ", "), units.Human(s.End.Sub(s.Start)),
		units.Plural(int64(threads), "thread"), with, units.Plural(int64(s.Windows), "window"), units.Plural(int64(s.Sessions), "session"))
	fmt.Fprintf(b, "%s, %s lost, %s missed; %s", units.Plural(s.Events, "event"), units.Grouped(s.EventsLost), units.Grouped(s.EventsMissed),
		units.Plural(s.Spans, "span"))
	if s.FoldedCount > 0 {
		fmt.Fprintf(b, "; %s (%s) counted without a span", units.Plural(s.FoldedCount, "short state"), units.Human(s.FoldedTime))
	}
	b.WriteString("\n")
	s.writeThresholds(b)
}

// writeThresholds lists what a recording omits, because zero waits may just mean short waits.
func (s Summary) writeThresholds(b *strings.Builder) {
	var previous []string
	for _, r := range s.Recordings {
		if len(r.Thresholds) == 0 || slices.Equal(previous, r.Thresholds) {
			continue
		}
		previous = r.Thresholds
		fmt.Fprintf(b, "\nThe %s recording contains only events that lasted at least:\n", r.Format)
		width := 0
		for _, t := range r.Thresholds {
			text := "  " + printable.Text(t)
			if width+len(text) > pageWidth && width > 0 {
				b.WriteString("\n")
				width = 0
			}
			b.WriteString(text)
			width += len(text)
		}
		b.WriteString("\n")
	}
}

func (s Summary) writeDeadlocks(b *strings.Builder) {
	for i := range s.Deadlocks {
		d := &s.Deadlocks[i]
		fmt.Fprintf(b, "\nDEADLOCK since %s\n", d.Since.UTC().Format("15:04:05.000 UTC"))
		writeWrapped(b, d.Threads)
		fmt.Fprintf(b, "  trace %s\n", d.TraceID)
	}
}

func (s Summary) writeChain(b *strings.Builder) {
	b.WriteString("\nLONGEST HANDOFF RUN\n")
	if s.Chain == nil {
		b.WriteString("  no lock was handed off\n")
		return
	}
	c := *s.Chain
	label := lockClass(c.Class, 60)
	if i := slices.IndexFunc(s.Locks, func(l Lock) bool { return l.Class == c.Class }); i >= 0 {
		label = s.Locks[i].label(60)
	}
	fmt.Fprintf(b, "  %s of %s in %s\n", units.Plural(c.Length, "handoff"), label, units.Human(c.Time))
	writeWrapped(b, c.Threads)
	fmt.Fprintf(b, "  trace %s, window from %s\n", c.TraceID, c.At.UTC().Format("15:04:05.000 UTC"))
}

// writeWrapped breaks a list of threads at its arrows.
func writeWrapped(b *strings.Builder, threads string) {
	const arrow = " -> "
	if threads == "" {
		return
	}
	width := 0
	for i, name := range strings.Split(printable.Text(threads), arrow) {
		name = clip(name, 60)
		switch {
		case i == 0:
			b.WriteString("  ")
			width = 2
		case width+len(arrow)+len([]rune(name))+len(arrow) > pageWidth:
			b.WriteString(" ->\n     ")
			width = 5
		default:
			b.WriteString(arrow)
			width += len(arrow)
		}
		b.WriteString(name)
		width += len([]rune(name))
	}
	b.WriteString("\n")
}
