// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"fmt"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
)

// Thread dumps show moments. So what is said of them has no durations: the present is for one dump, the past for several, with how many show it.

// dumped says what thread dumps show of who waited for what, and who held it.
func (s *sentence) dumped(c *viewapi.Cost) {
	shown, now := c.Dumps.Waited, c.Dumps.Taken < 2
	if c.Culprit && len(c.Holders) > 0 {
		shown = c.Dumps.Held
		s.text(inDumps(shown, c.Dumps)).rootNow(c, now).text("; ").waitNow(c, now).text("it")
		if c.Dumps.Waited > shown {
			s.text(fmt.Sprintf(", in %d", c.Dumps.Waited))
		}
		return
	}
	s.text(inDumps(shown, c.Dumps))
	if _, known := aims[c.Kind]; known {
		s.add(viewapi.RoleThread, Threads(c.Who, c.Waiters, c.Time)).text(" " + verb(c.Waiters, now, "wait") + " ").aim(c).where(c)
		if m := c.Dumps.Meanwhile; m != nil && c.Stuck == 0 {
			s.text("; meanwhile ").add(viewapi.RoleThread, group(&m.Who)).text(" " + plural(now, plural(m.Who.Threads == 1, "is", "are"), plural(m.Who.Threads == 1, "was", "were")) + " " + m.Text)
		}
		return
	}
	s.waitNow(c, now).lock(c, c.Unit).at(c)
	switch {
	case len(c.Holders) == 0 || c.Unknown > 0:
		s.text("; " + plural(now, "the dump does", "the dumps do") + " not say who " + plural(now, "holds", "held") + " it")
	default:
		names := make([]string, len(c.Holders))
		for i := range c.Holders {
			names[i] = c.Holders[i].Thread.Name
		}
		all := len(c.Holders) + c.More
		s.text("; " + Listed(names, all) + " " + verb(all, now, "hold") + " it")
		if c.Turns != nil {
			s.doing(c.Turns.Text)
		} else {
			s.doing(c.Holders[0].Text)
		}
	}
}

// stuckNow says why waits may never end. What the culprit does itself is said already.
func (s *sentence) stuckNow(c *viewapi.Cost) {
	switch {
	case c.Stuck == 0, c.Culprit && !c.Itself && len(c.Back) == 0:
	case c.Starved != nil:
		s.starved(c)
	case c.Itself && len(c.Unable) > 0:
		s.text("; " + c.Unable[0].Name + ", which holds it, waits for itself")
	case len(c.Unable) == 0:
		s.text("; " + gone(c))
	case len(c.Gone) == 0:
		s.text("; " + unable(c))
	default:
		s.text("; " + gone(c) + ", and " + unable(c))
	}
}

// inDumps says how many dumps show something: "In 2 of 3 dumps over 20 s, ".
func inDumps(n int, d *viewapi.Dumped) string {
	if d.Taken < 2 {
		return "In this dump, "
	}
	over := ""
	if d.Over > 0 {
		over = " over " + strings.TrimSpace(Duration(jvmthread.Time(d.Over).Sub(0)))
	}
	return fmt.Sprintf("In %d of %d dumps%s, ", n, d.Taken, over)
}

func plural(one bool, single, several string) string {
	if one {
		return single
	}
	return several
}

// verb is a verb for so many threads, now or in the past.
func verb(n int, now bool, word string) string {
	switch {
	case !now && word == "hold":
		return "held"
	case !now:
		return word + "ed"
	case n == 1:
		return word + "s"
	}
	return word
}

// waitNow says who waited: "5 requests waited for ".
func (s *sentence) waitNow(c *viewapi.Cost, now bool) *sentence {
	return s.add(viewapi.RoleThread, Threads(c.Who, c.Waiters, c.Time)).text(" " + verb(c.Waiters, now, "wait") + " for ")
}

// rootNow says what the last culprit of a chain did, and of those between whom it stands what they held.
func (s *sentence) rootNow(c *viewapi.Cost, now bool) *sentence {
	holder := &c.Holders[0]
	next := c.Next
	if next != nil && next.Culprit && len(next.Holders) > 0 {
		return s.rootNow(next, now).text("; ").add(viewapi.RoleThread, holder.Thread.Name).text(" " + verb(1, now, "wait") + " for it and " + verb(1, now, "hold") + " ").whole(c)
	}
	holds := verb(1, now, "hold")
	if IsInitialization(c.Name) {
		holds = plural(now, "is in", "was in")
	}
	return s.add(viewapi.RoleThread, holder.Thread.Name).text(" " + holds + " ").whole(c).doing(holder.Text)
}

// doing adds what a thread did.
func (s *sentence) doing(text string) *sentence {
	if text == "" {
		return s
	}
	return s.text(", " + text)
}

// QuietDumps says what threads did if no dump shows one that waited for others.
func QuietDumps(k *viewapi.KindRow, d *viewapi.Dumped) []viewapi.Part {
	var s sentence
	s.text("Nothing to report: ")
	if d.Taken < 2 {
		s.text("no thread waits for a lock, a permit, a pool or a task in this dump")
	} else {
		s.text(fmt.Sprintf("no thread waited for a lock, a permit, a pool or a task in %d dumps", d.Taken))
	}
	if k == nil {
		return s.text(".").parts
	}
	s.text(". Most: " + Plural(k.Threads, "thread") + " ")
	if k.Site == nil || k.Site.Function == "" {
		return s.text(Kind(k.Wait) + ".").parts
	}
	return s.text("in ").add(viewapi.RoleMethod, SimpleFunction(k.Site.Function)).text(", " + Kind(k.Wait) + ".").parts
}
