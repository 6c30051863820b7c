// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
)

// aims say what a thread waits for, with the name of the object and without it.
var aims = map[string][2]string{
	jvmthread.WaitFuture.String():    {"for %", "for a future"},
	jvmthread.WaitLatch.String():     {"at latch %", "at a latch"},
	jvmthread.WaitBarrier.String():   {"at barrier %", "at a barrier"},
	jvmthread.WaitExchange.String():  {"at exchanger %", "at an exchanger"},
	jvmthread.WaitQueue.String():     {"to put into %", "to put into a queue"},
	jvmthread.WaitCarrier.String():   {"for a carrier", "for a carrier"},
	jvmthread.WaitJoin.String():      {"for threads to end", "for threads to end"},
	jvmthread.WaitObject.String():    {"for a notify of %", "for a notify"},
	jvmthread.WaitCondition.String(): {"for a signal of %", "for a signal"},
}

// endings say how threads end waits.
var endings = map[string]string{
	jvmthread.WaitLock.String():      "held it",
	jvmthread.WaitPermit.String():    "returned one",
	jvmthread.WaitPool.String():      "returned one",
	jvmthread.WaitFuture.String():    "completed it",
	jvmthread.WaitLatch.String():     "counted down last",
	jvmthread.WaitBarrier.String():   "came last",
	jvmthread.WaitExchange.String():  "came",
	jvmthread.WaitQueue.String():     "took from it",
	jvmthread.WaitObject.String():    "notified it",
	jvmthread.WaitCondition.String(): "signaled it",
}

// ended says who waited for what other threads bring about, and who did.
func (s *sentence) ended(c *viewapi.Cost) *sentence {
	s.add(viewapi.RoleThread, Threads(c.Who, c.Waiters, c.Time)).text(" waited ").time(c.Time).text(" ").aim(c).where(c)
	switch {
	case c.Kind == jvmthread.WaitJoin.String() && len(c.Holders) > 0:
		s.joined(c)
	case c.Stuck > 0 && c.Known < 0.5, isAway(c): // it comes next who could end them
	case len(c.Holders) > 0:
		s.text("; ").enders(c)
	case c.Pending == 0 && c.Kind != jvmthread.WaitCarrier.String():
		s.text("; who ended that is not known").remedy(c)
	}
	return s.vain(c)
}

// vain says which notify came too early, if nothing else is known of who could end the waits.
func (s *sentence) vain(c *viewapi.Cost) *sentence {
	if c.Vain == nil || c.Stuck > 0 || isAway(c) || c.Pending*2 < c.Time {
		return s
	}
	s.text("; ").add(viewapi.RoleThread, c.Vain.Thread.Name).text(" called notify")
	if c.Vain.Method != "" {
		s.text(" in ").add(viewapi.RoleMethod, SimpleFunction(c.Vain.Method))
	}
	return s.text(" before, when no thread waited")
}

func (s *sentence) aim(c *viewapi.Cost) *sentence {
	words, known := aims[c.Kind]
	switch {
	case !known:
		words = [2]string{"for %", "for others"}
	case c.Kind == jvmthread.WaitJoin.String() && len(c.Holders) > 0:
		return s.text("for ").add(viewapi.RoleThread, joinedBy(c)).text(" to end")
	case isTermination(c):
		return s.text("for an executor to end")
	case c.Takes:
		words = [2]string{"to take from %", "to take from a queue"}
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

func joinedBy(c *viewapi.Cost) string {
	return Threads(c.Others, len(c.Holders)+c.More, int64(c.Known*float64(c.Time)))
}

// joined says what the threads did whose end others waited for.
func (s *sentence) joined(c *viewapi.Cost) {
	h := &c.Holders[0]
	switch {
	case c.Turns != nil && c.Turns.Text != "":
		s.text("; they were " + c.Turns.Text).partly(c.Turns.Share)
	case c.Turns == nil && h.Text != "":
		s.text("; it was " + h.Text).partly(h.Part)
	}
}

func (s *sentence) partly(part float64) {
	if part < nearlyAll {
		s.text(" for " + Percent(part) + " of it")
	}
}

// ending says how threads end such waits.
func ending(c *viewapi.Cost) string {
	switch {
	case c.Takes:
		return "put into it"
	case isTermination(c):
		return "ended last"
	}
	return endings[c.Kind]
}

// isTermination reports whether threads waited for all tasks of an executor.
func isTermination(c *viewapi.Cost) bool {
	return c.Kind == jvmthread.WaitFuture.String() && c.Site != nil && strings.HasSuffix(c.Site.Entry, ".awaitTermination")
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
	how := ending(c)
	switch {
	case c.Running > 0 && c.Pending*2 >= c.Time && all == 1:
		how = "runs their task"
	case c.Running > 0 && c.Pending*2 >= c.Time:
		how = "run their tasks"
	case how == "":
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
	case text == runs[RunUnseen] && busy: // without a place, it says no more than that
	case text != "":
		s.text(", " + text).partly(part)
	}
	if busy {
		s.text(", never idle")
	}
	switch {
	case c.Queued >= almost:
		s.text("; for nearly all of that time the tasks were queued")
	case c.Queued >= mentioned:
		s.text("; for at least " + Percent(c.Queued) + " of that time the tasks were queued")
	}
}

// almost is the part of their time in which threads that are never idle work: a worker takes its next task in an instant.
const almost = 0.99

// Quiet says what threads did if they hardly waited for each other. The cost is the longest of such waits; nil: there are none. The kind is that with the
// longest waits of all; nil: there are none. Some recordings know only waits that ended.
func Quiet(c *viewapi.Cost, k *viewapi.KindRow, ended bool) []viewapi.Part {
	var s sentence
	switch {
	case c != nil:
		s.text("Nothing to report. The longest waits for others: ").add(viewapi.RoleThread, Threads(c.Who, c.Waiters, c.Time)).text(" waited ").time(c.Time).text(" ")
		if _, ok := aims[c.Kind]; ok {
			s.aim(c).where(c)
		} else {
			s.text("for ").lock(c, c.Unit).at(c)
		}
	case ended:
		s.text("Nothing to report: no wait for a lock, a permit, a pool or a task ended in this recording, and it does not know which waits go on")
	default:
		s.text("Nothing to report: no thread waited for a lock, a permit, a pool or a task")
	}
	if k == nil || c != nil && k.Stats.Time <= c.Time {
		return s.text(".").parts
	}
	s.text(". Most time went to ").time(k.Stats.Time).text(" of " + Kind(k.Wait))
	if k.Site != nil && k.Site.Function != "" {
		s.text(" in ").add(viewapi.RoleMethod, SimpleFunction(k.Site.Function))
	}
	return s.text(".").parts
}

// Lull says the same if threads waited for notifications, signals or elements of queues, which may be their work.
func Lull(c *viewapi.Cost) []viewapi.Part {
	var s sentence
	return s.text("Nothing to report, unless these threads should have had work: ").ended(c).text(".").parts
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
	"pause":     "pauses of the JVM",
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
