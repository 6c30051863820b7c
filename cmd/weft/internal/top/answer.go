// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"strings"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// sentence says what cost the most within the window, who held it, and who waited.
func (s *snapshot) sentence(window time.Duration) string {
	when := "Last " + windowName(window) + ": "
	if window >= All {
		when = ""
	}
	a := &s.answer
	switch {
	case !s.loaded:
		return "Loading …"
	case s.to <= s.from:
		return "No data of this JVM yet"
	case a.Most == nil:
		return clean(when + "no thread had to wait for a lock, a permit or a pool")
	}
	c := a.Most
	text := when + costName(c) + " cost " + units.Human(time.Duration(c.Time))
	if a.Time > c.Time {
		text += ", " + wording.Percent(float64(c.Time)/float64(a.Time)) + " of all waiting"
	}
	return clean(text + ": " + held(c) + "; " + waiters(c))
}

// held says who held the lock or the objects of the pool.
func held(c *viewapi.Cost) string {
	all := len(c.Holders) + c.More
	switch {
	case c.Unknown > 0:
		return "who held it " + wording.Percent(c.Unknown) + " of the time is not known"
	case all == 0 || len(c.Holders) == 0:
		return "who held it is not known"
	case c.Turns != nil:
		text := units.Plural(int64(all), "thread") + " held it in turn"
		if c.Turns.Own {
			text = "the threads that waited held it in turn"
		}
		if c.Turns.Text != "" {
			text += ", " + c.Turns.Text + " for " + wording.Percent(c.Turns.Share) + " of the time"
		}
		return text
	case c.Culprit || all == 1:
		return holding(&c.Holders[0])
	}
	text := holding(&c.Holders[0])
	if len(c.Holders) > 1 {
		text += ", " + c.Holders[1].Thread.Name + " " + wording.Percent(c.Holders[1].Share)
		all--
	}
	if all > 1 {
		text += " and " + units.Plural(int64(all-1), "more thread")
	}
	return text
}

// holding says for which part of the time a thread held it, and what it did: "report held it 26 % of the time, asleep in Clock.sleep".
func holding(h *viewapi.Holder) string {
	return wording.Held(jvmthread.WaitLock, h.Thread.Name, h.Share, h.Text)
}

// waiters says who waited, and where: "3 threads (matcher-*) waited in OrderBook.match".
func waiters(c *viewapi.Cost) string {
	text := units.Plural(int64(c.Waiters), "thread")
	switch {
	case c.Waiters == 1 && c.Pool != "":
		text = c.Pool
	case c.Pool != "":
		text += " (" + c.Pool + ")"
	}
	text += " waited"
	if c.Unit != "" {
		text += " for " + c.Unit
	}
	if c.Site != nil && c.Site.Function != "" {
		text += " in " + wording.SimpleFunction(c.Site.Function)
	}
	return text
}

func costName(c *viewapi.Cost) string {
	name := c.Name
	if name == "" {
		name = "(unknown lock)"
	}
	if c.Locks > 1 && c.Kind != "pool" {
		name += " (" + units.Plural(int64(c.Locks), "object") + ")"
	}
	return name
}

// deadlock says who waits for whom forever; empty if none does.
func (s *snapshot) deadlock() string {
	all := s.deadlocks()
	if len(all) == 0 {
		return ""
	}
	text := "DEADLOCK: " + all[0].Text
	if more := len(all) - 1; more > 0 {
		text += " (and " + units.Plural(int64(more), "more deadlock") + ")"
	}
	if since := s.session.To - all[0].Since; since > 0 {
		text += ", for " + units.Human(time.Duration(since))
	}
	return clean(strings.TrimSpace(text))
}
