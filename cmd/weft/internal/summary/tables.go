// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/wording"
)

const lockWidth = 28

func (s Summary) writeLocks(b *strings.Builder, top int) {
	rows := slices.DeleteFunc(slices.Clone(s.Locks), func(l Lock) bool { return l.Contentions == 0 && l.Blocked == 0 })
	fmt.Fprintf(b, "\n%-*s %-6s %11s %8s  %9s  %9s  %9s  %9s\n", lockWidth, "HOTTEST LOCKS", "kind",
		"contentions", "handoffs", "blocked", "mean", "longest", "held max")
	for i := range rows[:min(top, len(rows))] {
		l := &rows[i]
		fmt.Fprintf(b, "%-*s %-6s %11s %8s  %s  %s  %s  %s\n", lockWidth, l.label(lockWidth), printable.Text(l.Kind), units.Grouped(l.Contentions), units.Grouped(l.Handoffs),
			units.Column(l.Blocked), units.Column(mean(l.Blocked, l.Contentions)), units.Column(l.BlockedMax), units.Column(l.HeldMax))
		s.writeObjects(b, l)
	}
	writeRest(b, len(rows), top, "no thread was blocked", "lock class")
}

// label is the name of a lock in the source, or else its class.
func (l *Lock) label(width int) string {
	if l.Name != "" {
		return clip(l.Name, width)
	}
	return lockClass(l.Class, width)
}

// label is the name of an object or, if that says nothing, where threads waited for it.
func (o *Object) label() string {
	if o.Caller != "" {
		return wording.SimpleFunction(o.Caller)
	}
	return o.Name
}

// writeObjects lists the locks of a class that the source calls differently, as far as waits for them have spans.
func (s Summary) writeObjects(b *strings.Builder, l *Lock) {
	const most = 3
	var rows []Object
	named := false
	for i := range s.Objects {
		if s.Objects[i].Class == l.Class {
			rows = append(rows, s.Objects[i])
			named = named || s.Objects[i].label() != wording.SimpleClass(l.Class)
		}
	}
	if len(rows) < 2 || !named {
		return
	}
	least := ""
	if l.Folded > 0 {
		least = "≥"
	}
	for i := range rows[:min(most, len(rows))] {
		o := &rows[i]
		fmt.Fprintf(b, "  %-*s %-6s %11s %8s  %s  %s\n", lockWidth-2, clip(o.label(), lockWidth-2), printable.Text(o.Kind), least+units.Grouped(o.Contentions), "",
			units.Column(o.Blocked), units.Column(mean(o.Blocked, o.Contentions)))
	}
	if more := len(rows) - most; more > 0 {
		fmt.Fprintf(b, "  and %s of the class\n", units.Grouped(int64(more))+" more")
	}
}

func (s Summary) writeWaits(b *strings.Builder) {
	if len(s.Waits) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-*s %11s  %9s  %9s  %s\n", waitWidth, "WAITS BY KIND", "waits", "time", "mean", "most in")
	for i := range s.Waits {
		w := &s.Waits[i]
		fmt.Fprintf(b, "%-*s %11s  %s  %s  %s\n", waitWidth, kindWords[kindNamed(w.Kind)], units.Grouped(w.Count),
			units.Column(w.Time), units.Column(mean(w.Time, w.Count)), siteText(w.Site, w.Entry, 40))
	}
}

const waitWidth = 22

// writeObjectWaits lists the classes of the objects whose monitors threads waited on.
func (s Summary) writeObjectWaits(b *strings.Builder, top int) {
	rows := slices.DeleteFunc(slices.Clone(s.Locks), func(l Lock) bool { return l.Waits == 0 && l.Waited == 0 })
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b Lock) int { return cmp.Compare(b.Waited, a.Waited) })
	fmt.Fprintf(b, "\n%-*s %11s %9s  %9s  %9s\n", nameWidth, "CALLS OF OBJECT.WAIT", "waits", "", "waited", "mean")
	for i := range rows[:min(top, len(rows))] {
		l := &rows[i]
		fmt.Fprintf(b, "%-*s %11s %9s  %s  %s\n", nameWidth, lockClass(l.Class, nameWidth), units.Grouped(l.Waits), "",
			units.Column(l.Waited), units.Column(mean(l.Waited, l.Waits)))
	}
	writeRest(b, len(rows), top, "", "class")
}

