// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

const (
	maxTextParts = 4    // of a sentence
	minorPart    = 100  // what took less than this part of the time, as a divisor, is not named
	noPart       = 1000 // and not even mentioned if it is less than this all together
	maxTextWaits = 3    // of a chain that a text lists: the first and the last ones
	notStarted   = "not started yet"
)

// sentence says what the time went into, what took longest first: "337 ms: 171 ms blocked Inventory.lock, which report held, asleep in
// Report.write; 166 ms running". Sums are the sayings, the longest first.
func (s *story) sentence(sums []passage) string {
	type part struct {
		title string
		time  jvmthread.Time
		most  passage // the longest saying
	}
	var parts []part
	at := map[string]int{}
	for i := range sums {
		title := s.title(&s.sayings[sums[i].saying])
		n, ok := at[title]
		if !ok {
			n = len(parts)
			at[title] = n
			parts = append(parts, part{title: title, most: sums[i]})
		}
		parts[n].time += sums[i].time
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.time, a.time) })
	var b strings.Builder
	whole := s.path.End - s.path.Start
	b.WriteString(durationOf(whole) + ": ")
	var rest jvmthread.Time
	for i := range parts {
		p := &parts[i]
		if i >= maxTextParts || i > 0 && p.time < whole/minorPart {
			rest += p.time
			continue
		}
		if i > 0 {
			b.WriteString("; ")
		}
		took := durationOf(p.time)
		b.WriteString(took + " " + p.title)
		if cause := s.cause(&s.sayings[p.most.saying]); cause != "" {
			b.WriteString(cause)
			if longest := durationOf(p.most.time); longest != took {
				b.WriteString(" (" + longest + ")")
			}
		}
	}
	if rest > 0 && rest >= whole/noPart {
		b.WriteString("; " + durationOf(rest) + " otherwise")
	}
	return b.String()
}

// text is what is said of a step: "blocked Inventory.lock, which report held, asleep in Report.write".
func (s *story) text(v *saying) string { return s.title(v) + s.cause(v) }

// title says what the thread of the path itself did.
func (s *story) title(v *saying) string {
	thread, title := v.thread, v.doing
	for at := v.chain; at != 0; at = s.chains[at].parent {
		thread, title = s.chains[at].thread, s.chains[at].title
	}
	if thread != s.path.Thread {
		return notStarted // the path is on the thread that starts it
	}
	return title
}

// cause says why the thread of the path was in a wait, with a comma before it, or nothing if it did something itself.
func (s *story) cause(v *saying) string {
	list := []chain{} // the outermost first
	for at := v.chain; at != 0; at = s.chains[at].parent {
		list = append(list, s.chains[at])
	}
	slices.Reverse(list)
	first := v.thread
	if len(list) > 0 {
		first = list[0].thread
	}
	var b strings.Builder
	if first != s.path.Thread {
		list = append([]chain{{}}, list...) // who started it may have waited, too
	}
	for i := range list {
		if left := len(list) - maxTextWaits; left > 0 && i > 0 && i <= left {
			if i == 1 {
				b.WriteString(", and " + strconv.Itoa(left) + " more")
			}
			continue
		}
		who, what, last := v.thread, v.doing, i+1 == len(list)
		if !last {
			who, what = list[i+1].thread, list[i+1].title
		}
		s.because(&b, list[i].wait, who, what, last && v.kind == criticalpath.KindWakeLatency, !last || isWait(v.kind))
	}
	return b.String()
}

// because says what the thread did that another one waited for.
func (s *story) because(b *strings.Builder, wait jvmthread.Wait, who jvmthread.ThreadID, what string, latency, waits bool) {
	name := s.q.sn.ThreadName(s.q.sn.Thread(who))
	switch {
	case heldByOne(wait) && latency:
		b.WriteString(", which " + name + " was given, " + what)
	case heldByOne(wait):
		b.WriteString(", which " + name + " held, " + what)
	case waits:
		b.WriteString(", while " + name + " was in: " + what)
	default:
		b.WriteString(", while " + name + " was " + what)
	}
}

// isWait reports whether what a thread did is said by the name of its wait.
func isWait(kind criticalpath.Kind) bool {
	switch kind { //exhaustive:enforce
	case criticalpath.KindBlockedUnknown, criticalpath.KindWaitUnknown, criticalpath.KindTimer:
		return true
	case criticalpath.KindUnknown, criticalpath.KindRun, criticalpath.KindSleep, criticalpath.KindSuspended, criticalpath.KindWakeLatency,
		criticalpath.KindStartLatency, criticalpath.KindDeadlock, criticalpath.KindCycle, criticalpath.KindTooDeep, criticalpath.KindCut,
		criticalpath.KindIdle, criticalpath.KindRunQueue:
	}
	return false
}
