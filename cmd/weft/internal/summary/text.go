// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

const (
	pageWidth = 100
	nameWidth = 32

	longestRows = 5 // further rows rarely have another cause
)

// WriteText writes the summary as tables for people, at most 100 columns wide, with at most top rows each.
func (s Summary) WriteText(w io.Writer, top int) error {
	var b strings.Builder
	s.writeHead(&b)
	if s.Windows > 0 || s.Aggregates > 0 {
		s.writeDeadlocks(&b)
		s.writeLocks(&b, top)
		s.writeWaits(&b, top)
	}
	if s.Windows > 0 {
		s.writeChain(&b)
		s.writeThreads(&b, top)
		s.writeLongest(&b, top)
	}
	for line := range strings.Lines(b.String()) {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func (s Summary) writeHead(b *strings.Builder) {
	if s.Windows == 0 && s.Aggregates > 0 {
		fmt.Fprintf(b, "%s: %s of aggregated waits in %s; an agent in aggregated mode does not report threads\n", strings.Join(s.Services, ", "),
			human(s.End.Sub(s.Start)), plural(int64(s.Sessions), "session"))
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
	fmt.Fprintf(b, "%s: %s, %s in %s of %s\n", strings.Join(s.Services, ", "), human(s.End.Sub(s.Start)),
		plural(int64(threads), "thread"), plural(int64(s.Windows), "window"), plural(int64(s.Sessions), "session"))
	fmt.Fprintf(b, "%s, %s lost, %s missed; %s", plural(s.Events, "event"), grouped(s.EventsLost), grouped(s.EventsMissed),
		plural(s.Spans, "span"))
	if s.FoldedCount > 0 {
		fmt.Fprintf(b, "; %s (%s) counted without a span", plural(s.FoldedCount, "short state"), human(s.FoldedTime))
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
			text := "  " + t
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

func (s Summary) writeLocks(b *strings.Builder, top int) {
	rows := slices.DeleteFunc(slices.Clone(s.Locks), func(l Lock) bool { return l.Contentions == 0 && l.Blocked == 0 })
	fmt.Fprintf(b, "\n%-*s %11s %9s  %9s  %9s  %9s  %9s\n", nameWidth, "HOTTEST LOCKS",
		"contentions", "handoffs", "blocked", "mean", "longest", "held max")
	for _, l := range rows[:min(top, len(rows))] {
		fmt.Fprintf(b, "%-*s %11s %9s  %s  %s  %s  %s\n", nameWidth, lockClass(l.Class, nameWidth), grouped(l.Contentions), grouped(l.Handoffs),
			column(l.Blocked), column(mean(l.Blocked, l.Contentions)), column(l.BlockedMax), column(l.HeldMax))
	}
	writeRest(b, len(rows), top, "no thread was blocked", "lock class")
}

func (s Summary) writeWaits(b *strings.Builder, top int) {
	rows := slices.DeleteFunc(slices.Clone(s.Locks), func(l Lock) bool { return l.Waits == 0 && l.Waited == 0 })
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b Lock) int { return cmp.Compare(b.Waited, a.Waited) })
	fmt.Fprintf(b, "\n%-*s %11s %9s  %9s  %9s\n", nameWidth, "WAITS", "waits", "", "waited", "mean")
	for _, l := range rows[:min(top, len(rows))] {
		fmt.Fprintf(b, "%-*s %11s %9s  %s  %s\n", nameWidth, lockClass(l.Class, nameWidth), grouped(l.Waits), "",
			column(l.Waited), column(mean(l.Waited, l.Waits)))
	}
	writeRest(b, len(rows), top, "", "class")
}

func (s Summary) writeChain(b *strings.Builder) {
	b.WriteString("\nLONGEST HANDOFF RUN\n")
	if s.Chain == nil {
		b.WriteString("  no lock was handed off\n")
		return
	}
	c := *s.Chain
	fmt.Fprintf(b, "  %s of %s in %s\n", plural(c.Length, "handoff"), lockClass(c.Class, 60), human(c.Time))
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
	for i, name := range strings.Split(threads, arrow) {
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

func (s Summary) writeThreads(b *strings.Builder, top int) {
	rows := slices.DeleteFunc(slices.Clone(s.Threads), func(t Thread) bool { return t.Blocks == 0 && t.Blocked == 0 })
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-*s %11s %9s  %9s  %9s  %9s\n", nameWidth, "MOST BLOCKED THREADS", "times", "lifetime", "blocked", "mean", "waiting")
	for _, t := range rows[:min(top, len(rows))] {
		fmt.Fprintf(b, "%-*s %11s %9s  %s  %s  %s\n", nameWidth, threadName(t), grouped(t.Blocks), percent(t.Blocked, t.Time),
			column(t.Blocked), column(mean(t.Blocked, t.Blocks)), column(t.Waited))
	}
	writeRest(b, len(rows), top, "", "thread")
}

func (s Summary) writeLongest(b *strings.Builder, top int) {
	if len(s.Longest) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-26s %9s  %-24s %s\n", "LONGEST BLOCKED", "blocked", "held by", "in")
	for i := range s.Longest[:min(top, longestRows, len(s.Longest))] {
		l := &s.Longest[i]
		owner := clip(l.Owner, 24)
		if owner == "" {
			owner = "?"
		}
		fmt.Fprintf(b, "%-26s %s  %-24s %s\n", clip(l.Thread, 26), column(l.Time), owner, shortClass(l.Function, 36))
	}
}

func writeRest(b *strings.Builder, rows, top int, none, what string) {
	switch {
	case rows == 0 && none != "":
		fmt.Fprintf(b, "  %s\n", none)
	case rows > top:
		fmt.Fprintf(b, "  and %s\n", plural(int64(rows-top), "more "+what))
	}
}

func threadName(t Thread) string {
	if t.Threads < 2 {
		return clip(t.Name, nameWidth)
	}
	times := fmt.Sprintf(" (%s threads)", grouped(int64(t.Threads)))
	return clip(t.Name, nameWidth-len(times)) + times
}

func percent(part, whole time.Duration) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
