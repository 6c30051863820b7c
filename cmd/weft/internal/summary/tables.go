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
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	lockWidth = 28
	waitWidth = 22
)

// column is a duration in a table.
func column(ns int64) string { return units.Column(time.Duration(ns)) }

// mean is a duration in a table; "-" for none.
func mean(sum, count int64) string {
	if count == 0 {
		return column(0)
	}
	return column(sum / count)
}

func (s *Session) writeLocks(b *strings.Builder, top int) {
	fmt.Fprintf(b, "\n%-*s %-6s %11s %8s  %9s  %9s  %9s  %9s\n", lockWidth, "HOTTEST LOCKS", "kind",
		"contentions", "handoffs", "blocked", "mean", "longest", "held max")
	for i := range s.Answer.Costs[:min(top, len(s.Answer.Costs))] {
		c := &s.Answer.Costs[i]
		fmt.Fprintf(b, "%-*s %-6s %11s %8s  %s  %s  %s  %s\n", lockWidth, lockName(c, lockWidth), printable.Text(c.Kind), wording.Grouped(c.Count),
			wording.Grouped(c.Handoffs), column(c.Time), mean(c.Time, c.Count), column(c.Longest), column(c.Held))
	}
	writeRest(b, s.Answer.Total, top, "no thread was blocked", "lock")
}

// lockName is the name of a lock in the source or, if that says nothing, its class and the method that waits for it.
func lockName(c *viewapi.CostRow, width int) string {
	switch {
	case c.Caller != "":
		return clip(wording.LockOf(c.Name, c.Caller), width)
	case c.Name == "" || c.Kind == jvmthread.WaitLock.String() && c.Name == wording.SimpleClass(c.Class):
		return lockClass(c.Class, width)
	}
	return clip(c.Name, width)
}

// kinds returns the waits by kind, whatever the state of the thread: those without a task last.
func (s *Session) kinds() (out []viewapi.KindRow) {
	for i := range s.Kinds.Kinds {
		k := s.Kinds.Kinds[i]
		at := slices.IndexFunc(out, func(o viewapi.KindRow) bool { return o.Wait == k.Wait })
		if at < 0 {
			out = append(out, k)
			continue
		}
		o := &out[at]
		o.Stats.Count, o.Stats.Time = o.Stats.Count+k.Stats.Count, o.Stats.Time+k.Stats.Time
	}
	slices.SortStableFunc(out, func(a, b viewapi.KindRow) int {
		if a.Idle != b.Idle {
			if a.Idle {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.Stats.Time, a.Stats.Time)
	})
	return out
}

func (s *Session) writeKinds(b *strings.Builder) {
	if len(s.Kinds.Kinds) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-*s %11s  %9s  %9s  %s\n", waitWidth, "WAITS BY KIND", "waits", "time", "mean", "most in")
	rows := s.kinds()
	for i := range rows {
		k, site := &rows[i], viewapi.Site{}
		if k.Site != nil {
			site = *k.Site
		}
		fmt.Fprintf(b, "%-*s %11s  %s  %s  %s\n", waitWidth, wording.Kind(k.Wait), wording.Grouped(k.Stats.Count),
			column(k.Stats.Time), mean(k.Stats.Time, k.Stats.Count), siteText(site.Function, site.Entry, 40))
	}
}

// writeObjectWaits lists the classes of the objects whose monitors threads waited on.
func (s *Session) writeObjectWaits(b *strings.Builder, top int) {
	rows := 0
	for i := range s.Objects.Classes {
		c := &s.Objects.Classes[i]
		if c.Waited.Count == 0 && c.Waited.Time == 0 {
			break
		}
		if rows++; rows == 1 {
			fmt.Fprintf(b, "\n%-*s %11s %9s  %9s  %9s\n", nameWidth, "CALLS OF OBJECT.WAIT", "waits", "", "waited", "mean")
		}
		if rows <= top {
			fmt.Fprintf(b, "%-*s %11s %9s  %s  %s\n", nameWidth, lockClass(c.Class, nameWidth), wording.Grouped(c.Waited.Count), "",
				column(c.Waited.Time), mean(c.Waited.Time, c.Waited.Count))
		}
	}
	writeRest(b, rows, top, "", "class")
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

func (s *Session) writeThreads(b *strings.Builder, top int) {
	if len(s.Threads) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-*s %11s %9s  %9s  %9s  %9s\n", nameWidth, "MOST BLOCKED THREADS", "times", "lifetime", "blocked", "mean", "waiting")
	for i := range s.Threads[:min(top, len(s.Threads))] {
		t := &s.Threads[i]
		fmt.Fprintf(b, "%-*s %11s %9s  %s  %s  %s\n", nameWidth, threadName(t), wording.Grouped(t.Blocked.Count), percent(t.Blocked.Time, t.Time),
			column(t.Blocked.Time), mean(t.Blocked.Time, t.Blocked.Count), column(t.Waited))
	}
}

// writeLongest writes two lines for each wait: what it was for, and who held that.
func (s *Session) writeLongest(b *strings.Builder) {
	if len(s.Waits) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-26s %9s  %-24s %s\n", "LONGEST BLOCKED", "blocked", "for", "in")
	for i := range s.Waits {
		w, site := &s.Waits[i], viewapi.Site{}
		if w.Site != nil {
			site = *w.Site
		}
		fmt.Fprintf(b, "%-26s %s  %-24s %s\n", clip(w.Thread.Name, 26), column(w.Length), clip(w.Name, 24), siteText(site.Function, site.Entry, 36))
		fmt.Fprintf(b, "  %s\n", clip(w.heldBy(), pageWidth-2))
	}
}

// heldBy says who held what a wait was for.
func (w *Wait) heldBy() string {
	if len(w.Holders) == 0 {
		if w.Owner != nil {
			return "owner at first: " + w.Owner.Thread.Name
		}
		return "not known who held it"
	}
	first := &w.Holders[0]
	if w.Wait == jvmthread.WaitLock.String() {
		return wording.Held(jvmthread.WaitLock, first.Thread.Name, first.Share, first.Text)
	}
	names := make([]string, len(w.Holders))
	for i := range w.Holders {
		names[i] = w.Holders[i].Thread.Name
	}
	text := "held by " + wording.Listed(names, len(names))
	switch {
	case first.Text == "":
		return text
	case len(names) == 1:
		return text + ", " + first.Text
	}
	return text + "; the first " + first.Text
}

func writeRest(b *strings.Builder, rows, top int, none, what string) {
	switch {
	case rows == 0 && none != "":
		fmt.Fprintf(b, "  %s\n", none)
	case rows > top:
		fmt.Fprintf(b, "  and %s\n", wording.Plural(rows-top, "more "+what))
	}
}

func threadName(t *Thread) string {
	if t.Threads < 2 {
		return clip(t.Name, nameWidth)
	}
	times := " (" + wording.Grouped(t.Threads) + " threads)"
	return clip(t.Name, nameWidth-len(times)) + times
}

func percent(part, whole int64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
