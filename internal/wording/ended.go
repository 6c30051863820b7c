// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
)

// aims say what a thread waits for, with the name of the object and without it.
var aims = map[string][2]string{
	jvmthread.WaitFuture.String():   {"for %", "for a future"},
	jvmthread.WaitLatch.String():    {"at latch %", "at a latch"},
	jvmthread.WaitBarrier.String():  {"at barrier %", "at a barrier"},
	jvmthread.WaitExchange.String(): {"at exchanger %", "at an exchanger"},
	jvmthread.WaitQueue.String():    {"to put into %", "to put into a queue"},
	jvmthread.WaitCarrier.String():  {"for a carrier", "for a carrier"},
}

// endings say how threads end such waits.
var endings = map[string]string{
	jvmthread.WaitFuture.String():   "completed it",
	jvmthread.WaitLatch.String():    "counted down last",
	jvmthread.WaitBarrier.String():  "came last",
	jvmthread.WaitExchange.String(): "came",
	jvmthread.WaitQueue.String():    "took from it",
}

// ended says who waited for what other threads bring about, and who did.
func (s *sentence) ended(c *viewapi.Cost) {
	s.add(viewapi.RoleThread, Threads(c.Who, c.Waiters, c.Time)).text(" waited ").time(c.Time).text(" ").aim(c).where(c)
	switch {
	case len(c.Holders) > 0:
		s.text("; ").enders(c)
	case c.Pending == 0 && c.Kind != jvmthread.WaitCarrier.String():
		s.text("; who ended that is not known")
	}
	s.pending(c)
}

func (s *sentence) aim(c *viewapi.Cost) *sentence {
	words, known := aims[c.Kind]
	if !known {
		words = [2]string{"for %", "for others"}
	}
	if c.Name == "" || c.Caller != "" {
		return s.text(words[1])
	}
	before, after, named := strings.Cut(words[0], "%")
	if !named {
		return s.text(before)
	}
	return s.text(before).add(viewapi.RoleLock, c.Name).text(after)
}

// enders says who ended the waits, and what they did meanwhile.
func (s *sentence) enders(c *viewapi.Cost) {
	first, all := &c.Holders[0], len(c.Holders)+c.More
	known := c.Known
	switch {
	case first.Share >= nearlyAll*c.Known:
		s.add(viewapi.RoleThread, first.Thread.Name)
	default:
		s.add(viewapi.RoleThread, Threads(c.Others, all, int64(c.Known*float64(c.Time))))
	}
	how := endings[c.Kind]
	if how == "" {
		how = "ended these waits"
	}
	s.text(" " + how)
	if known > 0 && known < nearlyAll {
		s.text(" in " + Percent(known) + " of that time")
	}
	text, part := first.Text, first.Part
	if c.Turns != nil {
		text, part = c.Turns.Text, c.Turns.Share
	}
	busy := c.Busy >= almost
	switch {
	case text == "running" && busy: // without a place, it says no more than that
	case text != "":
		s.text(", " + text)
		if part < nearlyAll {
			s.text(" for " + Percent(part) + " of it")
		}
	}
	if busy {
		s.text(", never idle")
	}
}

// almost is the part of their time in which threads that are never idle work: a worker takes its next task in an instant.
const almost = 0.99

// pending says that waits have not ended, and why they may never.
func (s *sentence) pending(c *viewapi.Cost) {
	if c.Open == 0 {
		return
	}
	switch {
	case c.Starved != nil:
		all := "all " + group(c.Starved)
		if c.Starved.Threads == 2 {
			all = "both" + strings.TrimPrefix(group(c.Starved), "2")
		}
		s.text("; " + all + " wait for others, too: no task in their queue can run")
	case len(c.Gone) > 0:
		names := make([]string, len(c.Gone))
		for i := range c.Gone {
			names[i] = c.Gone[i].Thread.Name
		}
		which, have := "which ", "has"
		if len(names) > 1 {
			which, have = "all that ", "have"
		}
		s.text("; " + Plural(c.Open, "wait") + " of " + Duration(time.Duration(c.Pending)) + " did not end, and " + Listed(names, len(names)) + ", " + which +
			endings[c.Kind] + ", " + have + " ended")
	case c.Pending*2 >= c.Time:
		s.text("; " + Plural(c.Open, "wait") + " of " + Duration(time.Duration(c.Pending)) + " did not end")
	}
}

// Small says what threads waited for most if that is not worth a report.
func Small(c *viewapi.Cost) []viewapi.Part {
	var s sentence
	s.text("Nothing to report. The longest waits: ").add(viewapi.RoleThread, Threads(c.Who, c.Waiters, c.Time)).text(" waited ").time(c.Time).text(" ")
	if _, ok := aims[c.Kind]; ok {
		return s.aim(c).where(c).text(".").parts
	}
	return s.text("for ").lock(c, c.Unit).at(c).text(".").parts
}

// Quiet says what threads did if they did not wait for each other. The kind is that with the longest waits; nil: there are none. Some recordings know
// only waits that ended.
func Quiet(k *viewapi.KindRow, ended bool) []viewapi.Part {
	var s sentence
	s.text("Nothing to report: ")
	if ended {
		s.text("no wait for a lock, a permit, a pool or a task ended in this recording, and it does not know which waits go on")
	} else {
		s.text("no thread waited for a lock, a permit, a pool or a task")
	}
	if k == nil {
		return s.text(".").parts
	}
	s.text(". Most time went to ").time(k.Stats.Time).text(" of " + Kind(k.Wait))
	if k.Site != nil && k.Site.Function != "" {
		s.text(" in ").add(viewapi.RoleMethod, SimpleFunction(k.Site.Function))
	}
	return s.text(".").parts
}

// kinds name kinds of waits in tables.
var kinds = map[string]string{
	"lock":      "waiting for locks",
	"permit":    "waiting for permits",
	"pool":      "waiting for pools",
	"reenter":   "reentering monitors",
	"condition": "waiting for conditions",
	"latch":     "waiting at latches",
	"barrier":   "waiting at barriers",
	"exchange":  "waiting at exchangers",
	"future":    "waiting for futures",
	"queue":     "waiting at queues",
	"object":    "Object.wait",
	"join":      "joining threads",
	"io":        "waiting for I/O",
	"sleep":     "sleeping",
	"timer":     "waiting for the time",
	"idle":      "waiting for tasks",
	"suspend":   "being suspended",
	"park":      "being parked",
	"carrier":   "waiting for carriers",
	"unknown":   "in other waits",
}

// Kind names a kind of waits: "waiting for futures".
func Kind(wait string) string {
	if text, ok := kinds[wait]; ok {
		return text
	}
	return wait
}
