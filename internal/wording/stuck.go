// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
)

// pending says that waits have not ended, and why they may never.
func (s *sentence) pending(c *viewapi.Cost) {
	if c.Dumps != nil {
		s.stuckNow(c)
		return
	}
	waits := Plural(c.Open, "wait") + " of " + Duration(time.Duration(c.Pending)) + " did not end"
	switch {
	case c.Open == 0:
	case c.Stuck == 0:
		switch {
		case c.Pending*2 < c.Time || c.Culprit: // of a culprit it is said what it does
		case isAway(c):
			s.text("; " + waits + ": ").away(c)
		default:
			s.text("; " + waits)
		}
	case c.Starved != nil:
		s.starved(c)
	case c.Itself && len(c.Unable) > 0:
		s.text("; " + waits + ": " + c.Unable[0].Name + ", which holds it, waits for itself")
	case len(c.Unable) == 0:
		s.text("; " + waits + ", and " + gone(c))
	case len(c.Gone) == 0:
		s.text("; " + waits + ", and " + unable(c))
	default:
		s.text("; " + waits + ": " + gone(c) + ", and " + unable(c))
	}
}

// isAway reports whether most of the time went to waits that have not ended since whoever could end them does something else. Of a worker that runs the
// task it is said what it does.
func isAway(c *viewapi.Cost) bool {
	return len(c.Able) > 0 && c.Pending*2 >= c.Time && c.Running == 0 && ending(c) != ""
}

// away says what threads do that could end waits: "auditor, which took from it before, has been asleep in Audit.ship for 7.10 s".
func (s *sentence) away(c *viewapi.Cost) {
	first, names := &c.Able[0], []string{}
	for i := range c.Able {
		if c.Able[i].Text == first.Text {
			names = append(names, c.Able[i].Thread.Name)
		}
	}
	before, verb := formerly(c), has(len(names))
	if others := len(c.Able) - len(names); others > 0 {
		before += ", as " + Plural(others, "other") + " did"
	}
	if first.Part < nearlyAll {
		verb += " mostly"
	}
	s.add(viewapi.RoleThread, Listed(names, len(names))).text(", which " + before + ", " + verb + " been " + first.Text + " for ").time(first.Length)
}

// formerly says how threads ended other such waits.
func formerly(c *viewapi.Cost) string {
	switch c.Kind {
	case jvmthread.WaitFuture.String():
		return "completed others"
	case jvmthread.WaitBarrier.String():
		return "came before"
	}
	return ending(c) + " before"
}

// starved says that no thread of a pool can run the tasks for which all of them wait.
func (s *sentence) starved(c *viewapi.Cost) {
	all := "all " + group(c.Starved)
	if c.Starved.Threads == 2 {
		all = "both" + strings.TrimPrefix(group(c.Starved), "2")
	}
	s.text("; " + all + " wait for others, too: no task in their queue can run")
}

// gone says that threads which could end waits have ended.
func gone(c *viewapi.Cost) string {
	names := make([]string, len(c.Gone))
	for i := range c.Gone {
		names[i] = c.Gone[i].Thread.Name
	}
	which, what := "which ", formerly(c)
	if len(names) > 1 && len(c.Unable) == 0 {
		which = "all that "
	}
	switch c.Kind {
	case jvmthread.WaitPermit.String(), jvmthread.WaitPool.String():
		what = "took one"
	case jvmthread.WaitLock.String():
		what = ending(c)
	}
	return Listed(names, len(names)) + ", " + which + what + ", " + has(len(names)) + " ended"
}

// unable says that threads which could end waits are stuck themselves.
func unable(c *viewapi.Cost) string {
	listed, time := 0, int64(0)
	for i := range c.Unable {
		listed += c.Unable[i].Threads
		time += c.Unable[i].Time
	}
	who, what := Threads(c.Unable, listed, time), ending(c)
	if c.Kind == jvmthread.WaitLock.String() {
		what = "holds it"
	}
	switch {
	case listed == 1 && len(c.Back) > 0:
		verb := ", which wait for it"
		if len(c.Back) == 1 && c.Back[0].Threads == 1 {
			verb = ", which waits for it"
		}
		return who + ", which " + what + ", waits for " + joinGroups(c.Back) + verb
	case listed == 1:
		return who + ", which " + what + ", waits itself"
	}
	who = "all " + who
	if rest, two := strings.CutPrefix(who, "all 2 "); two {
		who = "both " + rest
	}
	return who + ", which " + what + ", wait themselves"
}

func joinGroups(groups []viewapi.ThreadGroup) string {
	names := make([]string, len(groups))
	for i := range groups {
		names[i] = group(&groups[i])
	}
	return strings.Join(names, ", ")
}

func has(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}