// siteText names a method, and the library's method that it called to wait unless that says nothing new.
func siteText(function, entry string, width int) string {
	function, entry = printable.Text(function), printable.Text(entry)
	text := shortFunction(function, width)
	if entry == "" || strings.HasPrefix(entry, "java.lang.") {
		return text
	}
	via := wording.SimpleFunction(entry)
	if len([]rune(text))+len(" ()")+len([]rune(via)) > width {
		text = wording.SimpleFunction(function)
	}
	if len([]rune(text))+len(" ()")+len([]rune(via)) > width {
		return shortFunction(function, width)
	}
	return text + " (" + via + ")"
}

func (s Summary) writeThreads(b *strings.Builder, top int) {
	rows := slices.DeleteFunc(slices.Clone(s.Threads), func(t Thread) bool { return t.Blocks == 0 && t.Blocked == 0 })
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-*s %11s %9s  %9s  %9s  %9s\n", nameWidth, "MOST BLOCKED THREADS", "times", "lifetime", "blocked", "mean", "waiting")
	for _, t := range rows[:min(top, len(rows))] {
		fmt.Fprintf(b, "%-*s %11s %9s  %s  %s  %s\n", nameWidth, threadName(t), units.Grouped(t.Blocks), percent(t.Blocked, t.Time),
			units.Column(t.Blocked), units.Column(mean(t.Blocked, t.Blocks)), units.Column(t.Waited))
	}
	writeRest(b, len(rows), top, "", "thread")
}

// writeLongest writes two lines for each wait: what it was for, and who held that.
func (s Summary) writeLongest(b *strings.Builder, top int) {
	if len(s.Longest) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-26s %9s  %-24s %s\n", "LONGEST BLOCKED", "blocked", "for", "in")
	for i := range s.Longest[:min(top, longestRows, len(s.Longest))] {
		l := &s.Longest[i]
		fmt.Fprintf(b, "%-26s %s  %-24s %s\n", clip(l.Thread, 26), units.Column(l.Time), clip(l.Name, 24), siteText(l.Function, l.Entry, 36))
		fmt.Fprintf(b, "  %s\n", clip(l.heldBy(), pageWidth-2))
	}
}

// heldBy says who held what a wait was for.
func (l *Blocked) heldBy() string {
	d := doing{state: l.Holder.State, function: l.Holder.Function}
	switch h := &l.Holder; {
	case h.Thread != "" && l.Kind != jvmthread.WaitLock.String():
		holders := parseHolders(h.Thread, h.Share, l.Holders)
		text, words := "held by "+listed(names(holders)), d.words()
		switch {
		case words == "":
			return text
		case len(holders) == 1:
			return text + ", " + words
		}
		return text + "; the first " + words
	case h.Thread != "":
		return wording.Held(jvmthread.WaitLock, h.Thread, h.Share, d.words())
	case l.Owner != "":
		return "owner at first: " + l.Owner
	}
	return "not known who held it"
}

func writeRest(b *strings.Builder, rows, top int, none, what string) {
	switch {
	case rows == 0 && none != "":
		fmt.Fprintf(b, "  %s\n", none)
	case rows > top:
		fmt.Fprintf(b, "  and %s\n", units.Plural(int64(rows-top), "more "+what))
	}
}

func threadName(t Thread) string {
	if t.Threads < 2 {
		return clip(t.Name, nameWidth)
	}
	times := fmt.Sprintf(" (%s threads)", units.Grouped(int64(t.Threads)))
	return clip(t.Name, nameWidth-len(times)) + times
}

func percent(part, whole time.Duration) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
