// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package against answers: how does weft print what changed between two recordings?
package against

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/compare"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	objectWidth = 30
	siteWidth   = 30
)

// WriteText writes the changes as a table of at most top rows, largest differences first. Waits that did not change are counted.
func WriteText(w io.Writer, c *compare.Comparison, top int) error {
	w = printable.Writer(w)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", headline(c))
	fmt.Fprintf(&b, "%-7s  %-*s  %10s  %10s  %7s  %s\n", "CHANGES", objectWidth, "waits for", "before", "now", "", "in")
	same, rows := 0, 0
	for i := range c.Changes {
		change := &c.Changes[i]
		if change.Verdict == compare.Same {
			same++
			continue
		}
		if rows++; rows <= top {
			fmt.Fprintf(&b, "%-7s  %-*s  %10s  %10s  %7s  %s\n", change.Verdict, objectWidth, clip(object(&change.Key), objectWidth), rate(change.BeforeRate, c.Unit),
				rate(change.AfterRate, c.Unit), factor(change), clip(wording.SimpleFunction(change.Site), siteWidth))
		}
	}
	if rows > top {
		fmt.Fprintf(&b, "and %s\n", wording.Plural(rows-top, "more change"))
	}
	if rows == 0 {
		b.WriteString("none\n")
	}
	if same > 0 {
		fmt.Fprintf(&b, "\nNot listed: %d of %s, which changed by less than 1 %% of all, or no more than by chance.\n", same, entries(len(c.Changes)))
	}
	for line := range strings.Lines(b.String()) {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// headline is the change of all waits together.
func headline(c *compare.Comparison) string {
	before, now := c.Total.BeforeRate, c.Total.AfterRate
	human := func(ns float64) string { return units.Human(time.Duration(math.Round(ns))) + " per " + string(c.Unit) }
	switch c.Total.Verdict {
	case compare.New:
		return fmt.Sprintf("Threads waited %s; before, they did not wait.", human(now))
	case compare.Gone:
		return fmt.Sprintf("Threads did not wait; before, they waited %s.", human(before))
	case compare.Worse:
		return fmt.Sprintf("Threads waited %s, %.3g times as long as before (%s).", human(now), now/before, human(before))
	case compare.Better:
		return fmt.Sprintf("Threads waited %s; before, they waited %.3g times as long (%s).", human(now), before/now, human(before))
	}
	if before == 0 && now == 0 {
		return "Threads did not wait in either recording."
	}
	return fmt.Sprintf("Threads waited %s, about as long as before (%s).", human(now), human(before))
}

// object is what a thread waits for, with the kind of wait unless it says that.
func object(k *compare.Key) string {
	if k.Object == "" {
		return k.Kind
	}
	return printable.Text(k.Object) + " (" + k.Kind + ")"
}

// rate is a time per second or request.
func rate(ns float64, unit compare.Unit) string {
	per := "/s"
	if unit == compare.PerRequest {
		per = "/req"
	}
	if ns == 0 {
		return "-"
	}
	return units.Human(time.Duration(math.Round(ns))) + per
}

func factor(c *compare.Change) string {
	switch {
	case c.BeforeRate == 0 || c.AfterRate == 0:
		return ""
	case c.AfterRate >= c.BeforeRate:
		return fmt.Sprintf("×%.3g", c.AfterRate/c.BeforeRate)
	}
	return fmt.Sprintf("÷%.3g", c.BeforeRate/c.AfterRate)
}

func clip(text string, width int) string {
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return text
}
